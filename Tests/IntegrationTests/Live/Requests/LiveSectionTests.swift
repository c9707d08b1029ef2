import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE SCHEMA ext;
    CREATE EXTENSION citext SCHEMA ext;
    CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    CREATE DOMAIN word AS text COLLATE loose CHECK (length(VALUE) < 9);
    CREATE TABLE item (
        id integer PRIMARY KEY, code ext.citext, name text COLLATE loose, label word, price numeric, ratio double precision,
        span interval);
    INSERT INTO item SELECT n, 'a', 'é', 'x', 1.0, 'NaN', '24:00' FROM generate_series(1, 4) AS n;
    """

/// Sections of values that are equal to the server and have several spellings.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveSectionTests {
    private static let spellings: [String: [String]] = [
        "code": ["a", "A", "b", "B", "c"], "name": ["e", "E", "é", "É", "f", "F"], "label": ["x", "X", "y", "ý"],
        "price": ["1", "1.0", "1.00", "2", "NaN"], "ratio": ["0", "-0", "1", "NaN", "Infinity"],
        "span": ["1 day", "24:00", "1 mon", "30 days", "00:00"],
    ]

    /// The sections are those of SQL, and the differences lead from each list of sections to the next.
    @Test(arguments: spellings.keys.sorted()) func sectionsAreOfEqualValues(key: String) async throws {
        try await withLive("item") { _, context, other in
            var random = RepeatedRandom(key.utf8.count)
            let types = try await other.query(
                """
                SELECT format_type(atttypid, atttypmod) FROM pg_attribute
                WHERE attrelid = 'item'::regclass AND attname = \(key)
                """)
            let type = try #require(try types.first?.decode(0, as: String.self))
            let spellings = Self.spellings[key] ?? []
            /// The rows of each value, with the first spelling of the value.
            func stored() async throws -> [(value: String?, ids: Set<Int64>)] {
                try await other.query(
                    """
                    SELECT (
                        SELECT min(s COLLATE "C") FROM unnest(\(spellings)) AS s
                        WHERE s::\(unsafeRaw: type) = item.\(identifier: key)), array_agg(id::bigint)
                    FROM item GROUP BY \(identifier: key) ORDER BY \(identifier: key)
                    """
                ).map { row in
                    let ids: [Int64] = try row.decode(1) ?? []
                    return (value: try row.decode(0, as: String.self), ids: Set(ids))
                }
            }
            let live = try await context.fetch("item").sorted(key).sorted("id").live()
            var updates = try live.sections(by: key).makeAsyncIterator()
            var values: [String?] = []
            for round in 0..<15 {
                if round > 0 {
                    // One transaction, which changes the list whatever else it does.
                    try await other.withTransaction { _ in
                        let value = spellings.randomElement(using: &random) ?? ""
                        try await other.query(
                            """
                            INSERT INTO item (id, \(identifier: key)) VALUES (\(random.key(9)), \(value)::text::\(unsafeRaw: type))
                            ON CONFLICT (id) DO UPDATE SET \(identifier: key) = excluded.\(identifier: key)
                            """)
                        if random.below(3) == 0 {
                            let id = random.key(9)
                            try await other.query("UPDATE item SET \(identifier: key) = NULL WHERE id = \(id)")
                        }
                        if random.below(3) == 0 {
                            try await other.query("DELETE FROM item WHERE id = \(random.key(9))")
                        }
                        try await other.query("INSERT INTO item (id) VALUES (\(100 + round))")
                    }
                }
                let update = try #require(try await updates.next())
                let rows = try await stored()
                #expect(update.sections.map { Set($0.objects.map(Self.id)) } == rows.map(\.ids), "\(round)")
                if round == 0 { values = rows.map(\.value) }
                for offset in update.removedSections.reversed() { values.remove(at: offset) }
                for offset in update.insertedSections { values.insert(rows[offset].value, at: offset) }
                #expect(values == rows.map(\.value), "\(round)")
            }
        }
    }

    private static func id(_ object: DatabaseObject) -> Int64 {
        if case .integer(let id)? = object["id"] { id } else { -1 }
    }

    @Test func theServerIsAskedAboutNewSpellingsOnly() async throws {
        try await withLive("item") { _, context, other in
            var updates = try await context.fetch("item").sorted("code").live().sections(by: "code").makeAsyncIterator()
            #expect(try await updates.next()?.sections.count == 1)
            try await other.query("UPDATE item SET code = 'A' WHERE id = 2")
            let (update, recorder) = try await recordingStatements { try await updates.next() }
            #expect(update?.sections.count == 1 && update?.removedSections == [] && update?.insertedSections == [])
            #expect(recorder.statements.filter { $0.contains("PARTITION BY") }.count == 1)
            try await other.query("UPDATE item SET code = 'A' WHERE id = 3")
            let (again, second) = try await recordingStatements { try await updates.next() }
            #expect(again?.sections.count == 1 && second.statements.filter { $0.contains("PARTITION BY") } == [])
            try await other.query("UPDATE item SET code = 'B' WHERE id = 3")
            let last = try await updates.next()
            #expect(last?.sections.count == 2 && last?.insertedSections == [1])
        }
    }
}
