import Kindred
import KindredTesting
import TestSupport
import Testing

/// Members that are marked as deleted by a request, after a transaction that changed their set was rolled back.
@Suite(
    .database(
        .sql(
            """
            CREATE SCHEMA ext;
            CREATE EXTENSION ltree SCHEMA ext;
            CREATE TABLE label (id ext.ltree PRIMARY KEY, deleted_at timestamptz);
            CREATE TABLE topic (id text PRIMARY KEY, deleted_at timestamptz);
            CREATE TABLE note (id integer PRIMARY KEY, extra text, label_id ext.ltree UNIQUE REFERENCES label);
            CREATE TABLE line (id integer PRIMARY KEY, label_id ext.ltree NOT NULL CONSTRAINT label__lines REFERENCES label,
                topic_id text NOT NULL CONSTRAINT topic__lines REFERENCES topic, text text, deleted_at timestamptz);
            CREATE TABLE note_label (note_id integer NOT NULL CONSTRAINT labels REFERENCES note,
                label_id ext.ltree NOT NULL CONSTRAINT notes REFERENCES label ON DELETE CASCADE ON UPDATE CASCADE,
                PRIMARY KEY (note_id, label_id));
            CREATE TABLE note_topic (note_id integer NOT NULL CONSTRAINT topics REFERENCES note,
                topic_id text NOT NULL CONSTRAINT notes REFERENCES topic ON DELETE CASCADE ON UPDATE CASCADE,
                PRIMARY KEY (note_id, topic_id));
            COMMENT ON TABLE label IS '@kindred {"softDelete": "deleted_at"}';
            COMMENT ON TABLE topic IS '@kindred {"softDelete": "deleted_at"}';
            COMMENT ON TABLE line IS '@kindred {"softDelete": "deleted_at"}';
            INSERT INTO label VALUES ('t.k0', now()), ('t.k1', NULL), ('t.k2', NULL), ('t.k3', NULL);
            INSERT INTO topic SELECT id::text, deleted_at FROM label;
            INSERT INTO note VALUES (0, NULL, 't.k2'), (3, NULL, 't.k0');
            INSERT INTO note_label VALUES (0, 't.k3'), (3, 't.k0'), (3, 't.k1');
            INSERT INTO note_topic SELECT note_id, label_id::text FROM note_label;
            INSERT INTO line VALUES (1, 't.k2', 't.k2', 'A', NULL), (2, 't.k1', 't.k1', 'A', NULL);
            """)))
struct MarkedMemberTests {
    enum Way: CaseIterable {
        case object, condition, closureOverLines
    }

    @Test(arguments: ["label", "topic"], Way.allCases)
    func aRollbackKeepsNoCount(entity: String, way: Way) async throws {
        try await withDatabase { _, context, _ in
            let note = try await context.get("note", 3)
            let set = try await note.set(forKey: "\(entity)s")
            let (first, other) = (try await context.get(entity, "t.k1"), try await context.get(entity, "t.k3"))
            #expect(try await set.count == 1)
            #expect(try await set.objects == [first])
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await set.set([other])
                    #expect(try await set.count == 1)
                    throw Undone()
                }
            }
            #expect(try await set.count == 1)
            #expect(try await set.objects == [first])
            switch way {
            case .object: try await context.delete(first)
            case .condition: try await context.fetch(entity).where("id = %@", "t.k1").delete()
            case .closureOverLines: try await context.fetch(entity).where("NOT (NONE lines.text != %@)", "B").delete()
            }
            #expect(try await set.count == 0)
            #expect(try await set.objects.isEmpty)
        }
    }

    /// What was read, when, and what the transaction did: by chance.
    @Test(arguments: 0..<12) func countsAreRightAfterAnyRollback(seed: UInt64) async throws {
        try await withDatabase { _, context, other in
            var random = SeededGenerator(seed: seed)
            let notes = try await context.fetch("note").sorted("id").all()
            let sets = try await ["labels", "topics"].asyncMap { try await notes[1].set(forKey: $0) }
            var log: [String] = []
            func look(_ step: String) async throws {
                for (set, helper) in zip(sets, ["label", "topic"]) {
                    let wanted = try await other.value(
                        """
                        SELECT count(*) FROM \(identifier: "note_\(helper)") AS h JOIN \(identifier: helper) AS d
                        ON d.id::text = h.\(identifier: "\(helper)_id")::text WHERE h.note_id = 3 AND d.deleted_at IS NULL
                        """)
                    let way = Int.random(in: 0..<4, using: &random)
                    log.append("look \(way)")
                    if way & 1 == 0 {
                        #expect(
                            .integer(Int64(try await set.objects.count)) == wanted, "\(helper) after \(step): \(log)")
                    }
                    if way > 0 {
                        #expect(.integer(Int64(try await set.count)) == wanted, "\(helper) after \(step): \(log)")
                    }
                }
            }
            let labels = try await context.fetch("label").all()
            try await look("start")
            struct Undone: Error {}
            func act(_ depth: Int) async throws {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let choice = Int.random(in: 0..<10, using: &random)
                    log.append("\(depth): \(choice)")
                    switch choice {
                    case 0:
                        let label = try await context.get(
                            "label", ["t.k1", "t.k2", "t.k3"].randomElement(using: &random) ?? "")
                        try await notes[0].setValue(label, forKey: "label")
                    case 1 where depth < 2:
                        try? await context.transaction {
                            try await act(depth + 1)
                            throw Undone()
                        }
                    case 2:
                        let label = try await context.get("label", "t.k3")
                        try await sets[0].set([label])
                    case 3:
                        let topic = try await context.get("topic", "t.k3")
                        try await sets[1].set([topic])
                    case 4: _ = try await context.fetch("line").where("label.id = %@", "t.k1").update(["text": "A"])
                    case 6:
                        notes[0]["extra"] = "x"
                        if Bool.random(using: &random) { try await context.save() }
                    case 7:
                        let line = try await context.get("line", 1)
                        try await line.setValue(101, forKey: "id")
                    case 8:
                        let line = try await context.get("line", 2)
                        try await line.setValues(["text": "C"])
                    case 5: _ = try await notes[0].object(forKey: "label")
                    default:
                        _ = try await sets[0].objects
                        _ = try await sets[1].count
                    }
                }
            }
            try? await context.transaction {
                try await act(0)
                throw Undone()
            }
            log.append("undone")
            if Bool.random(using: &random) { try await look("undoing") }
            for entity in ["label", "topic"] {
                try await context.fetch(entity).where("NOT (NONE lines.text != %@)", "B").delete()
            }
            try await look("deletion")
            withExtendedLifetime(labels) {}
        }
    }
}
