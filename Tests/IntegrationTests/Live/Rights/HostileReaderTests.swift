import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    GRANT SELECT ON person TO PUBLIC;
    """

/// A reader that means harm: functions that it may call take nothing from other readers, and hold up no writer.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct HostileReaderTests {
    /// Lends a role that may read changes, and the database that tracks them.
    private func withReader(
        _ body: (_ role: HostileRole, _ database: Database, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await HostileRole.lend { role in
            try await withDatabase { database, _, other in
                try await database.tracking.install(readers: [role.name])
                try await database.tracking.enable("person")
                try await body(role, database, other)
            }
        }
    }

    private func expectRefusal(
        _ state: String, _ client: PostgresClient, _ sql: SQL, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await expectPostgresError(.server, sourceLocation: sourceLocation) { try await client.query(sql) }
        #expect(error?.sqlState?.rawValue == state, "\(sql)", sourceLocation: sourceLocation)
    }

    // MARK: Consumers

    @Test func aConsumerOfAnotherRoleIsOutOfReach() async throws {
        try await withReader { role, database, other in
            _ = try await database.makeContext().changes(of: ["person"], consumer: "index", hold: .seconds(86_400))
            let row: SQL = "SELECT c::text FROM kindred.tracking_consumer AS c"
            let before = try await other.value(row)
            let cursor = try await other.value("SELECT cursor::text FROM kindred.tracking_consumer")
            let place = cursor?.description ?? ""
            await expectRefusal("KT004", role.client, "SELECT kindred.tracking_consumer_begin('index', '0')")
            await expectRefusal(
                "KT004", role.client,
                """
                SELECT kindred.tracking_acknowledge('index', \(place)::text::pg_snapshot, \(place)::text::pg_snapshot,
                    gen_random_uuid())
                """)
            await expectRefusal("KT004", role.client, "SELECT kindred.tracking_consumer_drop('index')")
            await expectRefusal(
                "42501", role.client, "SELECT kindred.tracking_consumer_give('index', current_user::regrole)")
            #expect(try await other.value(row) == before)
            let refused = await expectError(.accessDenied) { try await Tracking(role.client).dropConsumer("index") }
            #expect(refused?.message.contains("index") == true)
        }
    }

    @Test func theInstallerHandsAConsumerOnAndDropsIt() async throws {
        try await withReader { role, database, other in
            _ = try await database.makeContext().changes(of: ["person"], consumer: "index")
            #expect(try await database.tracking.giveConsumer("index", to: role.name))
            try await role.client.query("SELECT kindred.tracking_consumer_begin('index')")
            try await role.client.query("SELECT kindred.tracking_consumer_begin('theirs')")
            #expect(try await database.tracking.dropConsumer("theirs"))
            #expect(try await database.tracking.giveConsumer("theirs", to: role.name) == false)
            _ = other
        }
    }

    /// Two roles that take turns, so that their passwords can be renewed.
    @Test func membersOfTheNamedRoleGoOn() async throws {
        try await withReader { role, database, other in
            let group = "g_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: group)")
            await expectRefusal(
                "KT004", role.client, "SELECT kindred.tracking_consumer_begin('index', '1 day', \(group)::name)")
            try await other.query("GRANT \(identifier: group) TO \(identifier: role.name)")
            let ours = try await Database.connect(
                other.configuration, tracking: Tracking.Options(wakeUp: .poll, consumerOwner: group))
            _ = try await ours.makeContext().changes(of: ["person"], consumer: "index")
            await ours.close()
            try await role.client.query("SELECT kindred.tracking_consumer_begin('index', '1 day')")
            #expect(try await other.value("SELECT owner::text FROM kindred.tracking_consumer") == .string(group))
            #expect(try await database.tracking.dropConsumer("index"))
            try await other.query("DROP ROLE \(identifier: group)")
        }
    }

    @Test func aHoldIsCutAndNoneMakesReadersFail() async throws {
        try await withReader { role, database, other in
            for (index, hold) in ["100000 years", "178000000 years", "294247 years", "-5 days"].enumerated() {
                try await role.client.query(
                    "SELECT kindred.tracking_consumer_begin(\("c\(index)")::text, \(hold)::text::interval)")
            }
            #expect(
                try await other.value(
                    "SELECT max(hold) = '30 days' AND min(hold) = '0' FROM kindred.tracking_consumer") == .bool(true))
            let status = try #require(try await database.tracking.status())
            #expect(status.longestHold == .seconds(30 * 86_400) && status.cutConsumers == ["c0", "c1", "c2"])
            #expect(try await Tracking(role.client).status()?.cutConsumers == ["c0", "c1", "c2"])
            try await database.tracking.install(longestHold: .seconds(86_400))
            try await role.client.query("SELECT kindred.tracking_consumer_begin('c0', '2 days')")
            #expect(
                try await other.value("SELECT hold = '1 day' FROM kindred.tracking_consumer WHERE name = 'c0'")
                    == .bool(true))
            try await other.query("SELECT kindred.tracking_attend()")
        }
    }

    // MARK: Announcements

    @Test func theLocksOfAnotherRolesTransactionCannotBeAnnounced() async throws {
        try await withReader { role, _, other in
            try await other.withConnection { holder in
                _ = try await holder.query("BEGIN")
                let running = try await holder.query("SELECT pg_current_xact_id()::text, pg_backend_pid()")[0]
                let transaction = try running.decode(0, as: String.self) ?? ""
                let process = try running.decode(1, as: Int32.self) ?? 0
                let announcement: (Int32, String) -> SQL = { process, note in
                    """
                    SELECT kindred.tracking_announce('person'::regclass::oid, 'uri', \(transaction)::text::xid8, \(process)::int4,
                        \(note)::text)
                    """
                }
                await expectRefusal("42501", role.client, announcement(process, "forged"))
                let own = try await role.client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self) ?? 0
                await expectRefusal("42501", role.client, announcement(own, "forged"))
                // By the same role over another connection, as the library does.
                _ = try await role.admin.query(announcement(process, "real"))
                // Another's note of its own transaction keeps none from being made.
                #expect(
                    try await role.client.values("SELECT note FROM kindred.tracking_locks('person'::regclass)") == [
                        "real"
                    ])
                try await role.client.query(
                    "SELECT kindred.tracking_withdraw(\(transaction)::text::xid8, ARRAY['uri'])")
                #expect(
                    try await role.client.values("SELECT note FROM kindred.tracking_locks('person'::regclass)") == [
                        "real"
                    ])
                _ = try await holder.query("ROLLBACK")
            }
        }
    }

    // MARK: Emptying

    /// Whatever it does with its transaction: writers write, readers read, and nothing is lost.
    @Test func aTurnThatAReaderHoldsOpenKeepsNobodyOut() async throws {
        try await withReader { role, database, other in
            var reader = try await ChangeReader(database.client)
            let rotate: SQL = "SELECT kindred.tracking_rotate()"
            for isKept in [false, true] {
                try await eventually("the outbox is not settled") {
                    _ = try await other.query(rotate)
                    return try await other.value("SELECT settled_at IS NOT NULL FROM kindred.tracking_state") == true
                }
                // Transactions of other databases may have ended; the last cursor has not seen them.
                #expect(try await reader.read() == [])
                try await other.query(
                    """
                    UPDATE kindred.tracking_state SET turned_at = turned_at - interval '2 hours',
                        settled_at = settled_at - interval '2 hours'
                    """)
                let id: Int32 = isKept ? 2 : 1
                try await role.client.withConnection { held in
                    _ = try await held.query("BEGIN")
                    let answer = try await held.query(rotate)
                    #expect(try answer[0].decode(0, as: String.self) == "turned")
                    try await other.withConnection { writer in
                        _ = try await writer.query("SET lock_timeout = '2s'")
                        _ = try await writer.query("INSERT INTO person VALUES (\(id))")
                    }
                    #expect(try await reader.read() == [ChangeRecord("I", "person", ["\(id)"])])
                    let busy = try await database.client.query(rotate)
                    #expect(try busy[0].decode(0, as: String.self) == "busy")
                    if isKept { _ = try await held.query("COMMIT") } else { _ = try await held.query("ROLLBACK") }
                }
                try await other.query("INSERT INTO person VALUES (\(id + 10))")
                #expect(try await reader.read() == [ChangeRecord("I", "person", ["\(id + 10)"])])
                #expect(reader.refusal == nil)
            }
        }
    }

    // MARK: Sleep

    @Test func sleepEndsAfterAMinuteAndIsItsOwn() async throws {
        try await withReader { role, _, other in
            let sleeper: SQL = """
                SELECT pg_sequence_last_value('kindred.tracking_sleeper'::regclass) - extract(epoch FROM clock_timestamp()) * 1000
                    BETWEEN 1 AND 60000
                """
            try await role.client.query("SELECT kindred.tracking_sleep(2147483647)")
            #expect(try await other.value(sleeper) == .bool(true))
            let token = try await other.query("SELECT kindred.tracking_sleep(60000)")[0].decode(0, as: Int64.self) ?? 0
            // Neither by a number that it guesses nor by one of its own.
            try await role.client.query("SELECT kindred.tracking_wake(\(token))")
            try await role.client.query("SELECT kindred.tracking_wake(kindred.tracking_sleep(0))")
            try await role.client.query("SELECT kindred.tracking_wake(kindred.tracking_sleep(2147483647))")
            #expect(try await other.value(sleeper) == .bool(true))
            try await other.query("SELECT kindred.tracking_wake(\(token))")
            // The hostile one's first sleep goes on, and ends by itself.
            #expect(try await other.value("SELECT count(*) FROM kindred.tracking_sleep") == .integer(1))
        }
    }

    @Test func notificationsInVainAreFollowedSeldom() async throws {
        try await withReader { role, database, _ in
            var changes = try await database.makeContext().changes(of: "person").makeAsyncIterator()
            try await role.admin.query("INSERT INTO person VALUES (1)")
            _ = try await changes.next()
            let before = database.tracking.metrics.wakeUps
            let start = MonotonicTime.now
            for _ in 0..<600 { try await role.client.query("SELECT pg_notify('kindred_tracking', '')") }
            let seconds = MonotonicTime.now.since(start) / .seconds(1)
            let wakeUps = database.tracking.metrics.wakeUps - before
            #expect(Double(wakeUps) <= 25 * (seconds + 1), "\(wakeUps) in \(seconds) s")
        }
    }

    // MARK: Looking after tables

    /// It tells, and takes no lock: not even where its transaction stays open.
    @Test func aCheckOfAReaderMendsNothingAndKeepsNobodyOut() async throws {
        try await withReader { role, _, other in
            try await other.query("ALTER EVENT TRIGGER kindred_tracking_ddl DISABLE")
            try await other.query("DROP TRIGGER kindred_tracking_insert ON person")
            try await role.client.withConnection { held in
                _ = try await held.query("BEGIN")
                let faults = try await held.query("SELECT fault FROM kindred.tracking_check()")
                #expect(try faults[0].decode(0, as: String.self) == "trigger missing")
                // Writers and another reader go on meanwhile, which is told, too; the installer mends.
                try await other.query("INSERT INTO person VALUES (1)")
                try await other.withConnection { connection in
                    _ = try await connection.query("SET lock_timeout = '2s'")
                    _ = try await connection.query("SELECT FROM kindred.tracking_check()")
                }
                _ = try await held.query("ROLLBACK")
            }
            #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == [])
            #expect(
                try await other.value("SELECT count(*) FROM kindred.tracking_outbox_0 WHERE reason = 'trigger missing'")
                    == .integer(1))
        }
    }

    /// Numbers of locks that every role may take, and settings that every role may make, decide nothing.
    @Test func advisoryLocksAndSettingsDecideNothing() async throws {
        try await withReader { role, database, other in
            try await role.client.withConnection { held in
                _ = try await held.query(
                    "SELECT pg_advisory_lock(7739838812307940419), pg_advisory_lock(7739838812307940436)")
                _ = try await held.query("SET kindred.tracking_mends = 'on'")
                try await database.tracking.install()
                try await other.query("ALTER EVENT TRIGGER kindred_tracking_ddl DISABLE")
                try await other.query("DROP TRIGGER kindred_tracking_insert ON person")
                #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == [])
                try await other.query("ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS")
            }
            // The owner of a table that would hide a changed column from readers.
            try await other.query("CREATE SCHEMA theirs AUTHORIZATION \(identifier: role.name)")
            try await role.client.query("CREATE TABLE theirs.item (id integer PRIMARY KEY, note text)")
            try await database.refreshSchema()
            try await database.tracking.enable("theirs.item")
            let count: SQL = """
                SELECT count(*) FROM kindred.tracking_outbox_0 WHERE op = 'S' AND relation = 'theirs.item'::regclass
                """
            let before = try await other.value(count)
            try await role.client.withConnection { connection in
                _ = try await connection.query("SET kindred.tracking_mends = 'on'")
                _ = try await connection.query("ALTER TABLE theirs.item RENAME note TO remark")
            }
            #expect(try await other.value(count) != before)
        }
    }
}
