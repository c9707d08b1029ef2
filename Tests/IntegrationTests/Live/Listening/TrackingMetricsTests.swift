import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

/// `database.tracking.metrics`, each figure; ``ListenerAddressTests`` has the figures of listening.
@Suite(.database(.sql(Listening.schema)), .timeLimit(.minutes(5))) struct TrackingMetricsTests {
    /// The figures at the end of each statement.
    private final class Course: Sendable {
        let figures = Mutex<[Tracking.Metrics]>([])
    }

    @Test func recordsAndTheStatementsThatTheyCauseAreCounted() async throws {
        try await Listening.with(try Listening.direct("main"), .poll) { database, other in
            #expect(database.tracking.metrics == Tracking.Metrics())
            var updates = try await database.makeContext().fetch("person").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.next()?.objects.count == 0)
            try await database.tracking.catchUp()
            let first = database.tracking.metrics
            #expect(first.statements == 1 && first.records == 0 && first.readerStatements >= first.readings)
            // One record, one statement for all of its rows.
            try await other.query("INSERT INTO person SELECT n FROM generate_series(1, 10) AS n")
            try await database.tracking.catchUp()
            let second = database.tracking.metrics
            #expect(second.records == 1 && second.statements == 2 && second.readings > first.readings)
            // A table that is not followed has records, too.
            try await other.query("INSERT INTO email VALUES (1, 1)")
            try await database.tracking.catchUp()
            let third = database.tracking.metrics
            #expect(third.records == 2 && third.statements == 2)
            // A context asks for its rows besides.
            let context = database.makeContext(tracking: .automatic)
            let person = try #require(try await context.find("person", 1))
            try await database.tracking.catchUp()
            let fourth = database.tracking.metrics
            try await other.query("UPDATE person SET name = 'Ann' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(person["name"] == .string("Ann"))
            let last = database.tracking.metrics
            #expect(last.records == 3 && last.statements == fourth.statements + 2)
            #expect(
                last.readerStatements >= last.readings && last.retries == 0 && last.wakeUps == 0 && last.gaps == [:])
            withExtendedLifetime(updates) {}
        }
    }

    @Test func subscribersAndDistinctRequestsAreCounted() async throws {
        try await Listening.with(try Listening.direct("main"), .poll) { database, _ in
            let context = database.makeContext()
            func request(_ name: String) throws -> FetchRequest<DatabaseObject> {
                try context.fetch("person").where("name = %@", name)
            }
            do {
                var one = try await request("Ann").live().makeAsyncIterator()
                var equal = try await request("Ann").live().makeAsyncIterator()
                var other = try await request("Bob").live().makeAsyncIterator()
                _ = (try await one.next(), try await equal.next(), try await other.next())
                let changes = try await context.changes(of: "person")
                try await database.tracking.catchUp()
                let metrics = database.tracking.metrics
                #expect(metrics.liveRequests == 2 && metrics.subscribers == 2)
                withExtendedLifetime((one, equal, other, changes)) {}
            }
            try await eventually("they stay") {
                let metrics = database.tracking.metrics
                return metrics.liveRequests == 0 && metrics.subscribers == 0
            }
        }
    }

    @Test func theBacklogIsWhatAReadingFinds() async throws {
        var main = try Listening.direct("main")
        main.pool.maximumConnections = 1
        try await Listening.with(main, .poll) { database, other in
            let changes = try await database.makeContext().changes(of: "person")
            let course = Course()
            let observation = database.client.addObserver { _ in
                let figures = database.tracking.metrics
                course.figures.withLock { $0.append(figures) }
            }
            // The reader has no connection meanwhile.
            try await database.client.withConnection { _ in
                for id in 1...5 { try await other.query("INSERT INTO person VALUES (\(id))") }
            }
            try await database.tracking.catchUp()
            // The statements of the next reading see it.
            try await database.tracking.catchUp()
            observation.cancel()
            let full = course.figures.withLock { $0.filter { $0.backlog > 0 } }
            #expect(!full.isEmpty && full.allSatisfy { $0.backlog == 5 && $0.oldestRecord > .zero })
            let last = database.tracking.metrics
            #expect(last.backlog == 0 && last.oldestRecord == .zero && last.records == 5)
            withExtendedLifetime(changes) {}
        }
    }

    @Test func gapsAreCountedByReason() async throws {
        try await Listening.with(try Listening.direct("main"), .poll) { database, other in
            let changes = try await database.makeContext().changes(of: "person")
            try await other.query("TRUNCATE person CASCADE")
            try await database.tracking.catchUp()
            // Two tables in one reading.
            #expect(database.tracking.metrics.gaps == ["bulk": 1])
            try await other.query("INSERT INTO person SELECT n FROM generate_series(1, 1001) AS n")
            try await database.tracking.catchUp()
            #expect(database.tracking.metrics.gaps == ["bulk": 2])
            try await other.query("ALTER TABLE email DISABLE TRIGGER ALL")
            try await database.tracking.catchUp()
            try await eventually("the gap is not said") { database.tracking.metrics.gaps.count > 1 }
            #expect(database.tracking.metrics.gaps["bulk"] == 2)
            withExtendedLifetime(changes) {}
        }
    }

    @Test func aStepThatIsRunAgainIsCounted() async throws {
        try await Listening.with(try Listening.direct("stopped"), .poll) { database, other in
            var updates = try await database.makeContext().fetch("person").where("ANY emailSet.id = %@", 7).sorted("id")
                .live().makeAsyncIterator()
            _ = try await updates.next()
            try await database.tracking.catchUp()
            let before = database.tracking.metrics
            try await withClient { holder in
                try await holder.withTransaction { _ in
                    // The answer has to be asked for, and waits.
                    try await holder.query("LOCK TABLE email IN ACCESS EXCLUSIVE MODE")
                    try await other.query("INSERT INTO person VALUES (1)")
                    try await eventually("the reader does not wait") {
                        try await other.query(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE application_name = 'stopped' AND wait_event_type = 'Lock'
                            """
                        ).count == 1
                    }
                    try await eventually("it is not run again") { database.tracking.metrics.retries > before.retries }
                }
            }
            try await database.tracking.catchUp()
            let after = database.tracking.metrics
            #expect(after.retries == before.retries + 1 && after.records == before.records + 1)
            // Sent is sent, also in vain.
            #expect(after.statements >= before.statements + 2)
            withExtendedLifetime(updates) {}
        }
    }
}
