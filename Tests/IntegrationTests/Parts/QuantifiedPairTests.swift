import Kindred
import KindredTesting
import Testing

/// Formats ask for many rows and elements behind the helper's row: `ANY @through.tags == 'x'`.
@Suite(
    .database(
        .sql(
            partSchema + """

                ALTER TABLE membership ADD tags text[];
                UPDATE membership SET tags = (CASE person_id WHEN 1 THEN '{a}' WHEN 2 THEN '{a,b}' WHEN 3 THEN '{}' END)::text[];
                CREATE TABLE note (
                    id integer PRIMARY KEY, body text, project_id integer, person_id integer,
                    CONSTRAINT pair FOREIGN KEY (project_id, person_id) REFERENCES membership);
                COMMENT ON CONSTRAINT pair ON note IS '@kindred {"inverse": "notes"}';
                INSERT INTO note SELECT i, CASE i % 2 WHEN 0 THEN 'even' ELSE 'odd' END, 2, i / 3 + 1 FROM generate_series(1, 9) AS i;
                """)))
struct QuantifiedPairTests {
    private static let conditions: [(format: String, sql: String)] = [
        ("ANY @through.tags == 'a'", "'a' = ANY(m.tags)"),
        ("NONE @through.tags == 'b'", "('b' = ANY(m.tags)) IS NOT TRUE"),
        ("ALL @through.tags == 'a' AND @through.tags != nil", "m.tags <@ ARRAY['a']"),
        (
            "ANY @through.notes.body == 'even'",
            "EXISTS (SELECT 1 FROM note n WHERE n.person_id = m.person_id AND n.body = 'even')"
        ),
        (
            "NONE @through.notes.id > 4",
            "NOT EXISTS (SELECT 1 FROM note n WHERE n.person_id = m.person_id AND n.id > 4)"
        ),
        (
            "SUBQUERY(@through.notes, $n, $n.body == 'odd').@count == 2",
            "(SELECT count(*) FROM note n WHERE n.person_id = m.person_id AND n.body = 'odd') = 2"
        ),
    ]

    @Test func quantifiersReachBehindTheHelpersRow() async throws {
        try await withDatabase { database, context, other in
            let project = try await context.fetch("project").where("id == 2").one()
            for (format, sql) in Self.conditions {
                let expected = try await other.keys(
                    "SELECT person_id FROM membership m WHERE project_id = %1 AND \(sql) ORDER BY person_id",
                    of: project)
                #expect(!expected.isEmpty && expected.count < 6, "\(format)")
                let found = try await project.set(forKey: "members").where(format).sorted("id").all()
                #expect(found.keys == expected, "\(format)")
            }
        }
    }
}
