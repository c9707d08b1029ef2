import Foundation
import KindredPostgres
import KindredSchema
import TestSupport
import Testing

@testable import KindredGenerator

/// The Swift names of tables, columns and relationships.
@Suite struct ModelNamingTests {
    @Test(arguments: [
        ("first_name", "firstName"), ("id", "id"), ("person_id", "personID"), ("CustomerId", "customerID"),
        ("ID", "id"), ("HTTPServer", "httpServer"), ("billtoaddressid", "billtoaddressid"),
        ("2nd_line", "column2ndLine"),
        ("straße", "straße"), ("ÄNDERUNG_AM", "änderungAm"), ("名前", "名前"), ("is nice?", "isNice"), ("", "column"),
        ("!!", "column"), ("_x_", "x"), ("a\u{200B}b", "aB"), ("e\u{301}tat", "e\u{301}tat"),
        ("\u{301}x", "column\u{301}x"),
    ])
    func columnsBecomeProperties(column: String, property: String) {
        #expect(SwiftName.lowerCamel(column, ifEmpty: "column") == property)
    }

    @Test(arguments: [
        ("email", "emails"), ("category", "categories"), ("person", "people"), ("address", "addresses"),
        ("day", "days"),
        ("books", "books"), ("box", "boxes"), ("purchaseLine", "purchaseLines"), ("grandchild", "grandchildren"),
        ("alias", "aliases"), ("cityAlias", "cityAliases"), ("people", "people"), ("Person", "People"),
        ("lens", "lenses"),
        ("status", "statuses"), ("analysis", "analyses"), ("userID", "userIDs"), ("series", "series"),
        ("menu", "menus"),
        ("leaf", "leaves"), ("categories", "categories"), ("woman", "women"), ("human", "humans"), ("ID", "IDs"),
    ])
    func setsArePlural(name: String, plural: String) {
        #expect(EnglishNoun.plural(name) == plural)
    }

    @Test(arguments: [
        "aliases", "people", "statuses", "analyses", "series", "menus", "orders", "leaves", "women", "taxes",
    ])
    func pluralsStayAsTheyAre(name: String) {
        #expect(EnglishNoun.plural(name) == name)
    }

    @Test(arguments: [
        ("orders", "Order"), ("categories", "Category"), ("people", "Person"), ("sales_people", "SalesPerson"),
        ("order_lines", "OrderLine"), ("OrderLines", "OrderLine"), ("addresses", "Address"), ("address", "Address"),
        ("statuses", "Status"), ("status", "Status"), ("aliases", "Alias"), ("alias", "Alias"), ("boxes", "Box"),
        ("houses", "House"), ("warehouses", "Warehouse"), ("databases", "PublicDatabase"), ("branches", "Branch"),
        ("caches", "Cache"), ("dishes", "Dish"), ("employees", "Employee"), ("movies", "Movie"), ("series", "Series"),
        ("news", "News"), ("media", "Media"), ("analyses", "Analysis"), ("courses", "Course"), ("licenses", "License"),
        ("purchases", "Purchase"), ("buses", "Bus"), ("campuses", "Campus"), ("quizzes", "Quiz"), ("sizes", "Size"),
        ("archives", "Archive"), ("shelves", "Shelf"), ("heroes", "Hero"), ("shoes", "Shoe"), ("children", "Child"),
        ("user_ids", "UserID"), ("gas", "Gas"), ("sms", "Sms"), ("indices", "Index"), ("indexes", "Index"),
        ("data", "DataObject"),
        ("tasks", "TaskObject"), ("videos", "Video"), ("days", "Day"), ("orders_archive", "OrdersArchive"),
        ("Taxes", "Tax"),
        ("person", "Person"), ("is", "Is"), ("s", "S"), ("!!", "Table"), ("größen", "Größen"),
    ])
    func classesAreSingular(table: String, name: String) throws {
        let schema = DatabaseSchema(entities: [Self.entity(table, ["id"])], searchPath: ["public"])
        #expect(try Self.classes(schema) == ["public.\(table)": name])
    }

    @Test func classesOfOneNameCarryTheirSchemas() throws {
        // AdventureWorks has views `p` in several schemas, none of which the search path leads to.
        let entities = ["pe", "pr"].map { Self.entity("p", ["id"], schema: $0) }
        let sales = DatabaseSchema(entities: entities, searchPath: ["public"])
        #expect(try Self.classes(sales) == ["pe.p": "PeP", "pr.p": "PrP"])
        // The table that the bare name means keeps it, wherever its schema stands in the alphabet.
        let people = [("audit", "people"), ("public", "people"), ("zoo", "person")].map {
            Self.entity($1, ["id"], schema: $0)
        }
        let schema = DatabaseSchema(entities: people, searchPath: ["public"])
        #expect(
            try Self.classes(schema) == [
                "audit.people": "AuditPerson", "public.people": "Person", "zoo.person": "ZooPerson",
            ])
        // A table that is added later carries it, too, and so does a table whose namesake is not chosen.
        let lock = try Self.lock(DatabaseSchema(entities: [people[0]], searchPath: ["public"]))
        #expect(
            try Self.classes(schema, lock: lock) == [
                "audit.people": "Person", "public.people": "PublicPerson", "zoo.person": "ZooPerson",
            ])
        let later = DatabaseSchema(entities: [people[2]], searchPath: ["public"])
        #expect(try Self.classes(later, lock: lock) == ["audit.people": "Person", "zoo.person": "ZooPerson"])
    }

    @Test func namesDoNotLeaveTheirCommentsAndLiterals() throws {
        let name = "a\nb\r\u{85}\u{2028}`\"\\(x)*/\u{202E}\u{2066}\u{200F}\u{61C}\u{1B}"
        let schema = DatabaseSchema(entities: [Self.entity(name, [name, "id"])], searchPath: ["public"])
        let generator = ModelGenerator(schema: schema, entities: schema.entities)
        for file in generator.files where file.name.hasSuffix(".swift") {
            let harmful = file.text.unicodeScalars.filter { scalar in
                scalar.properties.isBidiControl || scalar != "\n" && scalar.properties.generalCategory == .control
                    || ["\u{2028}", "\u{2029}"].contains(scalar)
            }
            #expect(harmful.isEmpty)
            let lines = file.text.split(separator: "\n").filter { $0.contains("(x)") }
            #expect(lines.allSatisfy { $0.contains(#"\u{202E}\u{2066}\u{200F}\u{61C}\u{1B}"#) }, "\(lines)")
            #expect(lines.allSatisfy { $0.contains("///") || $0.contains(#"`\"\\(x)*/"#) }, "\(lines)")
        }
    }

    @Test func singularAndPluralOfOneNameStayApart() throws {
        let entities = ["order", "orders", "Tasks", "task"].map { Self.entity($0, ["id"]) }
        let schema = DatabaseSchema(entities: entities, searchPath: ["public"])
        #expect(
            try Self.classes(schema) == [
                "public.order": "Order", "public.orders": "Orders", "public.task": "TaskObject",
                "public.Tasks": "PublicTask",
            ])
    }

    @Test func classesKeepTheNamesThatTheyWereGiven() throws {
        let schema = DatabaseSchema(entities: [Self.entity("orders", ["id"])], searchPath: ["public"])
        let lock =
            #"{"version": 1, "entities": {"public.orders": {"name": "Orders", "attributes": {"id": "id"}, "relationships": {}}}, "enums": {}}"#
        #expect(try Self.classes(schema, lock: lock) == ["public.orders": "Orders"])
    }

    private static func lock(_ schema: DatabaseSchema) throws -> String { ModelGenerator(schema: schema).lock.text }

    private static func classes(_ schema: DatabaseSchema, lock: String? = nil) throws -> [String: String] {
        let lock = try lock.map { try NameLock(text: $0) } ?? NameLock()
        return ModelGenerator(schema: schema, lock: lock).lock.entities.mapValues(\.name)
    }

    @Test func whatAnObjectHasAlreadyIsNotTaken() {
        let files = Self.files(columns: ["description", "class", "self", "key", "descriptionValue", "Class", "init"])
        for property in [
            "descriptionValue", "`class`", "selfValue", "keyValue", "descriptionValueValue", "classValue", "initValue",
        ] {
            #expect(files.contains { $0.text.contains(" var \(property): ") }, "\(property)")
        }
    }

    /// The rows of the table in the article on typed classes.
    @Test func theArticleHasTheNamesOfToday() throws {
        let url = URL(filePath: #filePath)
            .appending(path: "../../../Sources/Kindred/Kindred.docc/Guides/TypedClasses.md").standardizedFileURL
        let article = try String(contentsOf: url, encoding: .utf8)
        var names: [String: [(Substring, Substring)]] = [:]
        for line in article.split(separator: "\n") where line.hasPrefix("| a ") {
            let cells = line.split(separator: "|").map { $0.split(separator: "`") }
            let pairs = zip(cells[1], cells[2]).filter { name, _ in name.contains(where: \.isLetter) }
            names[cells[0].joined().trimmingCharacters(in: .whitespaces), default: []] += pairs
        }
        #expect(names["a column"]?.count == 6 && names["a table"]?.count == 5)
        let files = Self.files(columns: (names["a column"] ?? []).map { String($0.0) })
        for (_, property) in names["a column"] ?? [] {
            #expect(files.contains { $0.text.contains(" var \(property): ") }, "\(property)")
        }
        for (table, name) in names["a table"] ?? [] {
            let schema = DatabaseSchema(entities: [Self.entity(String(table), ["id"])], searchPath: ["public"])
            #expect(try Self.classes(schema).values.map { $0 } == [String(name)])
        }
    }

    @Test(arguments: 0..<200)
    func namesAreUniqueAndValid(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let columns = Set((0..<40).map { _ in Self.randomName(&generator) }).sorted()
        let tables = Set((0..<8).map { _ in Self.randomName(&generator) }).sorted()
        let entities = tables.map { Self.entity($0, columns) }
        let schema = DatabaseSchema(entities: entities, searchPath: ["public"])
        let made = ModelGenerator(schema: schema)
        let classes = made.lock.entities.values.map(\.name)
        // Names of files, too, on disks that ignore case.
        #expect(Set(classes.map { $0.lowercased() }).count == tables.count)
        for (_, names) in made.lock.entities {
            let properties = Array(names.attributes.values)
            #expect(Set(properties).count == columns.count)
            for name in properties + [names.name] {
                let scalars = Array(name.unicodeScalars)
                #expect(SwiftName.isIdentifierHead(scalars[0]) && scalars.allSatisfy(SwiftName.isIdentifierPart))
                #expect(!ReservedNames.members.contains(name))
            }
        }
        // Any order of the tables gives the same names, and names once given stay.
        #expect(made.files == ModelGenerator(schema: schema, lock: made.lock).files)
        let more = DatabaseSchema(
            entities: [Self.entity("A new one", columns + ["zz"])] + entities, searchPath: ["public"])
        let again = ModelGenerator(schema: more, lock: try NameLock(text: made.lock.text))
        for (key, names) in made.lock.entities { #expect(again.lock.entities[key] == names) }
    }

    /// Every public or inherited member of an object is reserved.
    @Test func membersOfObjectsAreReserved() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
        let files = ["Kindred", "KindredLive"].flatMap { target in
            let found = FileManager.default.enumerator(
                at: sources.appending(path: target), includingPropertiesForKeys: nil)
            return found?.compactMap { $0 as? URL } ?? []
        }
        let beginning = /(?:open class|extension) DatabaseObject\b.*\{/
        let member = /^ {4}(?:public|open) [a-z ()]*\b(?:var|let|func) ([A-Za-z]+)/
        var found = 0
        for file in files where file.pathExtension == "swift" {
            var isInside = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                if ["open class D", "extension D"].contains(where: line.hasPrefix),
                    line.wholeMatch(of: beginning) != nil
                {
                    isInside = true
                }
                if line == "}" { isInside = false }
                guard isInside, let match = line.firstMatch(of: member),
                    !line.contains("private"), !line.contains("static")
                else { continue }
                found += 1
                #expect(ReservedNames.members.contains(String(match.1)), "\(match.1) of \(file.lastPathComponent)")
            }
        }
        #expect(found > 20)
    }

    @Test func namesThatLookTheSameAreKeptApart() throws {
        let names = [("a.b", "c"), ("a", "b.c"), ("a", "\u{E9}"), ("a", "e\u{301}"), ("a", #"e\u{301}"#)]
        let columns = ["\u{E9}", "e\u{301}", #"e\u{301}"#]
        let entities = names.map { schema, name in
            Entity(
                name: QualifiedName(schema: schema, name: name), kind: .table, oid: 1,
                attributes: columns.enumerated().map {
                    Attribute(name: $1, number: $0 + 1, typeName: "text", type: .text)
                })
        }
        let schema = DatabaseSchema(entities: entities, searchPath: ["a"])
        let made = ModelGenerator(schema: schema)
        #expect(Set(made.files.map(\.name)).count == 2 * names.count + 2)
        #expect(made.lock.entities.values.allSatisfy { Set($0.attributes.values).count == columns.count })
        let lock = try NameLock(text: made.lock.text)
        #expect(ModelGenerator(schema: schema, lock: lock).files == made.files)
    }

    @Test func lazyColumnsAreHandles() throws {
        let entity = Entity(
            name: QualifiedName(schema: "public", name: "letter"), kind: .table, oid: 1,
            attributes: [
                Attribute(name: "id", number: 1, typeName: "integer", type: .int4, isNotNull: true),
                Attribute(name: "body", number: 2, typeName: "text", type: .text, isNotNull: true, isLazy: true),
                Attribute(
                    name: "sent", number: 3, typeName: "timestamp with time zone", type: .timestamptz, isLazy: true),
            ])
        let files = ModelGenerator(schema: DatabaseSchema(entities: [entity], searchPath: ["public"])).files
        let text = try #require(files.first { $0.name == "Letter+Properties.swift" }?.text)
        #expect(
            text.contains(
                """
                    /// The column `body`, loaded when it is asked for.
                    public var body: LazyAttribute<String> {
                        lazyProperty(PropertyNumber.body.rawValue)
                    }
                """))
        #expect(text.contains("public var sent: LazyAttribute<PostgresTimestamp?> {"))
        #expect(text.contains(#".attribute(\Letter.body, "body", "text"),"#) && !text.contains("unavailable"))
    }

    private static func files(columns: [String]) -> [GeneratedFile] {
        ModelGenerator(schema: DatabaseSchema(entities: [entity("thing", columns)], searchPath: ["public"])).files
    }

    private static func entity(_ name: String, _ columns: [String], schema: String = "public") -> Entity {
        Entity(
            name: QualifiedName(schema: schema, name: name),
            kind: .table,
            oid: 1,
            attributes: columns.enumerated().map {
                Attribute(name: $1, number: $0 + 1, typeName: "text", type: .text)
            }
        )
    }

    private static func randomName(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "B", "id", "_", "_", " ", "1", "é", "e\u{301}", "ß", "名", "😀", "\u{200D}", "-", "\"", "\\", "name",
            "Name",
            "class", "self", "in", "description", "İ", "\n", "`", "$", "#", "ǆ",
        ]
        return (0..<Int.random(in: 1...5, using: &generator)).map { _ in generator.pick(pieces) }.joined()
    }
}
