import Foundation
import Kindred
import KindredDiagram
import KindredTesting
import TestSupport
import Testing

/// The diagrams of the demo database and of Chinook.
@Suite(.database(.file("../../../sql/demo.sql"))) struct DiagramDemoTests {
    private func schema() async throws -> DatabaseSchema {
        try await TestDatabase.current.connect().schema
    }

    /// Each line as `from.relationship >> to.relationship`, with as many heads as the notation has.
    private func lines(_ diagram: Diagram) -> [String] {
        diagram.edges.filter { !$0.isByView }.map { edge in
            let heads = "\(edge.from.isMany ? "<<" : "<")-\(edge.to.isMany ? ">>" : ">")"
            return
                "\(edge.from.entity.name).\(edge.from.relationship) \(heads) \(edge.to.entity.name).\(edge.to.relationship)"
                + (edge.helperLabel.map { " (\($0))" } ?? "")
        }
    }

    @Test func theDemoHasOneLineForEachPair() async throws {
        let diagram = try Diagram(of: try await schema())
        #expect(
            lines(diagram) == [
                "author.books <<->> book.authors (book_author + position)",
                "book.stockSet <->> stock.book",
                "category.bookSet <->> book.category",
                "category.children <->> category.parent",
                "person.befriended_by <<->> person.friends (friendship + since)",
                "person.emailSet <->> email.person",
                "person.managed_store <-> store.manager",
                "person.profile <-> profile.person",
                "person.purchases <->> purchase.buyer",
                "person.titles <<->> title.people (person_title_rel)",
                "purchase.lines <->> purchase_line.purchase",
                "stock.sales <->> purchase_line.stock",
                "store.purchaseSet <->> purchase.store",
                "store.stockSet <->> stock.store",
            ])
        let stock = try #require(diagram.nodes.first { $0.entity.name == "stock" })
        #expect(stock.joins.map(\.sentence) == ["book.storeSet, store.bookSet (stock + copies)"])
        #expect(diagram.detail == .columns && diagram.groups.isEmpty)
    }

    @Test func helpersAreShownWhereTheyAreAskedForOrNamed() async throws {
        let schema = try await schema()
        var options = Diagram.Options()
        options.showsHelpers = true
        let shown = try Diagram(of: schema, options: options)
        #expect(shown.nodes.count == 14 && shown.edges.allSatisfy { $0.helper == nil })
        options.showsViews = true
        #expect(try Diagram(of: schema, options: options).nodes.count == 16)
        options = Diagram.Options()
        options.around = ["friendship"]
        let named = try Diagram(of: schema, options: options)
        #expect(named.nodes.map(\.entity.name) == ["friendship", "person"])
        #expect(lines(named).count == 2)
    }

    @Test func viewsAreShownWhereTheyAreAskedForOrNamed() async throws {
        let schema = try await schema()
        let views = Set(["bestseller", "new_book"])
        func shown(_ change: (inout Diagram.Options) -> Void) throws -> (views: Set<String>, diagram: Diagram) {
            var options = Diagram.Options()
            change(&options)
            let diagram = try Diagram(of: schema, options: options)
            return (views.intersection(diagram.nodes.map(\.entity.name)), diagram)
        }
        let (none, plain) = try shown { _ in }
        #expect(none.isEmpty && plain.edges.allSatisfy { !$0.isByView })
        // Nothing speaks of them: no relationship, no note, no count of missing relationships.
        for text in [plain.dot(), plain.mermaid(), plain.dbml(), plain.json()] {
            #expect(views.allSatisfy { !text.contains($0) } && !text.contains("more relationship"))
        }
        #expect(plain.nodes.allSatisfy { $0.hiddenRelationships == 0 })
        let (all, whole) = try shown { $0.showsViews = true }
        #expect(all == views && whole.edges.contains(where: \.isByView))
        #expect(try shown { $0.included = ["*book*"] }.views.isEmpty)
        #expect(try shown { $0.included = ["new_book", "author"] }.views == ["new_book"])
        let (named, around) = try shown { $0.around = ["new_book"] }
        #expect(named == ["new_book"] && around.nodes.map(\.entity.name) == ["author", "new_book", "stock"])
        #expect(
            try shown {
                $0.around = ["author"]; $0.distance = 9
            }.views.isEmpty)
    }

    @Test(
        .database,
        arguments: [
            ([], "line"), (["a"], "line + a"), (["a", "b"], "line + a + b"), (["a", "b", "c"], "line + 3 columns"),
        ] as [([String], String)])
    func whatAHelperHoldsBesidesItsKeysIsFolded(columns: [String], label: String) async throws {
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(
            """
            CREATE TABLE purchase (id integer PRIMARY KEY);
            CREATE TABLE product (id integer PRIMARY KEY);
            CREATE TABLE line (purchase integer REFERENCES purchase, product integer REFERENCES product,
                \(columns.map { "\($0) integer, " }.joined()) PRIMARY KEY (purchase, product));
            """)
        let diagram = try Diagram(of: try await SchemaReader.read(from: database.client))
        #expect(diagram.edges.map(\.helperLabel) == [label] && diagram.edges.map(\.helperColumns) == [columns])
        #expect(diagram.dot().contains(">\(label)</FONT>") && diagram.dot().contains("(\(label))"))
        let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        #expect(diagram.json().contains("\"helperColumns\": [\(list)]"))
    }

    @Test func aNeighbourhoodReachesAsFarAsItIsAsked() async throws {
        let schema = try await schema()
        func names(_ distance: Int) throws -> [String] {
            var options = Diagram.Options()
            options.around = ["title"]
            options.distance = distance
            return try Diagram(of: schema, options: options).nodes.map(\.entity.name)
        }
        #expect(try names(0) == ["title"])
        #expect(try names(1) == ["person", "title"])
        #expect(try names(2) == ["email", "person", "profile", "purchase", "store", "title"])
        #expect(try names(99).contains("category") && !names(99).contains("bestseller"))
        var options = Diagram.Options()
        options.around = ["titel"]
        #expect(throws: SchemaError.self) { try Diagram(of: schema, options: options) }
    }

    @Test(arguments: ["dot", "crow.dot", "views.dot", "mmd", "crow.mmd", "dbml", "json"])
    func theDemoIsAsCommitted(ending: String) async throws {
        var options = Diagram.Options()
        if ending.hasPrefix("crow") { options.notation = .crow }
        options.showsHelpers = ending == "dbml"
        options.showsViews = ending.hasPrefix("views")
        let diagram = try Diagram(of: try await schema(), options: options)
        try compare(diagram, "demo", ending)
    }

    @Test(.enabled("Chinook is at hand") { Chinook.sql != nil }, .database, arguments: ["dot", "mmd", "dbml", "json"])
    func chinookIsAsCommitted(ending: String) async throws {
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(Chinook.sql ?? "")
        let schema = try await SchemaReader.read(from: database.client)
        var options = Diagram.Options()
        options.showsHelpers = ending == "dbml"
        try compare(try Diagram(of: schema, options: options), "chinook", ending)
        let keys = try await database.client.query("SELECT count(*) FROM pg_constraint WHERE contype = 'f'")
            .map { try $0.decode(0, as: Int.self) }
        // The helper of playlists and tracks is one line instead of two.
        #expect(try Diagram(of: schema).edges.count == (keys.first ?? nil).map { $0 - 1 })
    }

    private func compare(_ diagram: Diagram, _ name: String, _ ending: String) throws {
        let text =
            switch ending {
            case "dot", "crow.dot", "views.dot": diagram.dot()
            case "mmd", "crow.mmd": diagram.mermaid()
            case "dbml": diagram.dbml()
            default: diagram.json()
            }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).\(ending)")
        // Written anew where that is asked for; look at the difference before it is committed.
        if ProcessInfo.processInfo.environment["KINDRED_GOLDEN"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let committed = try String(contentsOf: file, encoding: .utf8)
        #expect(committed == text, "\(file.lastPathComponent) differs; KINDRED_GOLDEN=1 writes it anew")
    }
}
