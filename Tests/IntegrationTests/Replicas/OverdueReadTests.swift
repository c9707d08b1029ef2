import Foundation
import Kindred
import Testing

/// Reads whose replica does not answer, and that are asked again elsewhere.
@Suite(.timeLimit(.minutes(15))) struct OverdueReadTests {
    @Test func aReadThatTheNetworkLosesIsAnsweredByAnotherReplica() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            let before = try proxied.metrics
            proxied.lose(of: 1)
            // Nothing else ends a lost read within the limit of its statement.
            try await eventually("a read is lost") {
                try await proxied.readPeople()
                return proxied.losses(of: 1) == 0
            }
            let after = try proxied.metrics
            #expect(after.secondRequests > before.secondRequests && after.secondAnswers > before.secondAnswers)
            #expect(after.primary[.failed] == before.primary[.failed])
            // The lost request holds up no other read for long.
            for _ in 0..<100 { try await proxied.readPeople() }
            let limit = max(1, try proxied.metrics.replica / 20)
            #expect(try proxied.metrics.secondRequests <= limit)
        }
    }

    @Test func readsOnTheirWayToAReplicaThatTheNetworkSwallowsComeBack() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            let before = try proxied.metrics.secondRequests
            try await eventually("reads are asked again") {
                try await proxied.everythingArrives()
                async let swallowing: Void = {
                    try await Task.sleep(for: .milliseconds(50))
                    proxied.proxies[1].set { _, _ in .drop }
                }()
                try await withThrowingDiscardingTaskGroup { group in
                    for _ in 0..<8 {
                        group.addTask {
                            for _ in 0..<50 { try await proxied.readPeople() }
                        }
                    }
                }
                try await swallowing
                proxied.watch(1)
                return try proxied.metrics.secondRequests > before
            }
            let metrics = try proxied.metrics
            let reads = metrics.replica + metrics.primary.values.reduce(0, +)
            #expect(metrics.secondRequests <= max(1, reads / 20) && metrics.secondAnswers <= metrics.secondRequests)
        }
    }

    /// The other replica has not replayed the write: the primary gives the second answer.
    @Test func theTokenHoldsForTheSecondAnswer() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            let context = proxied.context()
            let ann = try await context.get("person", 1)
            try await proxied.scene.readers[1].query("SELECT pg_wal_replay_pause()")
            var age = 100
            try await eventually("the primary gives a second answer") {
                age += 1
                try await ann.setValue(age, forKey: "age")
                let token = try #require(context.position)
                try await eventually("the first replica has it") {
                    try await proxied.scene.readers[0].value("SELECT age FROM person WHERE id = 1")
                        == .integer(Int64(age))
                }
                let before = try proxied.metrics.primary[.overdue] ?? 0
                proxied.lose(of: 1)
                for _ in 0..<5 {
                    // The other replica may be read however far it is behind, but for the token.
                    let next = proxied.database.makeContext(
                        reading: .replica(maximumLag: .seconds(200)), after: token)
                    let people = try await next.fetch("person").all()
                    let ann = try #require(people.first { $0["name"] == "ann" })
                    #expect(ann["age"] == .integer(Int64(age)))
                    #expect((next.position?.location ?? 0) >= token.location)
                }
                return try proxied.metrics.primary[.overdue] ?? 0 > before
            }
            try await proxied.scene.readers[1].query("SELECT pg_wal_replay_resume()")
        }
    }

    @Test func theLoserIsCancelledAndTheCallersCancellationEndsBoth() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            func endOfSleep() async throws {
                for number in [1, 2] {
                    try await eventually("nothing runs on \(number)") { try await !proxied.isSleeping(number) }
                }
            }
            try await proxied.sleep(600, on: [1])
            try await eventually("a second answer comes first") {
                let before = try proxied.metrics.secondAnswers
                try await proxied.readPause()
                return try proxied.metrics.secondAnswers > before
            }
            try await endOfSleep()
            try await proxied.sleep(600, on: [1, 2])
            try await eventually("both requests run") {
                try await proxied.learnOfPeople()
                let read = Task { try await proxied.context().fetch("pause").all().count }
                var isAskedTwice = false
                for _ in 0..<40 where !isAskedTwice {
                    try await Task.sleep(for: .milliseconds(50))
                    let first = try await proxied.isSleeping(1)
                    isAskedTwice = try await proxied.isSleeping(2) && first
                }
                read.cancel()
                await #expect(throws: CancellationError.self) { try await read.value }
                try await endOfSleep()
                return isAskedTwice
            }
            // The connections are whole.
            try await proxied.sleep(0, on: [])
            for _ in 0..<20 { try await proxied.readPause() }
        }
    }

    @Test func observersSeeTheReadOnce() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            let before = try proxied.metrics.secondAnswers
            proxied.lose(of: 1)
            try await eventually("a second answer comes first") {
                try await expectStatements(["SELECT"]) {
                    try await proxied.readPeople()
                }
                return try proxied.metrics.secondAnswers > before
            }
        }
    }

    @Test func streamsTransactionsLocksAndTheProgramsSQLAreAskedOnce() async throws {
        try await ProxiedReplicas.with { proxied in
            try await proxied.learnTimes()
            let sql = #"SELECT name FROM "pause""# as SQL
            for _ in 0..<20 {
                _ = try await proxied.context().query(sql, reading: .automatic)
                _ = try await proxied.context().query(sql)
            }
            // Far beyond three times the times that were learnt.
            try await proxied.sleep(0.5, on: [0, 1, 2])
            func once(_ name: String, _ count: Int = 1, _ body: (DatabaseContext) async throws -> Void) async throws {
                let (reads, requests) = (proxied.reads.reduce(0, +), try proxied.metrics.secondRequests)
                try await body(proxied.context())
                #expect(proxied.reads.reduce(0, +) == reads + count, "\(name)")
                #expect(try proxied.metrics.secondRequests == requests, "\(name)")
            }
            try await once("raw SQL") { _ = try await $0.query(sql, reading: .automatic) }
            try await once("raw SQL of the database") { _ in
                _ = try await proxied.database.query(sql, reading: .automatic)
            }
            try await once("raw SQL on the primary") { _ = try await $0.query(sql) }
            try await once("a stream") { context in
                for try await _ in try context.fetch("pause").stream() {}
            }
            try await once("a transaction") { context in
                try await context.transaction { _ = try await context.fetch("pause").all() }
            }
            try await once("a lent connection") { context in
                try await proxied.database.client.withConnection { (_) async throws in
                    _ = try await context.fetch("pause").all()
                }
            }
            try await once("a context of the primary") { _ in
                _ = try await proxied.database.makeContext().fetch("pause").all()
            }
            // As a read by itself is not.
            try await eventually("a read is asked again") {
                let before = try proxied.metrics.secondRequests
                try await proxied.learnOfPeople()
                _ = try await proxied.context().fetch("pause").all()
                return try proxied.metrics.secondRequests > before
            }
            try await proxied.sleep(0, on: [])
            // A lock waits for another transaction.
            let ann = try await proxied.context().get("person", 1)
            let requests = try proxied.metrics.secondRequests
            try await proxied.scene.writer.withTransaction { (_) async throws in
                try await proxied.scene.writer.query("SELECT FROM person WHERE id = 1 FOR UPDATE")
                let lock = Task { try await proxied.context().transaction { try await ann.lock() } }
                try await Task.sleep(for: .milliseconds(500))
                #expect(try proxied.metrics.secondRequests == requests)
                lock.cancel()
                _ = await lock.result
            }
        }
    }
}
