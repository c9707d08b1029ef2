import KindredPostgres
import Testing

@testable import KindredSchema

@Suite struct EntityTests {
    @Test func kindsAndOrder() throws {
        let schema = try TestCatalog.make {
            $0.table("b", ["id"], primaryKey: ["id"])
            $0.table("a", ["id"], primaryKey: ["id"], kind: "p")
            $0.table("audit.z", ["id"], kind: "f")
            $0.table("B", ["id"], kind: "v")
            $0.table("m", ["id"], kind: "m")
            $0.table("index", ["id"], kind: "i")
        }.schema()
        #expect(schema.entities.map(\.description) == ["audit.z", "public.B", "public.a", "public.b", "public.m"])
        #expect(schema.entities.map(\.kind) == [.foreignTable, .view, .partitionedTable, .table, .materializedView])
    }

    @Test func namesFollowTheSearchPath() throws {
        var catalog = TestCatalog.make {
            for name in ["public.person", "sales.person", "audit.log", "public.a.b"] {
                $0.table(name, ["id"], primaryKey: ["id"])
            }
            $0.table("a.b", ["id"], primaryKey: ["id"])
        }
        catalog.modify { $0.searchPath = ["sales", "public"] }
        let schema = try catalog.schema()
        #expect(try schema.entity(named: "person").name.schema == "sales")
        #expect(try schema.entity(named: "public.person").name.schema == "public")
        // A dot first divides schema and table; then it may be part of a table's name.
        #expect(try schema.entity(named: "a.b").name == QualifiedName(schema: "a", name: "b"))
        #expect(try schema.entity(named: "public.a.b").name == QualifiedName(schema: "public", name: "a.b"))
        #expect(schema[QualifiedName(schema: "audit", name: "log")]?.name.name == "log")
        let error = try #require(throws: SchemaError.self) { try schema.entity(named: "log") }
        #expect(error.code == .unknownEntity && error.suggestions == ["audit.log"])
        #expect(throws: SchemaError.self) { try schema.entity(named: "Person") }
        #expect(throws: SchemaError.self) { try schema.entity(named: "") }
        #expect(throws: SchemaError.self) { try schema.entity(named: ".") }
    }

    @Test func unreadableTablesAreNotPassedOver() throws {
        // As on the server: the first schema of the search path that has the name decides.
        func catalog(_ modify: (inout TestCatalog) -> Void) throws -> DatabaseSchema {
            var catalog = TestCatalog()
            catalog.table("public.person", ["id"], primaryKey: ["id"])
            modify(&catalog)
            catalog.modify { $0.searchPath = ["sales", "public"] }
            return try catalog.schema()
        }
        let unreadable = try catalog { $0.table("sales.person", ["id"]) { $0.isReadable = false } }
        let error = try #require(throws: SchemaError.self) { try unreadable.entity(named: "person") }
        #expect(error.message.hasPrefix("The role tester may not read sales.person"))
        #expect(try unreadable.entity(named: "public.person").name.schema == "public")
        // An ignored relation might as well not exist.
        let ignored = try catalog {
            $0.table("sales.person", ["id"])
            $0.comment(onTable: "sales.person", #"@kindred {"ignore": true}"#)
        }
        #expect(try ignored.entity(named: "person").name.schema == "public")
    }

    @Test func unknownNamesOfferTheNearest() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "firstname", "surname"], primaryKey: ["id"])
            $0.table("email", ["id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
        }.schema()
        let unknown = try #require(throws: SchemaError.self) { try schema.entity(named: "persno") }
        #expect(unknown.message == "There is no entity \"persno\"; did you mean \"person\"?")
        let person = try schema.entity(named: "person")
        #expect(person.nearestKeys(to: "emailset") == ["emailSet"])
        #expect(person.nearestKeys(to: "first") == ["firstname"])
        #expect(person.nearestKeys(to: "zzzzzz") == [])
        let error = person.unknownKey("sirname")
        #expect(error.message == "public.person has no key \"sirname\"; did you mean \"surname\"?")
        #expect(error.code == .unknownKey && error.entity == "public.person")
    }

    /// By the replica identity, kind, number of columns and name, in this order.
    @Test func identityAmongUniqueIndexes() throws {
        func key(_ modify: (inout TestCatalog) -> Void) throws -> [String] {
            try TestCatalog.make {
                $0.table("t", ["a!", "b!", "c!", "d"])
                modify(&$0)
            }.schema().entity(named: "t").primaryKey
        }
        func index(_ catalog: inout TestCatalog, _ name: String, _ columns: [String], isIdentity: Bool = false) {
            catalog.index(of: "t", columns) { ($0.name, $0.isReplicaIdentity) = (name, isIdentity) }
        }
        #expect(
            try key {
                index(&$0, "z", ["a"]); index(&$0, "y", ["b"]); index(&$0, "x", ["a", "b"])
            } == ["b"])
        #expect(
            try key {
                index(&$0, "y", ["b"]); index(&$0, "x", ["c", "a"], isIdentity: true)
            } == ["c", "a"])
        #expect(
            try key {
                $0.unique("u", of: "t", ["a", "b"])
                index(&$0, "x", ["c"], isIdentity: true)
            } == ["c"])
        #expect(
            try key {
                $0.unique("u", of: "t", ["a", "b"])
                $0.unique("v", of: "t", ["c"])
                // The constraint's own index.
                index(&$0, "u", ["a", "b"], isIdentity: true)
            } == ["a", "b"])
        #expect(try key { $0.index(of: "t", ["d"]) } == [])
        #expect(try key { $0.index(of: "t", ["a"]) { $0.predicate = "(d IS NOT NULL)" } } == [])
        #expect(try key { $0.index(of: "t", ["a"]) { $0.predicate = "(a IS NOT NULL)" } } == [])
        #expect(try key { $0.index(of: "t", ["a"]) { $0.hasExpressions = true } } == [])
        #expect(try key { $0.index(of: "t", ["a"]) { $0.isValid = false } } == [])
        #expect(try key { $0.index(of: "t", ["a"]) { $0.hasColumnsEquality = false } } == [])
        #expect(try key { $0.index(of: "t", ["a", "d"]) { $0.keyCount = 1 } } == ["a"])
    }

    @Test(arguments: [
        ("primary key", ["b", "a"], ["b", "a"]),
        ("smallest unique", ["a!", "b!", "c!"], ["c"]),
        ("unique over a nullable column", ["a!", "b", "c"], ["a"]),
        ("constraint before a smaller index", ["a!", "b!", "c"], ["a", "b"]),
        ("none", ["a", "b", "c"], []),
    ])
    func identity(_ description: String, _ columns: [String], _ expected: [String]) throws {
        let schema = try TestCatalog.make {
            let isPrimary = description == "primary key"
            $0.table("t", isPrimary ? ["a", "b", "c!"] : columns, primaryKey: isPrimary ? columns : nil)
            $0.unique("u1", of: "t", ["a", "b"])
            $0.unique("u2", of: "t", ["c"])
            $0.index(of: "t", ["a"])
        }.schema()
        let entity = try schema.entity(named: "t")
        #expect(entity.primaryKey == expected)
        #expect(entity.isReadOnly == expected.isEmpty)
        #expect(schema.diagnostics.contains { $0.code == .missingKey } == expected.isEmpty)
        #expect(entity.primaryKeyIndexes == expected.compactMap { entity.attributeIndex(of: $0) })
    }

    // MARK: Views

    @Test func viewHasTheKeyOfTheTableItShows() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "code!", "name!"], primaryKey: ["id"])
            $0.modifyColumn("id", of: "person") { $0.identity = UInt8(ascii: "d") }
            $0.table("v", ["name", "number", "upper"], kind: "v")
            $0.projection("v", of: "person", ["number": "id", "name": "name"])
            $0.table("w", ["n"], kind: "v")
            $0.projection("w", of: "v", ["n": "number"])
            $0.table("m", ["id"], kind: "m")
            $0.projection("m", of: "person", ["id": "id"])
            $0.table("keyless", ["name"], kind: "v")
            $0.projection("keyless", of: "person", ["name": "name"])
            $0.table("computed", ["id"], kind: "v") { $0.isUpdatable = false }
            $0.table("strange", ["id"], kind: "v")
            $0.projection("strange", of: "nothing", ["id": "id"])
        }.schema()
        #expect(try schema.entity(named: "v").primaryKey == ["number"])
        #expect(try schema.entity(named: "v").isReadOnly == false)
        #expect(try schema.entity(named: "w").primaryKey == ["n"])
        #expect(try schema.entity(named: "m").primaryKey == ["id"])
        #expect(try schema.entity(named: "m").isReadOnly)
        for name in ["keyless", "computed", "strange"] { #expect(try schema.entity(named: name).primaryKey == []) }
        let attributes = try schema.entity(named: "v").attributes
        #expect(attributes.map(\.isNotNull) == [true, true, false])
        #expect(attributes.map(\.hasDefault) == [false, true, false])
    }

    @Test func compositeKeysOfViewsKeepTheTablesOrder() throws {
        let schema = try TestCatalog.make {
            $0.table("t", ["a", "b", "c"], primaryKey: ["c", "a"])
            $0.table("v", ["x", "y", "z"], kind: "v")
            $0.projection("v", of: "t", ["x": "a", "y": "a", "z": "c"])
            $0.table("half", ["x"], kind: "v")
            $0.projection("half", of: "t", ["x": "a"])
        }.schema()
        #expect(try schema.entity(named: "v").primaryKey == ["z", "x"])
        #expect(try schema.entity(named: "half").primaryKey == [])
    }

    // MARK: What the role may read

    @Test func unreadableTablesAreNoEntities() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("secret", ["id"], primaryKey: ["id"]) { $0.isReadable = false }
            $0.table("hidden.log", ["id", "person_id"]) { $0.isReachable = false }
            $0.table("email", ["id", "secret_id", "person_id"], primaryKey: ["id"])
            $0.foreignKey("email_secret_id_fkey", of: "email", ["secret_id"], to: "secret")
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
            $0.foreignKey("log_person_id_fkey", of: "hidden.log", ["person_id"], to: "person")
        }.schema()
        #expect(schema.entities.map(\.name.name) == ["email", "person"])
        #expect(try schema.entity(named: "email").relationships.map(\.name) == ["person"])
        #expect(try schema.entity(named: "person").relationships.map(\.name) == ["emailSet"])
        #expect(schema.diagnostics.map(\.code) == [.unreadableForeignKey])
        let error = try #require(throws: SchemaError.self) { try schema.entity(named: "secret") }
        #expect(
            error.message
                == "The role tester may not read public.secret: grant it SELECT on the table and USAGE on its schema"
        )
    }

    @Test func namesDoNotDependOnTheRole() throws {
        // Two tables named email refer to person; the role may read one of them.
        func catalog(isReadable: Bool) -> TestCatalog {
            .make {
                $0.table("person", ["id"], primaryKey: ["id"])
                $0.table("public.email", ["id", "owner_id"], primaryKey: ["id"])
                $0.table("audit.email", ["id", "owner_id"], primaryKey: ["id"]) { $0.isReadable = isReadable }
                $0.foreignKey("e", of: "public.email", ["owner_id"], to: "person")
                $0.foreignKey("e", of: "audit.email", ["owner_id"], to: "person")
            }
        }
        for isReadable in [true, false] {
            let schema = try catalog(isReadable: isReadable).schema()
            #expect(try schema.relationship("person", "public_email_e")?.name == "public_email_e")
            #expect(try schema.relationship("person", "emailSet") == nil)
        }
    }

    @Test func columnPrivilegesLimitAttributes() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id", "name", "salary"], primaryKey: ["id"]) { $0.isReadable = false }
            $0.modifyColumn("id", of: "person") { $0.isGranted = true }
            $0.modifyColumn("name", of: "person") { $0.isGranted = true }
            $0.table("email", ["id", "person_id", "text"], primaryKey: ["id"]) { $0.isReadable = false }
            $0.modifyColumn("text", of: "email") { $0.isGranted = true }
            $0.foreignKey("email_person_id_fkey", of: "email", ["person_id"], to: "person")
        }.schema()
        let person = try schema.entity(named: "person")
        #expect(person.attributes.map(\.name) == ["id", "name"])
        #expect(person.primaryKey == ["id"] && !person.isReadOnly && person.relationships == [])
        let email = try schema.entity(named: "email")
        #expect(email.primaryKey == [] && email.isReadOnly && email.relationships == [])
    }

    @Test func privilegesAreKept() throws {
        let schema = try TestCatalog.make {
            $0.table("t", ["id"], primaryKey: ["id"]) { $0.privileges = [.insert] }
        }.schema()
        #expect(schema.entities[0].privileges == [.insert])
    }

    // MARK: Partitions

    @Test func partitionsArePartOfTheirParent() throws {
        let schema = try TestCatalog.make {
            $0.table("place", ["id"], primaryKey: ["id"])
            $0.table("event", ["id", "place_id"], primaryKey: ["id"], kind: "p")
            let parent = $0.foreignKey("event_place_id_fkey", of: "event", ["place_id"], to: "place")
            $0.table("note", ["id", "event_id"], primaryKey: ["id"])
            let toEvent = $0.foreignKey("note_event_id_fkey", of: "note", ["event_id"], to: "event")
            for number in 1...3 {
                $0.table("event_\(number)", ["id", "place_id"], primaryKey: ["id"]) { $0.isPartition = true }
                $0.foreignKey("event_place_id_fkey", of: "event_\(number)", ["place_id"], to: "place") {
                    $0.parent = parent
                }
                $0.foreignKey("note_event_id_fkey\(number)", of: "note", ["event_id"], to: "event_\(number)") {
                    $0.parent = toEvent
                }
            }
            $0.foreignKey("alone", of: "event_1", ["place_id"], to: "place")
            $0.foreignKey("aside", of: "note", ["event_id"], to: "event_2")
            $0.partitionKey("alone", of: "event", ["place_id"], to: "place")
            $0.partitionKey("aside", of: "note", ["event_id"], to: "event")
            $0.comment(onConstraint: "alone", of: "event_1", #"@kindred {"name": "x"}"#)
        }.schema()
        #expect(schema.entities.map(\.name.name) == ["event", "note", "place"])
        #expect(try schema.entity(named: "place").relationships.map(\.name) == ["eventSet"])
        #expect(try schema.entity(named: "event").relationships.map(\.name) == ["noteSet", "place"])
        #expect(try schema.entity(named: "note").relationships.map(\.name) == ["event"])
        #expect(schema.diagnostics.map(\.constraints) == [["alone"], ["aside"]])
        #expect(schema.diagnostics.allSatisfy { $0.code == .partitionForeignKey })
        #expect(schema.diagnostics.map(\.entity.name) == ["event", "note"])
        let error = try #require(throws: SchemaError.self) { try schema.entity(named: "event_1") }
        #expect(error.message == "public.event_1 is a partition; its rows are reached through its parent")
    }

    @Test func periodForeignKeysAreSaidAndLeftOut() throws {
        let schema = try TestCatalog.make {
            $0.table("room", ["id", "valid"], primaryKey: ["id", "valid"])
            $0.table("lease", ["id", "room_id", "valid"], primaryKey: ["id"])
            $0.foreignKey("lease_room_fkey", of: "lease", ["room_id", "valid"], to: "room", ["id", "valid"]) {
                $0.hasPeriod = true
            }
        }.schema()
        #expect(schema.entities.allSatisfy { $0.relationships.isEmpty })
        #expect(schema.diagnostics.map(\.code) == [.periodForeignKey])
    }

    // MARK: Attributes

    @Test func attributesTellHowTheyAreFilled() throws {
        var catalog = TestCatalog.make { $0.table("t", ["always!", "default!", "computed", "plain!", "now!"]) }
        catalog.modifyColumn("always", of: "t") { $0.identity = UInt8(ascii: "a") }
        catalog.modifyColumn("default", of: "t") { $0.identity = UInt8(ascii: "d") }
        catalog.modifyColumn("computed", of: "t") {
            $0.isGenerated = true
            $0.hasDefault = true
        }
        catalog.modifyColumn("now", of: "t") { $0.hasDefault = true }
        let attributes = try catalog.schema().entity(named: "t").attributes
        #expect(attributes.map(\.identity) == [.always, .byDefault, .none, .none, .none])
        #expect(attributes.map(\.hasDefault) == [true, true, false, false, true])
        #expect(attributes.map(\.isGenerated) == [false, false, true, false, false])
        #expect(attributes.map(\.isNotNull) == [true, true, false, true, true])
        #expect(attributes.map(\.number) == [1, 2, 3, 4, 5])
    }

    @Test func droppedColumnsLeaveGaps() throws {
        var catalog = TestCatalog.make {
            $0.table("t", ["a", "gone", "b"], primaryKey: ["b"])
            $0.table("r", ["gone", "b_id"])
            $0.foreignKey("r_fkey", of: "r", ["b_id"], to: "t", ["b"])
        }
        catalog.modify { $0.columns.removeAll { $0.name == "gone" } }
        let schema = try catalog.schema()
        #expect(try schema.entity(named: "t").attributes.map(\.number) == [1, 3])
        #expect(try schema.entity(named: "t").primaryKey == ["b"])
        #expect(try schema.relationship("r", "t")?.columns == ["b_id"])
    }

    @Test func domainsAreFollowedToTheirBase() throws {
        var catalog = TestCatalog.make { $0.table("t", ["mail", "nickname", "tags"]) }
        catalog.modify {
            $0.types = [
                Catalog.TypeRow(
                    oid: 30_000, name: "text40", kind: UInt8(ascii: "d"), base: 1043, baseModifier: 44, isNotNull: true),
                Catalog.TypeRow(oid: 30_001, name: "mail", kind: UInt8(ascii: "d"), base: 30_000, hasDefault: true),
                Catalog.TypeRow(oid: 30_002, name: "_mail", category: UInt8(ascii: "A"), element: 30_001),
            ]
        }
        catalog.modifyColumn("mail", of: "t") { $0.type = 30_001 }
        catalog.modifyColumn("nickname", of: "t") {
            $0.type = 1043
            $0.typeModifier = 14
        }
        catalog.modifyColumn("tags", of: "t") { $0.type = 30_002 }
        let attributes = try catalog.schema().entity(named: "t").attributes
        #expect(attributes[0].domain == QualifiedName(schema: "public", name: "mail"))
        #expect(attributes[0].type.rawValue == 30_001 && attributes[0].baseType == .varchar)
        #expect(attributes[0].isNotNull && attributes[0].hasDefault && attributes[0].maximumLength == 40)
        #expect(attributes[1].maximumLength == 10 && attributes[1].domain == nil)
        #expect(attributes[2].elementType == .varchar && attributes[2].maximumLength == 40)
        #expect(!attributes[2].isNotNull && attributes[2].domain == nil)
    }

    @Test func enumsHaveTheirLabelsInOrder() throws {
        var catalog = TestCatalog.make { $0.table("t", ["mood", "moods", "feeling"]) }
        catalog.modify {
            $0.types = [
                Catalog.TypeRow(
                    oid: 30_000, name: "mood", kind: UInt8(ascii: "e"), category: UInt8(ascii: "E"), array: 30_001),
                Catalog.TypeRow(oid: 30_001, name: "_mood", category: UInt8(ascii: "A"), element: 30_000),
                Catalog.TypeRow(oid: 30_002, name: "feeling", kind: UInt8(ascii: "d"), base: 30_000),
            ]
            $0.enumLabels = [
                .init(type: 30_000, position: 2, label: "happy"), .init(type: 30_000, position: 1, label: "sad"),
                .init(type: 30_000, position: 1.5, label: "ok"),
            ]
        }
        for (column, type) in [("mood", 30_000), ("moods", 30_001), ("feeling", 30_002)] {
            catalog.modifyColumn(column, of: "t") { $0.type = UInt32(type) }
        }
        let schema = try catalog.schema()
        let attributes = schema.entities[0].attributes
        #expect(
            attributes.map(\.enumLabels) == [["sad", "ok", "happy"], ["sad", "ok", "happy"], ["sad", "ok", "happy"]])
        #expect(attributes[1].elementType?.rawValue == 30_000)
        #expect(schema.types.map(\.name.name) == ["feeling", "mood"])
        #expect(schema.types[1].definition == .enumeration(labels: ["sad", "ok", "happy"]))
    }

    @Test func circularDomainsEnd() throws {
        var catalog = TestCatalog.make { $0.table("t", ["a"]) }
        catalog.modify { $0.types = [Catalog.TypeRow(oid: 30_000, name: "d", kind: UInt8(ascii: "d"), base: 30_000)] }
        catalog.modifyColumn("a", of: "t") { $0.type = 30_000 }
        #expect(try catalog.schema().entities[0].attributes[0].baseType.rawValue == 30_000)
    }

    struct Modifier: Sendable {
        var type: UInt32
        var modifier: Int32
        var precision: Int?
        var scale: Int?
        var length: Int?
    }

    @Test(arguments: [
        Modifier(type: 1700, modifier: 655_366, precision: 10, scale: 2),
        Modifier(type: 1700, modifier: 196_608 + 2047 + 4, precision: 3, scale: -1),
        Modifier(type: 1700, modifier: -1),
        Modifier(type: 1043, modifier: 44, length: 40),
        Modifier(type: 1042, modifier: 5, length: 1),
        Modifier(type: 1560, modifier: 8, length: 8),
        Modifier(type: 1562, modifier: 8, length: 8),
        Modifier(type: 1043, modifier: -1),
        Modifier(type: 20, modifier: 44),
    ])
    func modifiersTellLimits(_ expected: Modifier) throws {
        var catalog = TestCatalog.make { $0.table("t", ["a"]) }
        catalog.modifyColumn("a", of: "t") {
            $0.type = expected.type
            $0.typeModifier = expected.modifier
        }
        let attribute = try catalog.schema().entities[0].attributes[0]
        #expect(attribute.numericPrecision == expected.precision)
        #expect(attribute.numericScale == expected.scale)
        #expect(attribute.maximumLength == expected.length)
    }

    @Test func compositeTypesHaveFields() throws {
        var catalog = TestCatalog.make { $0.table("t", ["a"]) }
        catalog.modify {
            $0.types = [Catalog.TypeRow(oid: 30_000, name: "point3", kind: UInt8(ascii: "c"), relation: 30_001)]
            $0.columns += ["y", "x"].enumerated().map { index, name in
                Catalog.Column(relation: 30_001, number: Int16(2 - index), name: name)
            }
        }
        guard case .composite(let fields) = try catalog.schema().types[0].definition else {
            Issue.record("no composite type")
            return
        }
        #expect(fields.map(\.name) == ["x", "y"])
    }

    @Test func namesThatAreEqualToSwiftAloneStayApart() throws {
        // U+00E9 and e with U+0301: two names to PostgreSQL, one string to Swift.
        let schema = try TestCatalog.make {
            $0.table("caf\u{E9}", ["id", "\u{E9}", "e\u{301}"], primaryKey: ["id"])
            $0.table("cafe\u{301}", ["id"], primaryKey: ["id"])
        }.schema()
        #expect(schema.entities.count == 2)
        let entity = try schema.entity(named: "caf\u{E9}")
        #expect(entity.attributes.count == 3)
        #expect(entity.attributeIndex(of: "\u{E9}") == 1)
        #expect(entity.attributeIndex(of: "e\u{301}") == 2)
        #expect(try schema.entity(named: "cafe\u{301}").attributes.count == 1)
    }
}
