import DemoModels
import Kindred
import KindredLive
import KindredObservability
import KindredTesting
import Logging
import Testing

/// The examples of the articles on observing, operating live changes, poolers, connections and schemas.
@Suite struct OperationTests {
    @Test(.shop) func observing() async throws {
        try await withShop { database, context, _ in
            // block: observe
            let observation = database.client.addObserver { event in
                print(event.sql, event.duration, event.rows ?? 0, event.place?.description ?? "")
            }
            // end
            // block: slow
            let slow = database.client.logSlowStatements(longerThan: .milliseconds(200), share: 0.1, withPlans: true)
            // end
            defer { slow.cancel() }
            // block: place
            let email = try await context.fetch(Email.self).where { $0.person != nil }.sorted { $0.id }.first()
            let owner = try await email?.person()  // email.person.object would not know this line
            // end
            #expect(owner != nil)
            observation.cancel()

            // block: record
            let (people, recorder) = try await recordingStatements {
                try await context.fetch("person").limit(10).all()
            }
            print(people.count, recorder.statements)
            // end
            #expect(recorder.statements.count == 1)

            // block: telemetry
            let telemetry = database.addTelemetry()
            // end
            telemetry.cancel()

            // block: metrics
            let metrics = database.client.metrics
            print(metrics.idle, metrics.inUse, metrics.waiting, metrics.timeouts, metrics.lost)
            // end
            #expect(metrics.opened > 0)

            // block: explain-plan
            print(try await context.fetch("book").where("category.name = %@", "Poetry").explain(analyze: true))
            // end

            // block: listen
            let events = try await database.client.listen(to: "orders")
            try await database.client.notify("orders", payload: "42")
            for await event in events {
                guard case .notification(let notification) = event else { continue }
                print(notification.payload)
                break
            }
            // end
        }
    }

    /// Compiled only.
    private func log() async throws {
        // block: logger
        var logger = Logger(label: "shop.database")
        logger.logLevel = .trace
        let database = try await Database.connect(logger: logger)
        // end
        _ = database
    }

    /// Compiled only: there is no such pooler.
    private func pooler() async throws {
        // block: pooler
        var configuration = try PostgresConfiguration(uri: "postgres://app@pooler.example.org:6432/shop")
        configuration.pooler = .transaction
        let database = try await Database.connect(configuration)
        // end
        // block: pooler-listener
        let direct = try PostgresConfiguration(uri: "postgres://app@db.example.org/shop")
        let listener = try PostgresListener(direct)
        let orders = try await listener.listen(to: "orders")
        // end
        _ = (database, orders)
    }

    /// Compiled only: there is no such pooler.
    private func listenerAddress() async throws {
        // block: listener-address
        let database = try await Database.connect(
            "postgres://app@pooler.example.org:6432/shop?pooler=transaction",
            tracking: Tracking.Options(wakeUp: .notify(uri: "postgres://app@db.example.org/shop")))
        // end
        _ = database
    }

    private struct Vault {
        func databasePassword() async throws -> String { "" }
    }

    /// Compiled only.
    private func connections(vault: Vault) async throws {
        // block: configuration
        var configuration = try PostgresConfiguration(uri: "postgres://app@db.example.org/shop")
        configuration.pool.maximumConnections = 20
        configuration.pool.acquireTimeout = .seconds(2)
        configuration.statementTimeout = .seconds(10)
        configuration.searchPath = ["shop", "public"]
        configuration.settings = ["lock_timeout": "2s"]
        configuration.passwordProvider = { .init(try await vault.databasePassword()) }
        let client = try await PostgresClient.connect(configuration)
        // end
        _ = client
    }

    @Test(.shop) func operatingLiveChanges() async throws {
        try await withShop { database, _, _ in
            // block: tracking
            try await database.tracking.install()
            try await database.tracking.enable("person", "email")
            if let status = try await database.tracking.status() {
                for table in status.tables { print(table.name, table.fault ?? "complete") }
            }
            // end
            #expect(try await database.tracking.status()?.tables.map(\.name.name) == ["email", "person"])

            // block: tracking-metrics
            let metrics = database.tracking.metrics
            print(metrics.backlog, metrics.oldestRecord, metrics.isListening, metrics.retries, metrics.gaps)
            // end
            #expect(metrics == Tracking.Metrics())
        }
    }

    /// Questions of operators to the server when the outbox grows, and the costs of a tracked table.
    @Test(.shop) func askingTheServerAboutLiveChanges() async throws {
        try await withShop { database, context, _ in
            try await database.tracking.install()
            try await database.tracking.enable("person")
            let batches = try await context.changes(of: ["person"], consumer: "search-index")
            let silent = try await database.query(
                """
                SELECT name, clock_timestamp() - acknowledged_at AS silent, hold FROM kindred.tracking_consumer ORDER BY acknowledged_at
                """)
            #expect(try silent.map { try $0.decode("name", as: String.self) } == ["search-index"])
            try await database.query(
                """
                SELECT pid, application_name, clock_timestamp() - xact_start AS open, query FROM pg_stat_activity
                WHERE xact_start < clock_timestamp() - interval '10 minutes' ORDER BY xact_start
                """)
            let plan = try await database.query(
                "EXPLAIN (ANALYZE, COSTS OFF) UPDATE person SET firstname = 'Jo' WHERE id = 1")
            let lines = try plan.map { try $0.decode(0, as: String.self) ?? "" }
            #expect(lines.contains { $0.contains("kindred_tracking_update") })
            #expect(try await database.tracking.dropConsumer("search-index"))
            withExtendedLifetime(batches) {}
        }
    }

    @Test(.shop) func rows() async throws {
        try await withShop { database, _, _ in
            let client = database.client
            // block: client
            let id = 1
            let rows = try await client.query("SELECT firstname, born FROM person WHERE id = \(id)")
            for row in rows { print(try row.decode("firstname", as: String.self) ?? "-", try row[1] ?? "-") }
            // end
            #expect(rows.count == 1)

            // block: client-executor
            let name = try await withTaskExecutorPreference(PostgresExecutor.shared) {
                try await client.query("SELECT surname FROM person WHERE id = \(id)").first?[0]
            }
            // end
            #expect(name != nil)

            // block: client-stream
            var total = 0
            for try await row in try client.stream("SELECT copies FROM stock") {
                total += try row.decode(0, as: Int.self) ?? 0
            }
            // end
            #expect(total > 0)

            // block: client-transaction
            try await client.withTransaction { _ in
                try await client.query("UPDATE stock SET copies = copies + 1 WHERE store_id = \(id)")
            }
            // end

            // block: client-copy
            var bytes = 0
            for try await line in try client.copyOut("COPY (SELECT * FROM title) TO STDOUT (FORMAT csv)") {
                bytes += line.count
            }
            // end
            #expect(bytes > 0)

            // block: client-copy-in
            let lines = AsyncStream<[UInt8]> { lines in
                for name in ["Baron", "Countess"] { lines.yield(Array("\"\(name)\"\n".utf8)) }
                lines.finish()
            }
            let count = try await client.copyIn("COPY title (name) FROM STDIN (FORMAT csv)", from: lines)
            // end
            #expect(count == 2)

            _ = try await client.query("CREATE TABLE old_title (LIKE title)")
            let archive = client
            // block: client-copy-across
            try await archive.copyIn("COPY old_title FROM STDIN", from: client.copyOut("COPY title TO STDOUT"))
            // end
            let copied = try await client.query("SELECT count(*) = 9 FROM old_title")
            #expect(try copied[0][0] == .bool(true))

            // block: client-error
            do {
                try await client.query("INSERT INTO title (name) VALUES (\("Dr."))")
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                print(error.server?.constraint ?? "-")  // title_name_key
            }
            // end
        }
    }

    @Test(.shop) func theSchemaByItself() async throws {
        let client = try await TestDatabase.current.connect().client
        // block: schema-read
        let schema = try await SchemaReader.read(from: client)
        for entity in schema.entities {
            print(entity.name, entity.attributes.map(\.name), entity.relationships.map(\.name))
        }
        // end
        #expect(schema.entities.count == 16)
    }

    /// Compiled only.
    private func codec(_ codec: PostgresCodec, _ client: PostgresClient) async throws {
        try await client.register(codec, forTypeNamed: "pg_lsn")
        // A setting that no pooler can drop, for the article on poolers.
        try await client.query("ALTER ROLE app SET lock_timeout = '2s'")
    }
}
