import Kindred
import KindredTesting
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
            CREATE TABLE note (id integer PRIMARY KEY, label_id ext.ltree UNIQUE REFERENCES label);
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
            INSERT INTO note VALUES (0, 't.k2'), (3, 't.k0');
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
}
