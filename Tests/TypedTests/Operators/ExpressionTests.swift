import Foundation
import Kindred
import KindredTesting
import Testing
import TypeModels

/// Expressions over columns mean the same in the database: `??` is COALESCE, `+` joins texts, and paths lead to other
/// rows.
@Suite struct ExpressionTests {
    typealias Update = @Sendable (inout UpdatedValues<Keeper>) -> Void
    typealias Where = @Sendable (Columns<Keeper>) -> Condition

    /// New values of a column, and the same in SQL over `k`, its boss `b` and its club `c`.
    private static let updates: [(column: String, update: Update, sql: String)] = [
        ("age", { $0.age = $0.age ?? 0 }, "coalesce(k.age, 0)"),
        ("age", { $0.age = $0.age ?? $0.rank }, "coalesce(k.age, k.rank)"),
        ("age", { $0.age = ($0.age ?? 7) + $0.rank * 2 }, "coalesce(k.age, 7) + k.rank * 2"),
        ("age", { $0.age = nil ?? $0.age }, "k.age"),
        ("age", { $0.age = $0.boss.age ?? $0.age ?? -1 }, "coalesce(b.age, k.age, -1)"),
        ("age", { $0.age = $0.pets.count }, "(SELECT count(*) FROM pet p WHERE p.keeper_id = k.id)"),
        ("age", { $0.age = $0.boss.rank }, "b.rank"),
        ("price", { $0.price = ($0.price ?? 0.5) * 2 }, "coalesce(k.price, 0.5) * 2"),
        ("score", { $0.score = $0.score ?? $0.boss.score ?? 0.25 }, "coalesce(k.score, b.score, 0.25)"),
        ("active", { $0.active = $0.active ?? $0.visible }, "coalesce(k.active, k.visible)"),
        ("mood", { $0.mood = $0.mood ?? .soSo }, "coalesce(k.mood, 'so-so')"),
        ("mood", { $0.mood = $0.boss.mood ?? $0.mood }, "coalesce(b.mood, k.mood)"),
        ("born", { $0.born = $0.born ?? .infinity }, "coalesce(k.born, 'infinity')"),
        ("tags", { $0.tags = $0.tags ?? ["x", nil] }, "coalesce(k.tags, ARRAY['x', NULL])"),
        (
            "token", { $0.token = $0.token ?? UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) },
            "coalesce(k.token, '01010101-0101-0101-0101-010101010101')"
        ),
        ("name", { $0.name = $0.name + "!" }, "k.name || '!'"),
        ("name", { $0.name = "Dr " + ($0.name ?? $0.code) }, "'Dr ' || coalesce(k.name, k.code)"),
        ("name", { $0.name = $0.club.name + "/" + $0.code }, "c.name || '/' || k.code"),
        (
            "name", { $0.name = ($0.boss.name ?? "-") + ($0.name ?? "'x'") },
            "coalesce(b.name, '-') || coalesce(k.name, '''x''')"
        ),
        ("name", { $0.name = $0.info["t"] ?? "none" }, "coalesce(k.info->>'t', 'none')"),
        ("name", { $0.name = $0.club.name }, "c.name"),
        ("story", { $0.story = $0.code + $0.name }, "k.code || k.name"),
    ]

    /// Stores keepers with NULLs in every column that may be NULL, some with a boss.
    private func store(in database: Database) async throws {
        try await database.query("INSERT INTO club VALUES (1, 'Zoo'), (2, NULL)")
        try await database.query(
            """
            INSERT INTO keeper (id, name, code, age, rank, size, score, price, active, visible, mood, born, tags, numbers, info, boss_id, club_id)
            VALUES (1, 'Ann', 'a', NULL, 5, 1, NULL, 1.5, NULL, true, NULL, NULL, NULL, '{}', '{"t": "in"}', NULL, 1),
                (2, NULL, 'b', 3, 4, 2, 2, NULL, false, true, 'happy', '2020-01-01', '{a}', '{1}', NULL, 1, 1),
                (3, 'Bob', 'c', 9, 1, 3, NULL, NULL, NULL, false, NULL, NULL, NULL, '{}', '{}', 2, 2),
                (4, NULL, 'd', NULL, 2, 4, NULL, 2, true, false, NULL, NULL, NULL, '{}', NULL, 3, 2),
                (5, 'Cid', 'e', 0, 3, 5, 1, 0, NULL, true, 'so-so', NULL, NULL, '{}', '{"t": null}', NULL, 1)
            """)
        try await database.query("INSERT INTO pet VALUES (1, 'Rex', 3, 1), (2, NULL, NULL, 1), (3, 'Tom', 1, 3)")
    }

    private func rows(_ sql: String, _ database: Database) async throws -> [String] {
        try await database.query(SQL(unsafeRaw: sql)).map { row in
            "\(try row.decode(0, as: Int.self) ?? 0) \(try row.decode(1, as: String.self) ?? "NULL")"
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func updatesCalculateWhatTheySay() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            for (column, update, sql) in Self.updates {
                try await database.query("TRUNCATE club, keeper CASCADE")
                try await store(in: database)
                let expected = try await rows(
                    """
                    SELECT k.id, (\(sql))::text FROM keeper k LEFT JOIN keeper b ON b.id = k.boss_id JOIN club c ON c.id = k.club_id
                    ORDER BY k.id
                    """, database)
                let (count, recorder) = try await recordingStatements {
                    try await context.fetch(Keeper.self).update { update(&$0) }
                }
                #expect(count == 5 && recorder.statements.count == 1, "\(sql)")
                let stored = try await rows("SELECT id, \(column)::text FROM keeper ORDER BY id", database)
                #expect(stored.count == 5 && stored == expected, "\(sql)")
            }
        }
    }

    /// Conditions, and the same in SQL.
    private static let conditions: [(condition: Where, sql: String)] = [
        ({ ($0.age ?? 4) > 3 }, "coalesce(k.age, 4) > 3"),
        ({ $0.age ?? $0.rank == 5 }, "coalesce(k.age, k.rank) = 5"),
        ({ $0.age ?? $0.boss.age == nil }, "coalesce(k.age, b.age) IS NULL"),
        ({ $0.age ?? $0.boss.age != 3 }, "coalesce(k.age, b.age) IS DISTINCT FROM 3"),
        ({ !($0.age ?? $0.boss.age > 3) }, "(coalesce(k.age, b.age) > 3) IS NOT TRUE"),
        ({ ($0.name ?? $0.club.name ?? "-").hasPrefix("Z") }, "starts_with(coalesce(k.name, c.name, '-'), 'Z')"),
        ({ $0.name + $0.code == "Anna" }, "k.name || k.code = 'Anna'"),
        ({ $0.name + $0.club.name != "AnnZoo" }, "k.name || c.name IS DISTINCT FROM 'AnnZoo'"),
        ({ ("x" + $0.code).isIn(["xa", "xc"]) }, "'x' || k.code IN ('xa', 'xc')"),
        ({ $0.mood ?? .happy == .happy }, "coalesce(k.mood, 'happy') = 'happy'"),
        ({ $0.info["t"] ?? "no" == "no" }, "coalesce(k.info->>'t', 'no') = 'no'"),
        ({ ($0.age ?? 3_000_000_000) > 10 }, "coalesce(k.age, 3000000000) > 10"),
        ({ $0.boss != $0.boss.boss }, "k.boss_id IS DISTINCT FROM b.boss_id"),
        (
            {
                let isFree = $0.boss == nil; return isFree || $0.age != nil
            }, "k.boss_id IS NULL OR k.age IS NOT NULL"
        ),
        (
            { $0.pets.contains { ($0.weight ?? 2) == 2 } },
            "EXISTS (SELECT 1 FROM pet p WHERE p.keeper_id = k.id AND coalesce(p.weight, 2) = 2)"
        ),
    ]

    @Test(.database(.file("../../TypeModels/schema.sql"))) func conditionsOrdersAndTotalsCalculateWhatTheySay()
        async throws
    {
        try await withDatabase(classes: KindredModels.all) { database, context in
            try await store(in: database)
            func ids(_ sql: String) async throws -> [Int] {
                try await database.query(
                    SQL(
                        unsafeRaw:
                            "SELECT k.id FROM keeper k LEFT JOIN keeper b ON b.id = k.boss_id JOIN club c ON c.id = k.club_id \(sql)"
                    )
                ).compactMap { try $0.decode(0, as: Int.self) }
            }
            let keepers = try context.fetch(Keeper.self)
            for (condition, sql) in Self.conditions {
                let found = try await keepers.where { condition($0) }.sorted { $0.id }.all().map(\.id)
                #expect(try await found == ids("WHERE \(sql) ORDER BY k.id"), "\(sql)")
            }
            // The same shape twice, since texts are kept; and pages, by cursors that went through a client.
            let orders: [(FetchRequest<Keeper>, String)] = [
                (try keepers.sorted { $0.age ?? 4 }, "coalesce(k.age, 4)"),
                (try keepers.sorted { $0.age ?? 1 }, "coalesce(k.age, 1)"),
                (try keepers.sorted(ascending: false) { $0.age ?? $0.boss.age }, "coalesce(k.age, b.age) DESC"),
                (try keepers.sorted { $0.name ?? $0.club.name ?? $0.code }, "coalesce(k.name, c.name, k.code)"),
                (
                    try keepers.sorted(nulls: .first) { $0.boss.pets.count ?? $0.age },
                    "coalesce(CASE WHEN b.id IS NOT NULL THEN (SELECT count(*) FROM pet p WHERE p.keeper_id = b.id) END, k.age) NULLS FIRST"
                ),
                (try keepers.where { $0.rank > 1 }.sorted { $0.score ?? 1.5 }, "coalesce(k.score, 1.5)"),
            ]
            for (request, sql) in orders {
                let isWhole = try await request.count() == 5
                let expected = try await ids("\(isWhole ? "" : "WHERE k.rank > 1") ORDER BY \(sql), k.id")
                #expect(try await request.sorted { $0.id }.all().map(\.id) == expected, "\(sql)")
                var page = try await request.page(size: 2)
                var paged = page.objects.map(\.id)
                while let next = page.next {
                    page = try await request.page(size: 2, after: PageCursor(next.text))
                    paged += page.objects.map(\.id)
                }
                #expect(paged == expected, "\(sql)")
            }
            let page = try await keepers.sorted { $0.age ?? 4 }.page(size: 2)
            await expectError(.invalidCursor) {
                _ = try await keepers.sorted { $0.age ?? 5 }.page(size: 2, after: page.next)
            }
            await expectError(.invalidRequest) { _ = try keepers.sorted { ($0.age ?? 1) + 1 } }
            let sum = try await database.query(
                "SELECT sum(coalesce(age, 4)), max(coalesce(name, 'Z' || code)) FROM keeper")[0]
            #expect(try await keepers.sum { $0.age ?? 4 } == sum.decode(0, as: Int.self))
            #expect(try await keepers.maximum { $0.name ?? "Z" + $0.code } == sum.decode(1, as: String.self))
            // Parts are sorted by the same keys.
            let boss = try await keepers.where { $0.id == 1 }.prefetch(\.pets) { $0.sorted { $0.weight ?? 9 } }.one()
            try await withStatementLimit(0) { () async throws in
                #expect(try await boss.pets.sorted { $0.weight ?? 9 }.all().map(\.id) == [1, 2])
            }
            #expect(try await boss.pets.sorted { $0.weight ?? 1 }.all().map(\.id) == [2, 1])
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func groupsWithoutATotalDifferFromEachValue() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            try await store(in: database)
            let expected = try await database.query(
                "SELECT rank FROM keeper GROUP BY rank HAVING sum(age) IS DISTINCT FROM 3 ORDER BY rank"
            ).compactMap { try $0.decode(0, as: Int.self) }
            #expect(expected == [1, 2, 3, 5])
            let typed = try await context.fetch(Keeper.self).sorted { $0.rank }.group(by: { $0.rank }) { $0.count }
                .having { $0.sum { $0.age } != 3 }.all()
            #expect(typed.map(\.0) == expected)
            let groups = try context.fetch("keeper").sorted("rank").group(by: "rank", aggregates: .count)
            func ranks(_ comparison: GroupRequest.Comparison) async throws -> [PostgresValue?] {
                try await groups.having(.sum("age"), comparison, 3).all().map { $0["rank"] ?? nil }
            }
            #expect(try await ranks(.notEqual) == expected.map { .integer(Int64($0)) })
            #expect(try await ranks(.equal) == [.integer(4)])
            #expect(try await ranks(.greaterOrEqual) == [.integer(1), .integer(4)])
            let filled = try await context.fetch(Keeper.self).sorted { $0.rank }.group(by: { $0.rank }) { $0.count }
                .having { $0.sum { $0.age } ?? 3 == 3 }.all()
            #expect(filled.map(\.0) == [2, 4, 5])
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func aColumnThatWasMadeATextIsRefused() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            try await store(in: database)
            let keepers = try context.fetch(Keeper.self)
            let former = try await rows("SELECT id, k::text FROM keeper k ORDER BY id", database)
            let updates: [Update] = [
                { $0.name = String(describing: $0.name) }, { $0.name = "\(["x", $0.code] as [Any])" },
                { $0.name = String(reflecting: $0.club).uppercased() },
                { $0.name = $0.name ?? String(describing: $0.pets) },
                { $0.name = $0.code + String(describing: $0.code) }, { $0.tags = ["a", String(describing: $0.code)] },
                { $0.info = PostgresJSON(text: "{\"a\": \"\(String(describing: $0.age ?? 1))\"}") },
                { $0.story = String(describing: $0.age == 1) + "x" },
            ]
            let conditions: [Where] = [
                { $0.name == String(describing: $0.name) }, { $0.name != "<\(String(describing: $0.boss))>" },
                { $0.name.hasPrefix(String(describing: $0.code)) },
                { $0.name.isIn(["x", String(describing: $0.code)]) },
                { $0.tags.containsAny([String(describing: $0.code)]) }, { $0.info[String(describing: $0.code)] == "x" },
                { $0.story.search(String(describing: $0.code)) },
                { $0.code.isBetween("a", String(describing: $0.code)) },
            ]
            await withStatementLimit(0) {
                for update in updates {
                    await expectError(.wrongType) { try await keepers.update { update(&$0) } }
                }
                for condition in conditions {
                    await expectError(.wrongType) { _ = try keepers.where { condition($0) } }
                }
            }
            #expect(try await rows("SELECT id, k::text FROM keeper k ORDER BY id", database) == former)
            // A client's input is data, even if it is such a text.
            var text = ""
            _ = try keepers.where {
                text = String(describing: $0.name)
                return $0.age == 1
            }
            let ann = try await keepers.where { $0.id == 1 }.one()
            try ann.apply(try ObjectPatch(json: JSONEncoder().encode(["name": text])), allowing: ["name"])
            try await context.save()
            try await context.create(Club.self) {
                $0.id = 3
                $0.name = text
            }
            #expect(try await context.fetch("keeper").where("name == %@", text).count() == 1)
            #expect(try await context.fetch("club").where("name == %@", text).update(["name": text]) == 1)
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func newValuesAreReadAsTheyWereGiven() async throws {
        try await withDatabase(classes: KindredModels.all) { _, context in
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            let visit = try context.add(Visit.self) {
                $0.id = 1
                $0.began = date
                $0.ended = $0.began ?? .negativeInfinity
            }
            #expect(visit.ended == PostgresTimestamp(date))
        }
    }
}
