import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema =
    FaultWorld.schema + """

        CREATE TABLE event (id integer, bucket integer, value integer, PRIMARY KEY (id, bucket))
            PARTITION BY LIST (bucket);
        CREATE TABLE event_0 PARTITION OF event FOR VALUES IN (0);
        CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
        INSERT INTO event SELECT i, i % 2, i FROM generate_series(1, 6) AS i;
        """

/// Changes of tables themselves, and of their triggers.
@Suite(.database(.sql(schema), timeLimit: .seconds(600))) struct DefinitionFaultTests {
    private typealias Gap = Followers.Gap

    @Test("TRUNCATE") func truncate() async throws {
        try await withFollowers { followers, other in
            try await other.query("TRUNCATE leaf")
            try await followers.expectAgreement(after: Gap(.bulk, "leaf"))
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await other.query("TRUNCATE item CASCADE")
                try await other.query("INSERT INTO item VALUES (1, 7, 1), (101, 8, 2)")
            }
            try await followers.expectAgreement(after: Gap(.bulk, "item", "leaf"))
            try await other.query("UPDATE item SET value = 9 WHERE id = 101")
            try await followers.expectAgreement()
            try await other.undone { try await other.query("TRUNCATE item CASCADE") }
            try await followers.expectAgreement()
        }
    }

    @Test("Partition attach, detach, and move of a row between partitions") func partitions() async throws {
        try await withFollowers(tables: ["event"], list: "event", key: "id, bucket") { followers, other in
            try await other.query("UPDATE event SET bucket = 1, value = 20 WHERE id = 2")
            try await other.query("INSERT INTO event_1 VALUES (100, 1, 100)")
            try await followers.expectAgreement()
            try await other.query("CREATE TABLE event_2 (value integer, id integer NOT NULL, bucket integer NOT NULL)")
            try await other.query("INSERT INTO event_2 VALUES (7, 200, 2), (8, 201, 2)")
            try await followers.expectAgreement()
            try await other.query("ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES IN (2)")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "event"))
            try await other.query("UPDATE event SET bucket = 2 WHERE id IN (1, 100)")
            try await other.query("UPDATE event_2 SET value = 70 WHERE id = 200")
            try await other.query("DELETE FROM event_2 WHERE id = 201")
            try await followers.expectAgreement()
            try await other.query("ALTER TABLE event DETACH PARTITION event_1")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "event"))
            // No rows of the table any more.
            try await other.query("INSERT INTO event_1 VALUES (300, 1, 1)")
            try await other.query("UPDATE event_1 SET value = 50 WHERE id = 3")
            try await followers.expectAgreement()
            try await other.query("ALTER TABLE event DETACH PARTITION event_2 CONCURRENTLY")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "event"))
            try await other.query("DROP TABLE event_0")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "event"))
            try await other.query("CREATE TABLE event_3 PARTITION OF event DEFAULT")
            try await other.query("INSERT INTO event VALUES (400, 9, 4)")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "event"))
        }
    }

    @Test("Table rename") func rename() async throws {
        try await withLive("item", "leaf", "mark") { database, context, other in
            var changes = try await context.changes(of: "item", "leaf").makeAsyncIterator()
            var updates = try await context.fetch("item").sorted("id").live().makeAsyncIterator()
            var object: DatabaseObject? = try await database.makeContext(tracking: .automatic).fetch("item")
                .sorted("id").all()[0]
            _ = try await updates.update()
            try await other.withTransaction { _ in
                try await other.query("UPDATE leaf SET item_id = 2 WHERE id = 1")
                try await other.query("ALTER TABLE item RENAME TO thing")
            }
            // Loaded rows are not found by the table's old name.
            await expectError(.schemaChanged) { try await database.tracking.catchUp() }
            #expect(
                try await changes.next().map(Seen.init)
                    == .changes(inserted: [], updated: ["leaf 1": ["item_id"]], deleted: []))
            #expect(try await changes.next().map(Seen.init) == .everything(.schemaChanged, ["item"]))
            // One of its tables cannot be followed any more.
            await expectError(.schemaChanged) { _ = try await changes.next() }
            // Questions for the old name fail, and say why.
            await expectError(.schemaChanged) { _ = try await updates.update() }
            await expectError(.schemaChanged) { _ = try await object?.context.fetch("item").all() }
            object = nil
            try await eventually("the model stays") { (try? database.schema.entity(named: "thing")) != nil }
            var followers = try await Followers(database, seenBy: other, tables: ["thing", "leaf"], list: "thing")
            try await other.query("UPDATE thing SET value = 70 WHERE id = 1")
            try await other.query("DELETE FROM thing WHERE id = 2")
            try await followers.expectAgreement()
        }
    }

    @Test("Column add and drop") func columns() async throws {
        try await withFollowers { followers, other in
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await other.query("ALTER TABLE item ADD COLUMN note text DEFAULT 'x'")
                try await other.query("INSERT INTO item VALUES (101, 1, 1, 'y')")
            }
            try await followers.expectAgreement(after: Gap(.schemaChanged, "item"))
            try await other.query("UPDATE item SET note = 'z', value = 40 WHERE id = 1")
            try await followers.expectAgreement()
            try await other.query("ALTER TABLE item DROP COLUMN note")
            try await other.query("UPDATE item SET value = 41 WHERE id = 1")
            try await followers.expectAgreement(after: Gap(.schemaChanged, "item"))
            try await other.query("UPDATE item SET value = 42 WHERE id = 1")
            try await other.query("DELETE FROM item WHERE id = 100")
            try await followers.expectAgreement()
        }
    }

    @Test("DROP and CREATE of a tracked table in one transaction", arguments: [true, false])
    func madeAnew(hasEventTriggers: Bool) async throws {
        try await withFollowers { followers, other in
            if !hasEventTriggers { try await other.dropEventTriggers() }
            try await other.withTransaction { _ in
                try await other.query("UPDATE leaf SET item_id = 2 WHERE id = 1")
                try await other.query("DROP TABLE item CASCADE")
                try await other.query(
                    """
                    CREATE TABLE item (
                        id integer PRIMARY KEY, value integer, parent_id integer REFERENCES parent ON DELETE CASCADE)
                    """)
                try await other.query("INSERT INTO item VALUES (1, 10, 2), (100, 11, 1)")
            }
            try await other.query("INSERT INTO item VALUES (101, 1, 1)")
            // As another process does that reads.
            if !hasEventTriggers { try await other.query("SELECT FROM kindred.tracking_check()") }
            try await followers.expectAgreement(after: Gap(.schemaChanged, "item"))
            try await other.query("INSERT INTO item VALUES (102, 1, 1)")
            try await other.query("UPDATE item SET value = 20 WHERE id = 1")
            try await followers.expectAgreement()
        }
    }

    @Test("session_replication_role = replica") func replicaRole() async throws {
        try await withFollowers { followers, other in
            try await other.withTransaction { _ in
                try await other.query("SET LOCAL session_replication_role = replica")
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await other.query("UPDATE item SET value = 50 WHERE id = 1")
                try await other.query("DELETE FROM leaf WHERE id = 2")
            }
            try await followers.expectAgreement()
            try await other.withTransaction { _ in
                try await other.query("SET LOCAL session_replication_role = replica")
                try await other.query("TRUNCATE leaf")
            }
            try await followers.expectAgreement(after: Gap(.bulk, "leaf"))
        }
    }

    @Test("DISABLE TRIGGER ALL", arguments: [true, false])
    func disabledTriggers(hasEventTriggers: Bool) async throws {
        try await withFollowers { followers, other in
            if !hasEventTriggers { try await other.dropEventTriggers() }
            try await other.query("ALTER TABLE item DISABLE TRIGGER ALL")
            try await followers.expectAgreement(
                after: hasEventTriggers ? Gap(.schemaChanged, "item") : nil, allowing: [.unrecorded])
            for id in Int32(100)..<102 {
                try await other.query("INSERT INTO item VALUES (\(id), 1, 1)")
                try await other.query("UPDATE item SET value = \(id) WHERE id = 1")
                // As a reader does as long as a trigger is disabled. A known gap is told every ten seconds.
                try await other.query("UPDATE kindred.tracking_table SET gap_at = gap_at - interval '1 minute'")
                try await other.query("SELECT FROM kindred.tracking_check()")
                try await followers.expectAgreement(after: Gap(.unrecorded, "item"))
            }
            try await other.query("DELETE FROM item WHERE id = 101")
            try await other.query("ALTER TABLE item ENABLE TRIGGER ALL")
            if !hasEventTriggers { try await other.query("SELECT FROM kindred.tracking_check()") }
            let said = try await followers.expectAgreement(allowing: [.schemaChanged, .unrecorded])
            #expect(said.map(\.entities) == [["item"]])
            try await other.query("UPDATE item SET value = 60 WHERE id = 1")
            try await followers.expectAgreement()
        }
    }
}

extension PostgresClient {
    /// Makes the database of a role that may not make event triggers.
    fileprivate func dropEventTriggers() async throws {
        try await query("DROP EVENT TRIGGER IF EXISTS kindred_tracking_ddl")
        try await query("DROP EVENT TRIGGER IF EXISTS kindred_tracking_dropped")
    }
}
