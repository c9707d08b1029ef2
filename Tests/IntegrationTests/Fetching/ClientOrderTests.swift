import Kindred
import KindredTesting
import Testing
import TypeModels

/// Orders by names that a client gives, and errors that are the program's own.
@Suite struct ClientOrderTests {
    private static let schema = """
        CREATE TABLE category (id integer PRIMARY KEY, name text);
        CREATE TABLE book (id integer PRIMARY KEY, title text, price numeric, secret text,
            category_id integer CONSTRAINT category REFERENCES category);
        INSERT INTO category VALUES (1, 'Poetry'), (2, 'Art');
        INSERT INTO book VALUES (1, 'B', 1, 'x', 1), (2, 'A', 1, 'y', 2), (3, 'C', 2, 'z', 2);
        """
    private static let allowed = ["title", "price", "category.name"]

    @Test(
        .database(.sql(schema)),
        arguments: [
            ("title", [2, 1, 3]), ("-title", [3, 1, 2]), ("price,title", [2, 1, 3]), ("-price,-title", [3, 1, 2]),
            ("category.name,title", [2, 3, 1]),
        ])
    func anAllowedOrderIsTaken(text: String, ids: [Int64]) async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["SELECT"]) { () async throws in
                let books = try await context.fetch("book").sorted(by: text, allowing: Self.allowed).all()
                #expect(books.map { $0["id"] } == ids.map { .integer($0) })
            }
        }
    }

    @Test(.database(.sql(schema))) func anythingElseIsTheClientsError() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            for text in ["", "secret", "title,", ",", "--title", "title desc", "category", "price,titel", "Title"] {
                let error = await expectError(.unknownKey) { _ = try books.sorted(by: text, allowing: Self.allowed) }
                #expect(error?.category == .invalid && error?.message.contains("title, price, category.name") == true)
                #expect(error?.message.contains("secret") == (text == "secret"))
            }
            let twice = await expectError(.invalidRequest) {
                _ = try books.sorted(by: "title,-title", allowing: Self.allowed)
            }
            #expect(twice?.category == .invalid)
            // The program must have written the allowed keys right.
            for allowed in [["titel"], ["category"], ["title", "category.nam"]] {
                do {
                    _ = try books.sorted(by: "title", allowing: allowed)
                    Issue.record("no error for \(allowed)")
                } catch let error as KindredError {
                    #expect(error.category == .mistake, "\(error)")
                }
            }
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func propertiesAreAllowedByKeyPaths() async throws {
        let database = try await TestDatabase.current.connect(classes: KindredModels.all)
        let keepers = try database.makeContext().fetch(Keeper.self)
        let request = try keepers.sorted(by: "-clubID,name", allowing: [\.name, \.clubID])
        #expect(try request.sql == keepers.sorted("club_id", ascending: false).sorted("name").sql)
        #expect(try keepers.sorted(by: "club_id", allowing: [\.clubID]).sql == keepers.sorted("club_id").sql)
        let unknown = await expectError(.unknownKey) { _ = try keepers.sorted(by: "story", allowing: [\.clubID]) }
        #expect(unknown?.message.hasSuffix("may be given: clubID") == true && unknown?.category == .invalid)
        let wrong = await expectError(.invalidRequest) {
            _ = try keepers.sorted(by: "name", allowing: [\.name, \.boss])
        }
        #expect(wrong?.category == .mistake)
        await database.close()
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func messagesNameRelationshipsAsTheSchemaDoes() async throws
    {
        let database = try await TestDatabase.current.connect(classes: KindredModels.all)
        let context = database.makeContext()
        let keepers = try context.fetch(Keeper.self)
        func message(_ code: KindredError.Code, _ body: () async throws -> Void) async -> String {
            let error = await expectError(code, body)
            #expect(error?.key?.contains("public_") != true, "\(error?.key ?? "")")
            return error?.message ?? ""
        }
        let messages = [
            await message(.invalidRequest) { _ = try keepers.sorted(by: "name", allowing: [\.boss]) },
            await message(.invalidRequest) { _ = try keepers.select(\.club) },
            await message(.unknownKey) { _ = try await context.create(Keeper.self) { $0.isDeleted = true } },
            await message(.foreignContext) {
                let club = try await database.makeContext().create(TypeModels.Club.new(id: 90, name: "x"))
                _ = try context.add(Keeper.self) { $0.club = club }
            },
            await message(.unknownKey) { _ = try await keepers.update { $0.isDeleted = true } },
        ]
        for message in messages {
            #expect(!message.contains("public_") && !message.contains("u{0}"), "\(message)")
        }
        let page = try keepers.sorted { $0.club.name }
        #expect(try page.sql.contains("ORDER BY t1.\"name\""))
        await database.close()
    }
}
