import Kindred
import KindredTesting
import Testing

/// Objects of a transaction that a statement inside was to end, or has ended.
@Suite struct EndedTransactionObjectTests {
    private static let schema = """
        CREATE TABLE item (id integer PRIMARY KEY, name text, note text);
        INSERT INTO item SELECT i, 'old', 'old' FROM generate_series(1, 4) AS i;
        """

    @Test(
        "Raw COMMIT and ROLLBACK are refused, and rows and objects are back where they were",
        .database(.sql(schema)), arguments: ["COMMIT", "ROLLBACK", "/**/ end", "ROLLBACK AND CHAIN"])
    func rawControl(text: String) async throws {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            await expectPostgresError(.invalidParameter) {
                try await context.transaction {
                    try await items[0].setValue("new", forKey: "name")
                    try await context.delete(items[1])
                    try await database.query(SQL(unsafeRaw: text))
                }
            }
            #expect(items[0]["name"] == "old" && !items[1].isDeleted)
            #expect(try await other.value("SELECT count(*) FROM item WHERE name = 'old'") == 4)
        }
    }

    @Test(
        "Objects of a transaction that a statement has ended show what the database has once they are used",
        .database(.sql(schema)), arguments: [StrangeWords.commit, StrangeWords.rollback], [true, false])
    func ended(word: String, isNested: Bool) async throws {
        let proxy = try StrangeWords.proxy()
        defer { proxy.stop() }
        let database = try await Database.connect(proxy.configuration)
        let context = database.makeContext()
        let items = try await context.fetch("item").sorted("id").all()
        items[2]["note"] = "staged"
        func change() async throws -> DatabaseObject {
            try await items[0].setValue("new", forKey: "name")
            try await context.delete(items[1])
            try await items[2].setValue("new", forKey: "name")
            return try await context.create("item", ["id": 5, "name": "new"])
        }
        var made: DatabaseObject?
        let (_, recorder) = await recordingStatements {
            await expectPostgresError(.transactionBroken) {
                try await context.transaction {
                    if isNested {
                        try await context.transaction {
                            made = try await change()
                            try await database.query(SQL(unsafeRaw: word))
                        }
                    } else {
                        made = try await change()
                        _ = try? await database.query(SQL(unsafeRaw: word))
                        // The closure's error does not hide the end of the transaction, nor does the statement's error.
                        throw CancellationError()
                    }
                }
            }
        }
        // Nothing is sent once the transaction is over.
        #expect(recorder.all.last?.sql == word, "\(recorder.all.map(\.sql))")
        let isCommitted = word == StrangeWords.commit
        let name: PostgresValue = isCommitted ? "new" : "old"
        #expect(items[0]["name"] == "old" && !items[1].isDeleted && made?.isDeleted == false)
        // One SELECT for the entity.
        try await expectStatements(["SELECT"]) {
            for item in items + [made].compactMap(\.self) { _ = try await item.value(forKey: "name") }
        }
        #expect(items[0]["name"] == name && items[2]["name"] == name && items[3]["name"] == "old")
        #expect(items[1].isDeleted == isCommitted)
        let new = try #require(made)
        #expect(new.isDeleted != isCommitted)
        let found = try await context.fetch("item").where("id = 5").first()
        #expect(isCommitted ? found === new : found == nil)
        // Changes staged before stay staged.
        #expect(items[2]["note"] == "staged" && items[2].hasStagedChanges)
        try await context.save()
        #expect(try await context.fetch("item").where("note = 'staged'").count() == 1)
        await database.close()
    }
}
