import Kindred
import KindredTesting
import TestSupport
import Testing

@testable import KindredModelImport

@Suite struct ModelMigrationTests {
    @Test(.database) func renamedEntitiesAndPropertiesKeepTheirData() async throws {
        let old = try ModelFixture.model("Shop", version: "Shop")
        let new = try ModelFixture.model("Shop")
        let context = try await importModel(old).makeContext()
        let category = try context.add("Category", ["name": "Books"])
        let tags = try ["new", "old"].map { try context.add("Tag", ["word": $0]) }
        try context.add("Article", ["title": "Dune", "price": 9.5, "category": category, "tags": tags])
        try await context.save()
        let migration = try ModelMigration(from: old, to: new)
        try await withClient { try await migration.apply(to: $0) }
        let database = try await TestDatabase.current.connect()
        try ModelExpectation(model: new).check(database.schema)
        let after = database.makeContext()
        let product = try await after.fetch("Product").where("name = %@", "Dune").one()
        #expect(product["price"]?.description == "9.5" && product["stock"] == 0)
        #expect(try await product.object(forKey: "group")?["name"] == "Books")
        #expect(try await product.set(forKey: "tags").count == 2)
        #expect(try await after.fetch("Tag").where("ANY products.name = %@", "Dune").count() == 2)
        #expect(migration.statements.contains("ALTER TABLE \"public\".\"Article\" RENAME TO \"Product\""))
        #expect(!migration.sql.contains("DROP TABLE") && !migration.sql.contains("DROP COLUMN"))
    }

    @Test func versionsThatAreTheSameNeedNothing() throws {
        for name in ["Grocery", "School", "Company", "Moody", "Friends", "Playlist", "Everything"] {
            let model = try ModelFixture.model(name)
            for inheritance in ModelImportOptions.Inheritance.allCases {
                #expect(
                    try ModelMigration(from: model, to: model, .init(inheritance: inheritance)).statements == [],
                    "\(name)")
            }
        }
    }

    @Test func aRuleAloneIsAKeyAlone() throws {
        let migration = try ModelMigration(
            from: ModelFixture.model("Grocery", version: "Grocery Nullify"), to: ModelFixture.model("Grocery"))
        #expect(
            migration.statements == [
                "ALTER TABLE \"public\".\"Item\" DROP CONSTRAINT \"unit__items\"",
                "ALTER TABLE \"public\".\"Item\" ADD CONSTRAINT \"unit__items\" FOREIGN KEY (\"unit_id\") "
                    + "REFERENCES \"public\".\"Unit\"(\"id\") ON DELETE RESTRICT",
            ])
    }

    @Test(.database) func namesAreExchanged() async throws {
        let old = try ModelFixture.model(
            xml: """
                <entity name="A"><attribute name="x" attributeType="Integer 32"/><attribute name="y" attributeType="Integer 32"/></entity>
                <entity name="B"><attribute name="z" attributeType="Integer 32"/></entity>
                """)
        let new = try ModelFixture.model(
            xml: """
                <entity name="B" renamingIdentifier="A"><attribute name="y" renamingIdentifier="x" attributeType="Integer 32"/>
                  <attribute name="x" renamingIdentifier="y" attributeType="Integer 32"/></entity>
                <entity name="A" renamingIdentifier="B"><attribute name="z" attributeType="Integer 32"/></entity>
                """)
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"A\" (x, y) VALUES (1, 2)")
            let migration = try ModelMigration(from: old, to: new)
            #expect(migration.statements.allSatisfy { $0.contains(" RENAME ") }, "\(migration.sql)")
            try await migration.apply(to: client)
            let row = try #require(try await client.query("SELECT x, y FROM \"B\"").first)
            #expect(try row.decode(0, as: Int.self) == 2 && row.decode(1, as: Int.self) == 1)
        }
    }

    @Test(.database) func entitiesOfOneTableAreRenamed() async throws {
        func xml(_ manager: String, _ more: String = "") -> String {
            """
            <entity name="Employee"><attribute name="name" attributeType="String"/></entity>
            <entity name="\(manager)" parentEntity="Employee" \(more)><attribute name="level" attributeType="Integer 16"/></entity>
            """
        }
        let (old, new) = (
            try ModelFixture.model(xml: xml("Manager")),
            try ModelFixture.model(xml: xml("Boss", "renamingIdentifier='Manager'"))
        )
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query(
                "INSERT INTO \"Employee\" (entity, name, level) VALUES ('Manager', 'a', 1), ('Employee', 'b', NULL)")
            try await ModelMigration(from: old, to: new).apply(to: client)
            let rows = try await client.query("SELECT entity FROM \"Employee\" ORDER BY name")
            #expect(try rows.compactMap { try $0.decode(0, as: String.self) } == ["Boss", "Employee"])
        }
    }

    @Test(.database) func nothingIsDroppedUnlessThatIsAllowed() async throws {
        let old = try ModelFixture.model(
            xml: """
                <entity name="A"><attribute name="x" attributeType="Integer 32"/><attribute name="t" attributeType="Binary"/></entity>
                <entity name="Gone"><attribute name="z" attributeType="Integer 32" optional="YES"/></entity>
                """)
        let new = try ModelFixture.model(
            xml: "<entity name='A'><attribute name='t' attributeType='Boolean' optional='YES'/></entity>")
        let careful = try ModelMigration(from: old, to: new)
        #expect(!careful.sql.contains("DROP TABLE") && !careful.sql.contains("DROP COLUMN"))
        #expect(careful.reports.filter { $0.level == .omitted }.map(\.subject).sorted() == ["A.t", "A.x", "Gone"])
        let drastic = try ModelMigration(from: old, to: new, ModelImportOptions(allowsDrops: true))
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"A\" (x, t) VALUES (1, '\\x00')")
            try await careful.apply(to: client)
            // Columns and tables that stay do not keep new rows out.
            try await client.query("INSERT INTO \"A\" (t) VALUES ('\\x01')")
        }
        try await withClient { client in
            try await emptyDatabase(client)
            try await ModelImport(old).apply(to: client)
            try await drastic.apply(to: client)
            try ModelExpectation(model: new).check(try await SchemaReader.read(from: client))
        }
    }

    @Test(.database) func aTableThatIsGoneGivesUpItsName() async throws {
        let old = try ModelFixture.model(
            xml: """
                <entity name="A"><attribute name="x" attributeType="Integer 32"/></entity>
                <entity name="B"><attribute name="x" attributeType="Integer 32"/></entity>
                """)
        let new = try ModelFixture.model(
            xml: """
                <entity name="B" renamingIdentifier="A"><attribute name="x" attributeType="Integer 32"/></entity>
                """)
        for allowsDrops in [false, true] {
            try await withClient { client in
                try await ModelImport(old).apply(to: client)
                try await client.query("INSERT INTO \"A\" (x) VALUES (1)")
                try await client.query("INSERT INTO \"B\" (x) VALUES (2)")
                try await ModelMigration(from: old, to: new, .init(allowsDrops: allowsDrops)).apply(to: client)
                let rows = try await client.query("SELECT x FROM \"B\"")
                #expect(try rows.compactMap { try $0.decode(0, as: Int.self) } == [1])
                if !allowsDrops {
                    let kept = try await client.query("SELECT x FROM \"B_old\"")
                    #expect(try kept.compactMap { try $0.decode(0, as: Int.self) } == [2])
                }
                try await emptyDatabase(client)
            }
        }
    }

    @Test func anIdentifierOfXcodeRenamesToo() throws {
        func model(_ name: String, _ property: String) throws -> CoreDataModel {
            try ModelFixture.model(
                xml: """
                    <entity name="\(name)" elementID="11"><attribute name="\(property)" attributeType="String" elementID="12"/></entity>
                    """)
        }
        let migration = try ModelMigration(from: model("A", "x"), to: model("B", "y"))
        #expect(
            migration.statements == [
                "ALTER TABLE \"public\".\"A\" RENAME TO \"B\"",
                "ALTER TABLE \"public\".\"B\" RENAME COLUMN \"x\" TO \"y\"",
                "ALTER TABLE \"public\".\"B\" RENAME CONSTRAINT \"A_pkey\" TO \"B_pkey\"",
            ])
    }

    @Test(.database) func derivedAttributesFollowWhatTheyAreDerivedFrom() async throws {
        func model(_ source: String, _ more: String, _ type: String) throws -> CoreDataModel {
            try ModelFixture.model(
                xml: """
                    <entity name="E"><attribute name="\(source)" attributeType="\(type)" optional="YES" \(more)/>
                    <attribute name="copy" attributeType="\(type)" optional="YES" derived="YES" derivationExpression="\(source)"/></entity>
                    """)
        }
        let (old, new) = (
            try model("a", "", "Integer 16"), try model("b", "renamingIdentifier='a'", "Integer 64")
        )
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"E\" (a) VALUES (7)")
            try await ModelMigration(from: old, to: new).apply(to: client)
            let row = try #require(try await client.query("SELECT copy, pg_typeof(copy)::text FROM \"E\"").first)
            #expect(try row.decode(0, as: Int.self) == 7 && row.decode(1, as: String.self) == "bigint")
        }
    }

    // MARK: Random versions

    /// Tables, columns, constraints, indexes and comments, without the order of columns.
    private static let picture: SQL = """
        SELECT line FROM (
          SELECT format('%s.%s %s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            concat(a.attgenerated, a.attidentity), pg_get_expr(d.adbin, d.adrelid)) AS line
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
          WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
          UNION ALL SELECT format('%s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid),
            obj_description(oid, 'pg_constraint')) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
          UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
          UNION ALL SELECT format('%s %s %s', c.oid::regclass, a.attname, description)
            FROM pg_class c JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid
            LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
            WHERE c.relnamespace = 'public'::regnamespace
        ) AS all_lines ORDER BY line
        """

    private func picture(_ client: PostgresClient) async throws -> [String] {
        try await client.query(Self.picture).compactMap { try $0.decode(0, as: String.self) }
    }

    @Test(.database(.empty, timeLimit: .seconds(600))) func aMigratedDatabaseIsTheSameAsANewOne() async throws {
        try await withClient { client in
            for seed in 0..<RandomModelTests.count {
                var random = SeededGenerator(seed: UInt64(seed) + 1_000_000)
                let before = RandomModel(&random)
                var after = before
                after.change(&random)
                let inheritance = random.pick(ModelImportOptions.Inheritance.allCases)
                var options = ModelImportOptions(inheritance: inheritance, allowsDrops: true)
                let (old, new) = (before.model, after.model)
                let note = "seed \(seed)"
                var script = ""
                do {
                    let fresh = try ModelImport(new, options)
                    try await fresh.apply(to: client)
                    let wanted = try await picture(client)
                    try await emptyDatabase(client)
                    try await ModelImport(old, options).apply(to: client)
                    let migration = try ModelMigration(from: old, to: new, options)
                    script = migration.sql
                    try await migration.apply(to: client)
                    let found = try await picture(client)
                    #expect(found.filter { !wanted.contains($0) } == [], "\(note) \(script)")
                    #expect(wanted.filter { !found.contains($0) } == [], "\(note) \(script)")
                    let schema = try await SchemaReader.read(from: client)
                    if !after.isMoved { try ModelExpectation(model: new, inheritance: inheritance).check(schema, note) }
                    // Without drops it works, too.
                    options.allowsDrops = false
                    try await emptyDatabase(client)
                    try await ModelImport(old, options).apply(to: client)
                    let careful = try ModelMigration(from: old, to: new, options)
                    script = careful.sql
                    try await careful.apply(to: client)
                } catch {
                    Issue.record("\(note): \(String(reflecting: error))\n\(script)")
                }
                try await emptyDatabase(client)
            }
        }
    }
}
