import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY);
    GRANT SELECT, INSERT ON person TO PUBLIC;
    """

/// Each call that a reader may make, in a transaction that stays open: writers, other readers and the installer go on meanwhile.
@Suite(.database(.sql(schema), timeLimit: .seconds(300))) struct HeldTransactionTests {
    private static let calls = [
        "tracking_identity()", "tracking_attend()", "tracking_begin()", "tracking_flush()",
        "tracking_sleep(2147483647)",
        "tracking_wake(1)", "tracking_read('1:1:')", "tracking_rotate()", "tracking_check()", "tracking_tables()",
        "tracking_status()", "tracking_consumer_begin('held', '1 day')",
        "tracking_acknowledge('held', '1:1:', '2:2:', gen_random_uuid())", "tracking_consumer_drop('held')",
        "tracking_announce('person'::regclass, 'held', pg_current_xact_id(), pg_backend_pid(), 'held')",
        "tracking_withdraw(pg_current_xact_id(), '{held}')", "tracking_locks('person'::regclass)",
    ]

    /// The calls of another reader, each in a transaction of its own.
    private static let others = [
        "tracking_identity()", "tracking_attend()", "tracking_begin()", "tracking_flush()",
        "tracking_wake(kindred.tracking_sleep(1000))", "tracking_read('1:1:')", "tracking_rotate()", "tracking_check()",
        "tracking_tables()", "tracking_status()", "tracking_consumer_begin('own', '1 day')",
        "tracking_acknowledge('own', '1:1:', '2:2:', gen_random_uuid())", "tracking_consumer_drop('own')",
        "tracking_locks('person'::regclass)",
    ]

    /// Where all is as usual, and where no reader was there for long, a trigger is missing and the outboxes are due.
    @Test(arguments: calls, [false, true]) func aTransactionThatStaysOpenKeepsNobodyOut(_ call: String, isLate: Bool)
        async throws
    {
        try await HostileRole.lend { role in
            try await HostileRole.lend { reader in
                try await withDatabase { database, _, other in
                    try await database.tracking.install(readers: [role.name, reader.name])
                    try await database.tracking.enable("person")
                    if isLate {
                        try await other.query("SELECT kindred.tracking_rotate()")
                        try await other.query("SELECT setval('kindred.tracking_watch', 1)")
                        try await other.query("DROP TRIGGER kindred_tracking_update ON person")
                        try await other.query(
                            """
                            UPDATE kindred.tracking_state SET turned_at = turned_at - interval '2 hours',
                                settled_at = settled_at - interval '2 hours'
                            """)
                    }
                    try await role.client.withConnection { held in
                        _ = try await held.query("BEGIN")
                        // Some are refused, which leaves nothing behind.
                        _ = try? await held.query("SELECT kindred.\(unsafeRaw: call)")
                        try await expectProgress(reader.client, Self.others)
                        try await expectProgress(other, ["tracking_check()", "tracking_enable('person')"])
                        try await database.tracking.install()
                        _ = try await held.query("ROLLBACK")
                    }
                }
            }
        }
    }

    /// Expects that a writer and some calls are not waited for.
    private func expectProgress(_ client: PostgresClient, _ calls: [String]) async throws {
        try await client.withConnection { connection in
            _ = try await connection.query("SET lock_timeout = '5s'")
            _ = try await connection.query("INSERT INTO person VALUES ((random() * 1000000000)::integer)")
            for call in calls { _ = try await connection.query("SELECT kindred.\(unsafeRaw: call)") }
        }
    }
}
