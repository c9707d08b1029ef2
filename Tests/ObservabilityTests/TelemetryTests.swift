import InMemoryTracing
import Kindred
import KindredLive
import KindredTesting
import Metrics
import MetricsTestKit
import Testing
import Tracing

@testable import KindredObservability
@testable import KindredPostgres

/// The process has one tracer and one metrics system; tests tell theirs by the name of their database.
private enum Systems {
    static let tracer = InMemoryTracer()
    static let metrics = TestMetrics()
    static let areReady: Bool = {
        InstrumentationSystem.bootstrap(tracer)
        MetricsSystem.bootstrap(metrics)
        return true
    }()
}

@Suite struct TelemetryTests {
    private static let schema =
        "CREATE TABLE book (id integer PRIMARY KEY, title text); INSERT INTO book VALUES (1, 'Emma');"

    private func withDatabase(_ body: (Database, String) async throws -> Void) async throws {
        #expect(Systems.areReady)
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        // Woken by no notification, so that figures are exact.
        let database = try await Database.connect(configuration, tracking: Tracking.Options(wakeUp: .poll))
        do {
            try await body(database, configuration.database ?? "")
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    private func spans(of database: String) -> [FinishedInMemorySpan] {
        Systems.tracer.finishedSpans.filter { $0.attributes.get("db.namespace") == .string(database) }
    }

    @Test(.database(.sql(schema))) func everyStatementIsAChildOfTheTasksSpan() async throws {
        try await withDatabase { database, name in
            let telemetry = database.addTelemetry()
            let context = database.makeContext()
            let parent = try await withSpan("request \(name)") { span in
                _ = try await context.fetch("book").where("title = %@", "secret").all()
                _ = try? await database.query("SELECT 1 / 0")
                return span.context.inMemorySpanContext?.spanID
            }
            telemetry.cancel()
            try await database.query("SELECT 'unseen'")
            let spans = spans(of: name)
            #expect(spans.map(\.operationName) == ["SELECT public.book", "SELECT"])
            #expect(
                spans.allSatisfy {
                    $0.kind == .client && $0.parentSpanID == parent
                        && $0.endInstant.nanosecondsSinceEpoch >= $0.startInstant.nanosecondsSinceEpoch
                }
            )
            let first = try #require(spans.first).attributes
            #expect(first.get("db.system.name") == .string("postgresql"))
            #expect(first.get("db.operation.name") == .string("SELECT"))
            #expect(first.get("db.query.summary") == .string("SELECT public.book"))
            #expect("\(String(describing: first.get("db.query.text")))".contains("$1"))
            #expect(first.get("db.response.returned_rows") == .int64(0))
            #expect(first.get("server.address") != nil)
            #expect(first.get("code.file.path") == .string("ObservabilityTests/TelemetryTests.swift"))
            let second = spans[1].attributes
            #expect(second.get("db.response.status_code") == .string("22012"))
            #expect(second.get("error.type") == .string("22012"))
            #expect(spans[1].status?.code == .error)
            #expect(!"\(spans)".contains("secret"))
        }
    }

    @Test(.database(.sql(schema))) func nothingIsObservedWhereNoBackendListens() async throws {
        try await withDatabase { database, _ in
            let client = database.client
            var onlySpans = Telemetry()
            onlySpans.measures = false
            var onlyMetrics = Telemetry()
            onlyMetrics.traces = false
            let (silent, mute) = (NoOpTracer(), NOOPMetricsHandler.instance)
            for observation in [
                client.addTelemetry(Telemetry(), to: silent, mute),
                client.addTelemetry(onlySpans, to: silent, Systems.metrics),
                client.addTelemetry(onlyMetrics, to: Systems.tracer, mute),
            ] {
                #expect(!client.isObserved)
                observation.cancel()
            }
            for observation in [
                client.addTelemetry(onlySpans, to: Systems.tracer, mute),
                client.addTelemetry(onlyMetrics, to: silent, Systems.metrics),
            ] {
                #expect(client.isObserved)
                observation.cancel()
            }
        }
    }

    @Test(.database(.sql(schema))) func whatIsReportedCanBeChosen() async throws {
        try await withDatabase { database, name in
            var options = Telemetry()
            options.showsText = false
            options.tracesTransactions = false
            options.measures = false
            let telemetry = database.addTelemetry(options)
            _ = try await database.transaction { try await database.query("SELECT 1") }
            telemetry.cancel()
            #expect(spans(of: name).map(\.operationName) == ["SELECT"])
            #expect(spans(of: name).allSatisfy { $0.attributes.get("db.query.text") == nil })
            #expect(!Systems.metrics.recorders.contains { $0.dimensions.contains { $0 == ("db.namespace", name) } })
        }
    }

    @Test(.database(.sql(schema))) func durationsAndThePoolAreMeasured() async throws {
        try await withDatabase { database, name in
            let telemetry = database.client.addTelemetry()
            for _ in 0..<3 { try await database.query("SELECT 1") }
            _ = try? await database.query("SELECT 1 / 0")
            telemetry.cancel()
            let recorders = Systems.metrics.recorders.filter { $0.dimensions.contains { $0 == ("db.namespace", name) } }
            let good = try #require(recorders.first { !$0.dimensions.contains { $0.0 == "error.type" } })
            let bad = try #require(recorders.first { $0.dimensions.contains { $0 == ("error.type", "22012") } })
            #expect(good.label == "db.client.operation.duration")
            #expect(good.values.count == 3 && good.values.allSatisfy { $0 > 0 && $0 < 60 })
            #expect(bad.values.count == 1)
            #expect(bad.dimensions.contains { $0 == ("db.response.status_code", "22012") })
            let meters = Systems.metrics.meters.filter { $0.dimensions.contains { $0.1.hasSuffix("/\(name)") } }
            #expect(
                Set(meters.map(\.label)) == [
                    "db.client.connection.count", "db.client.connection.max", "db.client.connection.pending_requests",
                ])
            #expect(meters.first { $0.label == "db.client.connection.max" }?.values.last == 10)
            let counters = Systems.metrics.counters.filter { $0.dimensions.contains { $0.1.hasSuffix("/\(name)") } }
            func total(_ label: String) -> Int64? { counters.first { $0.label == label }?.totalValue }
            let figures = database.client.metrics
            #expect(figures.opened > 0 && total("kindred.pool.opened") == Int64(figures.opened))
            #expect(total("kindred.pool.lost") == 0 && total("kindred.pool.tenant_waits") == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) func whereReadsGoIsMeasured() async throws {
        #expect(Systems.areReady)
        try await ReplicatedServers.with(.sql(Self.schema)) { servers in
            let database = try await servers.connect()
            let telemetry = database.addTelemetry()
            let context = database.makeContext(reading: .automatic)
            // Until the servers have said their roles.
            for _ in 0..<12_000 where database.readMetrics?.replica == 0 {
                #expect(try await context.fetch("book").count() == 1)
                try await Task.sleep(for: .milliseconds(5))
            }
            _ = try context.add("book", ["id": 2])
            _ = try await context.fetch("book").count()
            context.rollback()
            // A read is reported with a statement after it.
            try await database.query("SELECT 1")
            telemetry.cancel()
            let figures = try #require(database.readMetrics)
            #expect(figures.replica > 0 && figures.primary[.stagedChanges] == 1)
            let address = try #require(DatabasePlace(database.client.configuration).address)
            let counters = Systems.metrics.counters.filter {
                $0.label == "kindred.reads" && $0.dimensions.contains { $0 == ("server.address", address) }
            }
            func total(_ name: String, _ value: String) -> Int64 {
                counters.filter { $0.dimensions.contains { $0 == (name, value) } }.map(\.totalValue).reduce(0, +)
            }
            #expect(total("kindred.reads.role", "replica") == Int64(figures.replica))
            #expect(total("kindred.reads.role", "primary") == Int64(figures.primary.values.reduce(0, +)))
            #expect(total("kindred.reads.reason", "stagedChanges") == 1)
            let meters = Systems.metrics.meters.filter { $0.dimensions.contains { $0 == ("server.address", address) } }
            let lag = try #require(meters.first { $0.label == "kindred.replica.lag" })
            #expect(lag.values.allSatisfy { $0 >= 0 } && figures.replicas.count == 1)
            #expect(lag.dimensions.contains { $0 == ("kindred.replica.address", figures.replicas[0].address) })
            #expect(meters.contains { $0.label == "kindred.replica.left_out" && $0.values.contains(0) })
        }
    }

    @Test func readsThatAreAskedAgainAreMeasured() throws {
        #expect(Systems.areReady)
        let place = DatabasePlace(PostgresConfiguration(endpoints: [.tcp(host: "replicas.example", port: 1)]))
        let meters = ReadMeters(place)
        var figures = ReadMetrics()
        for (requests, answers) in [(3, 0), (3, 0), (9, 2)] {
            (figures.secondRequests, figures.secondAnswers) = (requests, answers)
            meters.report(figures)
        }
        let address = try #require(place.address)
        func total(_ label: String) -> Int64? {
            Systems.metrics.counters.first {
                $0.label == label && $0.dimensions.contains { $0 == ("server.address", address) }
            }?.totalValue
        }
        #expect(total("kindred.reads.second_requests") == 9 && total("kindred.reads.second_answers") == 2)
    }

    @Test(.database(.sql(schema))) func whatFollowsChangesIsMeasured() async throws {
        try await withDatabase { database, name in
            let telemetry = database.addTelemetry()
            try await database.tracking.install()
            try await database.tracking.enable("book")
            let changes = try await database.makeContext().changes(of: "book")
            var updates = try await database.makeContext().fetch("book").live().makeAsyncIterator()
            _ = try await updates.next()
            try await database.query("TRUNCATE book")
            try await database.tracking.catchUp()
            // A step is reported with a statement after it, and its gap last, in a task of the telemetry's own.
            try await database.query("SELECT 1")
            let here = ("db.namespace", name)
            func isReported() -> Bool {
                Systems.metrics.counters.contains { counter in
                    counter.label == "kindred.tracking.gaps" && counter.dimensions.contains { $0 == here }
                }
            }
            for _ in 0..<200 where !isReported() { try await Task.sleep(for: .milliseconds(50)) }
            telemetry.cancel()
            let meters = Systems.metrics.meters.filter { $0.dimensions.contains { $0 == here } }
            let counters = Systems.metrics.counters.filter { $0.dimensions.contains { $0 == here } }
            func gauge(_ name: String) -> [Double]? { meters.first { $0.label == "kindred.tracking.\(name)" }?.values }
            func total(_ name: String) -> Int64? {
                counters.first { $0.label == "kindred.tracking.\(name)" }?.totalValue
            }
            #expect(gauge("subscribers")?.last == 2 && gauge("live_requests")?.last == 1)
            #expect(gauge("backlog")?.max() == 1 && (gauge("oldest_record")?.max() ?? 0) > 0)
            #expect(gauge("listening")?.allSatisfy { $0 == 0 } == true)
            // The first answer, and the one after TRUNCATE.
            #expect(total("records") == 1 && total("statements") == 2)
            #expect((total("readings") ?? 0) >= 2 && total("wake_ups") == 0 && total("retries") == 0)
            #expect((total("reader_statements") ?? 0) >= (total("readings") ?? .max))
            let gaps = counters.first { $0.label == "kindred.tracking.gaps" }
            #expect(gaps?.dimensions.contains { $0 == ("kindred.tracking.reason", "bulk") } == true)
            #expect(gaps?.totalValue == 1)
            withExtendedLifetime((changes, updates)) {}
        }
    }
}
