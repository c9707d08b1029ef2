import KindredPostgres
import KindredTesting
import Testing

/// The features of a server, found by trying them.
@Suite struct CapabilityTests {
    /// The text that the statements hold by which a feature is tried.
    private static let texts: [(capability: ServerCapability, text: String)] = [
        (.listen, "LISTEN kindred_probe"), (.statementTriggers, "REFERENCING NEW TABLE"),
        (.eventTriggers, "EVENT TRIGGER"),
        (.deferrableKeys, "kindred_probe DEFERRABLE"), (.savepoints, "SAVEPOINT"), (.skipLocked, "SKIP LOCKED"),
        (.xmin, "xmin"),
        (.advisoryLocks, "pg_try_advisory_lock"), (.binaryCopy, "FORMAT binary"), (.pipelines, "kindred_pipeline"),
        (.positions, "pg_current_wal_flush_lsn"),
    ]

    private static let left: SQL = """
        SELECT (SELECT count(*) FROM pg_class WHERE relname = 'kindred_probe')
            + (SELECT count(*) FROM pg_proc WHERE proname = 'kindred_probe')
            + (SELECT count(*) FROM pg_event_trigger WHERE evtname = 'kindred_probe')
            + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND objid::bigint + (classid::bigint << 32)
                BETWEEN 7739838900000000000 AND 7739838900100000000)
        """

    @Test(.database) func postgreSQLHasAllOfThemAndIsAskedOnce() async throws {
        try await withClient { client in
            let (found, recorder) = try await recordingStatements { try await client.capabilities }
            for capability in ServerCapability.allCases { #expect(found[capability] == .yes, "\(capability)") }
            #expect(recorder.statements.count == 32, "\(recorder.statements)")
            #expect(client.metrics.opened == 1)
            let again = try await recordingStatements { try await client.capabilities }
            #expect(again.0 == found && again.1.all.isEmpty)
            try await eventually("nothing remains") { try await client.value(Self.left) == 0 }
        }
    }

    /// The transaction around the call goes on, and its limit of one connection does not matter.
    @Test(.database) func theyAreAskedInATransactionToo() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { _ in
                try await client.query("CREATE TABLE kept (id integer)")
                #expect(try await client.capabilities[.savepoints] == .yes)
                try await client.query("INSERT INTO kept VALUES (1)")
            }
            #expect(try await client.value("SELECT count(*) FROM kept") == 1)
        }
    }

    @Test(.database, arguments: texts)
    func eachMayBeMissing(capability: ServerCapability, text: String) async throws {
        let proxy = try RefusingProxy(refusing: text)
        try await lend(proxy.configuration) { client in
            let found = try await client.capabilities
            for other in ServerCapability.allCases {
                let expected: ServerCapabilities.Answer =
                    other == capability ? .no(reason: "it is not supported") : .yes
                #expect(found[other] == expected, "\(other)")
            }
            #expect(proxy.count > 0)
        }
    }

    @Test(.database) func allAreTried() {
        #expect(Set(Self.texts.map(\.capability)) == Set(ServerCapability.allCases))
    }

    @Test(.database) func aRoleMayLackThem() async throws {
        let role = "lacking_\(UInt32.random(in: 0..<UInt32.max))"
        try await withClient { admin in
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await admin.runScript(
                """
                REVOKE EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) FROM PUBLIC;
                REVOKE EXECUTE ON FUNCTION pg_current_wal_flush_lsn() FROM PUBLIC;
                """)
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            let missing: Set<ServerCapability> = [.advisoryLocks, .positions, .eventTriggers]
            try await lend(configuration) { client in
                let found = try await client.capabilities
                for capability in ServerCapability.allCases {
                    guard missing.contains(capability) else {
                        #expect(found[capability] == .yes, "\(capability)")
                        continue
                    }
                    guard case .no(let reason) = found[capability] else {
                        Issue.record("\(capability): \(found[capability])")
                        continue
                    }
                    #expect(reason.hasPrefix("permission denied"), "\(reason)")
                }
            }
            // Without a temporary table the catalog tells some, and the rest is not known.
            try await admin.runScript(
                "DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$")
            try await lend(configuration) { client in
                let found = try await client.capabilities
                #expect(found[.skipLocked] == .yes && found[.xmin] == .yes && found[.savepoints] == .yes)
                for capability in [ServerCapability.statementTriggers, .deferrableKeys] {
                    guard case .unknown(let reason) = found[capability] else {
                        Issue.record("\(capability): \(found[capability])")
                        continue
                    }
                    #expect(reason.hasPrefix("permission denied to create temporary tables"), "\(reason)")
                }
            }
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    @Test(.database, .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func aPoolerOfTransactionsHasNoSessions() async throws {
        let pooler = try await TestPooler(mode: .transaction)
        let client = try await pooler.connect()
        try await lend(client) { (client) async throws in
            let found = try await client.capabilities
            for capability in ServerCapability.allCases {
                let isOfSession = capability == .listen || capability == .advisoryLocks
                #expect((found[capability] == .yes) != isOfSession, "\(capability)")
            }
        }
        withExtendedLifetime(pooler) {}
    }
}
