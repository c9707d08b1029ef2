import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = "CREATE TABLE person (id integer PRIMARY KEY, name text, age integer);"

/// `context.changes(of:consumer:)`, whose cursor is kept in the database.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct ConsumerSequenceTests {
    private func ids(_ batch: ChangeSequence.Acknowledged.Element?) -> [PostgresValue] {
        (batch?.changes.inserted ?? []).flatMap(\.values).sorted { $0.description < $1.description }
    }

    @Test func whatWasNotAcknowledgedComesAgain() async throws {
        try await withLive("person") { database, context, other in
            do {
                var batches = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
                try await other.query("INSERT INTO person VALUES (1)")
                let first = try #require(try await batches.next())
                #expect(ids(first) == [.integer(1)])
                try await database.client.withTransaction { _ in try await first.acknowledge() }
                try await other.query("INSERT INTO person VALUES (2)")
                let second = try #require(try await batches.next())
                #expect(ids(second) == [.integer(2)])
                struct Failed: Error {}
                await #expect(throws: Failed.self) {
                    try await database.client.withTransaction { _ in
                        try await second.acknowledge()
                        throw Failed()
                    }
                }
            }
            // Away; and back in another process.
            try await other.query("INSERT INTO person VALUES (3)")
            let later = try await Database.connect(database.client.configuration)
            var batches = try await later.makeContext().changes(of: ["person"], consumer: "index").makeAsyncIterator()
            let both = try #require(try await batches.next())
            #expect(ids(both) == [.integer(2), .integer(3)])
            try await both.acknowledge()
            await later.close()
        }
    }

    @Test func anAcknowledgementThatWasRolledBackIsMadeAgain() async throws {
        try await withLive("person") { database, context, other in
            var batches = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            let batch = try #require(try await batches.next())
            struct Failed: Error {}
            for _ in 0..<3 {
                await #expect(throws: Failed.self) {
                    try await database.client.withTransaction { _ in
                        try await batch.acknowledge()
                        throw Failed()
                    }
                }
            }
            try await batch.acknowledge()
            let kept = try await other.value("SELECT cursor::text FROM kindred.tracking_consumer")
            #expect(kept == .string(batch.cursor.snapshot))
        }
    }

    @Test func ofTwoProcessesOneAcknowledges() async throws {
        try await withLive("person") { database, context, other in
            var one = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
            var two = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            let (first, second) = (try #require(try await one.next()), try #require(try await two.next()))
            try await first.acknowledge()
            await expectError(.consumerMoved) { try await second.acknowledge() }
            #expect(try await database.tracking.dropConsumer("index"))
            #expect(try await !database.tracking.dropConsumer("index"))
        }
    }

    @Test func aCursorThatCameWithADumpIsOfNoUse() async throws {
        try await withLive("person") { _, context, other in
            _ = try await context.changes(of: ["person"], consumer: "index")
            try await other.query("UPDATE kindred.tracking_consumer SET system = system + 1")
            var batches = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
            let first = try #require(try await batches.next())
            #expect(first.reason == .foreignCursor && first.everything.map(\.name) == ["person"])
            try await first.acknowledge()
            batches = try await context.changes(of: ["person"], consumer: "index").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await ids(batches.next()) == [.integer(1)])
        }
    }

    @Test func recordsThatCameWithADumpAreNotTold() async throws {
        try await withLive("person") { database, context, other in
            try await other.query("INSERT INTO person VALUES (1)")
            // Of a server that had more transactions.
            try await other.query("UPDATE kindred.tracking_outbox_0 SET xid = '4000000000'")
            try await other.query("UPDATE kindred.tracking_state SET system = system + 1")
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (2)")
            #expect(try await changes.seen(database) == .inserted("person 2"))
            #expect(
                try await other.value("SELECT count(*) FROM kindred.tracking_outbox_0 WHERE xid = '4000000000'")
                    == .integer(0))
        }
    }

    @Test func changesOfOtherTablesMoveAConsumerOn() async throws {
        try await withLive("person") { _, context, other in
            // A hold of a second: after a quarter of one it says that it is there.
            let sequence = try await context.changes(of: ["person"], consumer: "index", hold: .seconds(1))
            let task = Task {
                for try await _ in sequence {}
            }
            try await other.query("CREATE TABLE unrelated (id integer PRIMARY KEY)")
            try await eventually("the cursor stays") {
                try await other.value("SELECT cursor::text FROM kindred.tracking_consumer")
                    != .string(sequence.cursor.snapshot)
            }
            task.cancel()
            try await task.value
        }
    }
}
