import Foundation
import Kindred
import KindredTesting
import Testing

/// The examples of the article on annotations, and that no key is missing from it.
@Suite struct AnnotationTests {
    /// Writes the comments of the article to the demo database.
    private func annotate() async throws {
        let database = try await TestDatabase.current.connect()
        let script = """
            -- email.owner and person.addresses
            COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {"name": "owner", "inverse": "addresses"}';

            -- store.range in place of store.bookSet
            COMMENT ON CONSTRAINT stock_store_id_fkey ON stock IS '@kindred {"manyToMany": "range"}';

            -- A person with purchases cannot be deleted.
            COMMENT ON CONSTRAINT buyer__purchases ON purchase IS '@kindred {"deleteRule": "deny"}';

            -- A store that has a manager cannot be deleted.
            COMMENT ON CONSTRAINT manager__managed_store ON store IS '@kindred {"toOneDeleteRule": "deny"}';

            -- A title that a person has cannot be deleted.
            COMMENT ON CONSTRAINT people ON person_title_rel IS '@kindred {"manyToManyDeleteRule": "deny"}';

            -- One to three authors of a book, in the order of book_author.position
            COMMENT ON CONSTRAINT authors ON book_author
                IS '@kindred {"orderedBy": "position", "minimumCount": 1, "maximumCount": 3}';

            -- No purchase_line.stock
            COMMENT ON CONSTRAINT purchase_line_store_id_book_id_fkey ON purchase_line IS '@kindred {"ignore": true}';

            COMMENT ON VIEW bestseller IS '@kindred {"key": "title"}';

            -- Friendships are objects, and person.friends is no set of people.
            COMMENT ON TABLE friendship IS '@kindred {"manyToMany": false}';

            COMMENT ON TABLE stock IS '@kindred {"optimisticLocking": "xmin"}';

            -- Lines that are given away are not shown.
            COMMENT ON TABLE purchase_line IS '@kindred {"filter": "price > 0"}';

            COMMENT ON VIEW new_book IS '@kindred {"relationships": false}';

            COMMENT ON TABLE profile IS '@kindred {"ignore": true}';

            ALTER TABLE store ADD COLUMN revision integer NOT NULL DEFAULT 1;

            COMMENT ON COLUMN book.keywords IS '@kindred {"lazy": true}';

            COMMENT ON COLUMN store.revision IS '@kindred {"version": true}';

            COMMENT ON COLUMN author.born IS '@kindred {"ignore": true}';

            COMMENT ON CONSTRAINT parent__children ON category IS '@kindred {"ignore": ["K101"]}';

            COMMENT ON TABLE book IS '@kindred {"group": "catalogue"} What can be bought'
            """
        for statement in script.components(separatedBy: ";\n") {
            _ = try await database.query(SQL(unsafeRaw: statement))
        }
    }

    @Test(.shop) func eachKeySaysWhatItSays() async throws {
        try await annotate()
        try await withShop(classes: []) { database, _, _ in
            func relationship(_ entity: String, _ name: String) throws -> Relationship? {
                try database.schema.entity(named: entity).relationship(named: name)
            }
            #expect(try relationship("email", "owner")?.inverse == "addresses")
            #expect(try relationship("store", "range")?.kind == .manyToMany)
            #expect(try relationship("person", "purchases")?.deleteRule == .deny)
            #expect(try relationship("store", "manager")?.deleteRule == .deny)
            #expect(try relationship("title", "people")?.deleteRule == .deny)
            let authors = try #require(try relationship("book", "authors"))
            #expect(authors.orderedBy == "position" && authors.minimumCount == 1 && authors.maximumCount == 3)
            let line = try database.schema.entity(named: "purchase_line")
            #expect(!line.relationships.contains { $0.destination.name == "stock" })
            #expect(try database.schema.entity(named: "bestseller").primaryKey == ["title"])
            let person = try database.schema.entity(named: "person")
            #expect(!person.relationships.contains { $0.kind == .manyToMany && $0.destination.name == "person" })
            #expect(try database.schema.entity(named: "stock").optimisticLocking == .xmin)
            #expect(line.filter == "price > 0")
            #expect(try database.schema.entity(named: "new_book").relationships.isEmpty)
            #expect(throws: SchemaError.self) { try database.schema.entity(named: "profile") }
            #expect(try database.schema.entity(named: "store").optimisticLocking == .column("revision"))
            #expect(try database.schema.entity(named: "author").attribute(named: "born") == nil)
            #expect(try relationship("category", "parent") != nil)
            let book = try database.schema.entity(named: "book")
            #expect(book.attribute(named: "keywords")?.isLazy == true)
            #expect(book.group == "catalogue" && book.comment == "What can be bought")
        }
    }

    @Test(.shop) func codeSaysTheSame() async throws {
        let overrides: [SchemaOverride] = [
            // block: overrides
            .foreignKey("email_person_id_fkey", of: "email", name: "owner", inverse: "addresses"),
            .table("bestseller", key: ["title"]),
            .column("born", of: "author", ignore: true),
            // end
        ]
        try await withShop(classes: [], overrides: overrides) { database, _, _ in
            let email = try database.schema.entity(named: "email")
            #expect(email.relationship(named: "owner")?.inverse == "addresses")
            #expect(try database.schema.entity(named: "bestseller").primaryKey == ["title"])
            #expect(try database.schema.entity(named: "author").attribute(named: "born") == nil)
        }
    }

    /// An unknown key makes the library list the keys that it knows.
    @Test(.shop) func everyKeyIsInTheArticle() async throws {
        let database = try await TestDatabase.current.connect()
        _ = try await database.query(#"COMMENT ON COLUMN email.address IS '@kindred {"zzzzzzzzzz": 1}'"#)
        _ = try await database.query(
            #"COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {"zzzzzzzzzz": 1}'"#)
        _ = try await database.query(#"COMMENT ON TABLE email IS '@kindred {"zzzzzzzzzz": 1}'"#)
        try await database.refreshSchema()
        let error = #expect(throws: SchemaError.self) { try database.makeContext().fetch("email") }
        let lists = (error?.message ?? "").components(separatedBy: "known are ").dropFirst()
        let known = lists.map { list in
            Set(list.prefix { $0 != ";" }.split(separator: "\"").map(String.init).filter { $0 != ", " })
        }
        try #require(known.count == 3)
        // In the order of the message: of a column, of a constraint, of a table.
        for (title, keys) in zip(["On a column", "On a foreign key", "On a table or view"], known) {
            #expect(try Self.keys(below: title) == keys, "\(title)")
        }
    }

    /// The keys in the table of one of the article's sections.
    private static func keys(below title: String) throws -> Set<String> {
        let url = URL(filePath: #filePath)
            .appending(path: "../../../../Sources/Kindred/Kindred.docc/Database/Annotations.md").standardizedFileURL
        let article = try String(contentsOf: url, encoding: .utf8)
        let section = article.components(separatedBy: "\n## ").first { $0.hasPrefix("\(title)\n") } ?? ""
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        return Set(rows.map { $0.dropFirst("| `".count).prefix { $0 != "`" } }.map(String.init))
    }
}
