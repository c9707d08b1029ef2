import Kindred
import KindredLive
import KindredTesting
import TestSupport
import Testing

private let schema = """
    CREATE TABLE ledger (id bigint PRIMARY KEY, writer integer NOT NULL);
    CREATE TABLE account (id integer PRIMARY KEY, balance bigint NOT NULL);
    """

/// Many writers, and a reader whose connections are cut again and again: nothing is lost, and nothing comes twice.
///
/// A million changes and 200 cuts where long tests are on. Savepoints, rollbacks and, where the server takes them, prepared
/// transactions are among the writers' ways to write.
@Suite(.database(.sql(schema), timeLimit: .seconds(3_600))) struct ChangeBooksTests {
    private static let writers = 64
    private static let changes = LongTests.areOn ? 1_000_000 : 4_000
    private static let cuts = LongTests.areOn ? 200 : 8

    /// The sum of a sequence's changes.
    private struct Books: Sendable {
        var ledger: Set<Int64> = []
        var accounts: Set<Int64> = []
        var faults: [String] = []

        mutating func add(_ changes: ChangeBatch) {
            for id in changes.inserted { enter(id) }
            for id in changes.deleted {
                if id.entity.name == "ledger" { faults.append("\(id) was deleted") }
                if accounts.remove(id.number) == nil { faults.append("\(id) was deleted, but not known") }
            }
            for id in changes.updated.keys where !accounts.contains(id.number) {
                faults.append("\(id) was updated, but not known")
            }
        }

        private mutating func enter(_ id: ObjectID) {
            let isNew =
                id.entity.name == "ledger" ? ledger.insert(id.number).inserted : accounts.insert(id.number).inserted
            if !isNew { faults.append("\(id) was inserted twice") }
        }
    }

    @Test func nothingIsLostAndNothingComesTwice() async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await database.tracking.enable("ledger", "account")
            var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
            configuration.applicationName = "ledger reader"
            let followed = try await Database.connect(configuration)
            let changes = try await followed.makeContext().changes(of: "ledger", "account", bufferingAtMost: 2_000_000)
            let reading = Task { try await Self.read(changes) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let canPrepare = try await other.value("SHOW max_prepared_transactions")?.description != "0"
                for writer in 0..<Self.writers {
                    group.addTask { try await Self.write(as: writer, canPrepare: canPrepare) }
                }
                let cutting = Task { try await Self.cut(other) }
                try await group.waitForAll()
                try await cutting.value
            }
            // The last commit comes last.
            try await other.query("INSERT INTO ledger VALUES (-1, 0)")
            let books = try await reading.value
            #expect(books.faults.prefix(5) == [])
            #expect(try await Self.keys(of: "ledger", other) == books.ledger)
            #expect(try await Self.keys(of: "account", other) == books.accounts)
            await followed.close()
        }
    }

    private static func keys(of table: String, _ client: PostgresClient) async throws -> Set<Int64> {
        Set(
            try await client.query("SELECT id::bigint FROM \(identifier: table)").compactMap {
                try $0.decode(0, as: Int64.self)
            })
    }

    private static func read(_ changes: ChangeSequence) async throws -> Books {
        var books = Books()
        for try await element in changes {
            switch element {
            case .changes(let changes): books.add(changes)
            case .everything(let gap, let entities, _): books.faults.append("a gap: \(gap), \(entities)")
            }
            if books.ledger.contains(-1) { break }
        }
        return books
    }

    /// Ends the reader's sessions, until the writers are done or it was done often enough.
    private static func cut(_ client: PostgresClient) async throws {
        for _ in 0..<cuts {
            try await Task.sleep(for: .milliseconds(LongTests.areOn ? 500 : 100))
            try await client.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger reader'")
        }
    }

    // MARK: Writers

    private static func write(as writer: Int, canPrepare: Bool) async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.maximumConnections = 1
        configuration.statementTimeout = .seconds(600)
        let client = try await PostgresClient.connect(configuration)
        var random = SeededGenerator(seed: UInt64(writer))
        var done = 0
        try await client.withConnection { connection in
            while done < changes / writers {
                let count = Int.random(in: 1...20, using: &random)
                let first = Int64(writer) * 10_000_000 + Int64(done)
                for statement in statements(first, count, of: writer, canPrepare: canPrepare, using: &random) {
                    try await connection.query("\(unsafeRaw: statement)")
                }
                done += count
            }
        }
        await client.close()
    }

    /// A transaction of some insertions, and of changes of the writer's own accounts.
    private static func statements(
        _ first: Int64, _ count: Int, of writer: Int, canPrepare: Bool, using random: inout SeededGenerator
    ) -> [String] {
        var texts = ["BEGIN"]
        for number in 0..<Int64(count) {
            let id = first + number
            let isUndone = Int.random(in: 0..<5, using: &random) == 0
            if isUndone { texts.append("SAVEPOINT s") }
            texts.append("INSERT INTO ledger VALUES (\(id), \(writer))")
            let account = writer * 10 + Int.random(in: 0..<10, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: texts.append("DELETE FROM account WHERE id = \(account)")
            case 1:
                texts.append(
                    "INSERT INTO account VALUES (\(account), 1) ON CONFLICT (id) DO UPDATE SET balance = account.balance + 1"
                )
            case 2: texts.append("UPDATE account SET balance = balance - 1 WHERE id = \(account)")
            default: break
            }
            if isUndone { texts.append("ROLLBACK TO s") }
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: texts.append("ROLLBACK")
        case 1 where canPrepare:
            texts += ["PREPARE TRANSACTION 'ledger \(first)'", "COMMIT PREPARED 'ledger \(first)'"]
        case 2 where canPrepare:
            texts += ["PREPARE TRANSACTION 'ledger \(first)'", "ROLLBACK PREPARED 'ledger \(first)'"]
        default: texts.append("COMMIT")
        }
        return texts
    }
}

extension ObjectID {
    fileprivate var number: Int64 {
        if case .integer(let number)? = values.first { number } else { .min }
    }
}
