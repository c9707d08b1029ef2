import Kindred
import KindredTesting
import Testing

/// Objects after a COMMIT whose answer was lost.
@Suite struct UnknownCommitTests {
    private static let schema = """
        CREATE TABLE item (id integer PRIMARY KEY, name text, note text);
        INSERT INTO item SELECT i, 'old', 'old' FROM generate_series(1, 4) AS i;
        """

    @Test(
        "T1, T2: after a commit whose answer was lost, objects show what the database has",
        .database(.sql(schema)), arguments: [true, false])
    func objects(isCommitted: Bool) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        // So that COMMIT goes by its name.
        configuration.statementCacheCapacity = 0
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        let items = try await context.fetch("item").sorted("id").all()
        items[2]["note"] = "staged"
        proxy.set { direction, bytes in
            direction == (isCommitted ? .toClient : .toServer) && contains(bytes, "COMMIT") ? .cut : .forward
        }
        let (_, recorder) = await recordingStatements {
            await expectPostgresError(.commitUnknown) {
                try await context.transaction {
                    try await items[0].setValue("new", forKey: "name")
                    try await context.delete(items[1])
                    try await items[2].setValue("new", forKey: "name")
                    try await context.create("item", ["id": 5, "name": "new"])
                }
            }
        }
        let statements = recorder.all.map(\.sql)
        #expect(statements.last == "COMMIT", "\(statements)")
        #expect(items[0]["name"] == "old" && !items[1].isDeleted)
        proxy.set { _, _ in .forward }
        let name: PostgresValue = isCommitted ? "new" : "old"
        try await expectStatements(["SELECT"]) {
            for item in items { _ = try await item.value(forKey: "name") }
        }
        #expect(items[0]["name"] == name && items[2]["name"] == name && items[3]["name"] == "old")
        #expect(items[1].isDeleted == isCommitted)
        // Changes staged before stay staged.
        #expect(items[2]["note"] == "staged" && items[2].hasStagedChanges)
        try await context.save()
        try await withDatabase { (_, _, other) async throws in
            #expect(try await other.values("SELECT note FROM item WHERE id = 3") == ["staged"])
            #expect(try await other.value("SELECT count(*) FROM item") == 4)
        }
        await database.close()
    }
}
