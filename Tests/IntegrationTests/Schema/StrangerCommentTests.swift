import Kindred
import KindredTesting
import Testing

/// A comment on another owner's table stops no program, and takes no name of its tables away.
@Suite struct StrangerCommentTests {
    private static let schema = """
        CREATE TABLE person (id int PRIMARY KEY, name text);
        CREATE TABLE email (id int PRIMARY KEY, person_id int REFERENCES person);
        CREATE TABLE e (
            id int PRIMARY KEY, gone int, person_id int CONSTRAINT e_person REFERENCES person,
            other_id int CONSTRAINT e_other REFERENCES email);
        ALTER TABLE e OWNER TO pg_monitor;
        INSERT INTO person VALUES (1, 'Ann');
        INSERT INTO email VALUES (1, 1);
        INSERT INTO e VALUES (1, NULL, 1, 1);
        """

    private static let wrong = [
        #"TABLE e IS '@kindred {"filter": "nosuch = 1"}'"#, #"TABLE e IS '@kindred {"filter": "("}'"#,
        #"TABLE e IS '@kindred {"softDelete": "nosuch"}'"#, #"TABLE e IS '@kindred {"key": ["nosuch"]}'"#,
        #"TABLE e IS '@kindred {"nosuch": 1}'"#, #"TABLE e IS '@kindred {'"#,
        #"COLUMN e.gone IS '@kindred {"nosuch": true}'"#, #"COLUMN e.id IS '@kindred {"lazy": true}'"#,
        #"CONSTRAINT e_person ON e IS '@kindred {"nosuch": 1}'"#,
        #"CONSTRAINT e_person ON e IS '@kindred {"name": "gone"}'"#,
        #"CONSTRAINT e_pkey ON e IS '@kindred {"name": "x"}'"#,
    ]

    @Test(.database(.sql(schema), timeLimit: .seconds(300)))
    func aWrongAnnotationIsAnErrorOfTheUseOfItsTable() async throws {
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        for comment in Self.wrong {
            try await admin.runScript("COMMENT ON \(comment)")
            try await withDatabase { database, context, other in
                let person = try await context.fetch("person").one()
                #expect(person["name"] == "Ann", "\(comment)")
                #expect(try await person.set(forKey: "emailSet").count == 1, "\(comment)")
                let set = person.entity.relationships.first { $0.destination.name == "e" }?.name ?? ""
                let uses: [() async throws -> Void] = [
                    { _ = try await context.fetch("e").all() },
                    { _ = try await context.find("e", 1) },
                    { _ = try await context.create("e", ["id": 2]) },
                    { _ = try context.add("e", ["id": 2]) },
                    { _ = try await person.set(forKey: set).objects },
                    { _ = try await person.set(forKey: set).removeAll() },
                    { _ = try await context.fetch("person").where("ANY \(set).id = 1").all() },
                ]
                for (place, use) in uses.enumerated() {
                    let error = await #expect(throws: SchemaError.self, "\(comment) \(place)") { try await use() }
                    #expect(error?.code == .invalidAnnotation && error?.entity == "public.e", "\(comment) \(place)")
                }
            }
            await #expect(throws: SchemaError.self, "\(comment)") {
                try await withDatabase(overrides: [.table("e", group: "g")]) { _, _, _ in }
            }
            let object = comment.prefix(upTo: try #require(comment.firstRange(of: " IS ")?.lowerBound))
            try await admin.runScript("COMMENT ON \(object) IS NULL")
        }
        #expect(try await admin.value("SELECT count(*) FROM e") == 1)
        await admin.close()
    }

    @Test("a filter that leads to a table whose own annotation is wrong stops nobody either", .database(.sql(schema)))
    func aFilterThatLeadsToAWrongAnnotation() async throws {
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        var path = ""
        try await withDatabase { database, _, _ in
            let relationships = try database.schema.entity(named: "e").relationships
            path = try #require(relationships.first { $0.destination.name == "email" }).name
        }
        try await admin.runScript(
            """
            COMMENT ON TABLE email IS '@kindred {"nosuch": 1}';
            COMMENT ON TABLE e IS '@kindred {"filter": "\(path).id = 1"}'
            """)
        try await withDatabase { _, context, _ in
            let person = try await context.fetch("person").one()
            #expect(person["name"] == "Ann")
            for table in ["e", "email"] {
                let error = await #expect(throws: SchemaError.self) { try await context.fetch(table).all() }
                #expect(error?.code == .invalidAnnotation && error?.entity == "public.\(table)")
            }
        }
        await admin.close()
    }

    @Test(.database(.sql(schema))) func aStrangersNameGivesWay() async throws {
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        for (inverse, owner, expected) in [
            ("emailSet", "pg_monitor", "email"), ("emailSet", "CURRENT_USER", "e"), ("strange", "pg_monitor", "e"),
            ("name", "pg_monitor", nil), ("public_email_email_person_id_fkey", "pg_monitor", "email"),
            ("person_emailSet", "pg_monitor", "email"),
        ] {
            try await admin.runScript(
                """
                ALTER TABLE e OWNER TO \(owner);
                COMMENT ON CONSTRAINT e_person ON e IS '@kindred {"inverse": "\(inverse)"}';
                """)
            try await withDatabase { database, _, _ in
                let person = try database.schema.entity(named: "person")
                #expect(person.relationship(named: inverse)?.destination.name == expected, "\(inverse) \(owner)")
                #expect(try database.schema.entity(named: "e").relationships.count == 2)
            }
        }
        await admin.close()
    }
}
