import Kindred
import KindredLive
import KindredTesting
import Testing
import TypeModels

/// Every kind of request takes conditions and values that name the objects around them.
@Suite struct ScopeRequestTests {
    private struct Rollback: Error { let rows: [String] }

    @Test(.database(.file(ScopeWorld.schema))) func updatesAndDeletionsNameTheObjectsAround() async throws {
        try await ScopeWorld.open { _, context, plain in
            func check(
                _ table: String, _ statement: String, statements: Int = 1,
                sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Int
            ) async throws {
                let right = try await plain.table(table, after: statement)
                let before = try await plain.texts("SELECT t::text FROM \(table) t ORDER BY t.id")
                #expect(right != before, sourceLocation: sourceLocation)
                do {
                    try await context.transaction {
                        let (_, recorder) = try await recordingStatements { try await body() }
                        #expect(recorder.statements.count == statements, "\(recorder.statements)")
                        let dump = SQL(unsafeRaw: "SELECT t::text FROM \(table) t ORDER BY t.id")
                        throw Rollback(
                            rows: try await context.query(dump).map { row in try row[0].map { "\($0)" } ?? "nil" })
                    }
                } catch let error as Rollback {
                    #expect(error.rows == right, sourceLocation: sourceLocation)
                }
            }
            let keepers = try context.fetch(Keeper.self)
            try await check(
                "keeper",
                """
                UPDATE keeper t SET rank = 9 WHERE EXISTS
                (SELECT FROM pet p WHERE p.keeper_id = t.id AND p.weight IS NOT DISTINCT FROM t.age)
                """
            ) { try await keepers.where { k in k.pets.contains { $0.weight == k.age } }.update { $0.rank = 9 } }
            try await check(
                "keeper",
                """
                UPDATE keeper t SET rank = t.rank + 1 WHERE EXISTS (SELECT FROM pet p WHERE p.keeper_id = t.id
                AND p.name IS NOT DISTINCT FROM (SELECT b.name FROM keeper b WHERE b.id = t.boss_id))
                """
            ) {
                try await keepers.where { k in k.pets.contains { $0.name == k.boss.name } }
                    .update { $0.rank = $0.rank + 1 }
            }
            try await check(
                "keeper",
                """
                UPDATE keeper t SET size = 7 WHERE t.id IN (SELECT k.id FROM keeper k WHERE NOT EXISTS
                (SELECT FROM pet p WHERE p.keeper_id = k.id AND p.name IS NOT DISTINCT FROM k.name) ORDER BY k.id LIMIT 3)
                """
            ) {
                try await keepers.where { k in k.pets.none { $0.name == k.name } }.sorted { $0.id }.limit(3)
                    .update { $0.size = 7 }
            }
            try await check(
                "keeper",
                """
                UPDATE keeper t SET rank = (SELECT count(*) FROM pet p WHERE p.keeper_id = t.id
                AND p.weight IS DISTINCT FROM t.age)
                """
            ) { try await keepers.update(["rank": Formula("SUBQUERY(petSet, $p, $p.weight != age).@count")]) }
            try await check(
                "pet",
                """
                DELETE FROM pet t WHERE EXISTS
                (SELECT FROM pet p WHERE p.keeper_id = t.keeper_id AND p.weight > t.weight AND p.id <> t.id)
                """
            ) {
                try await context.fetch(Pet.self)
                    .where { pet in pet.keeper.pets.contains { $0.weight > pet.weight && $0 != pet } }.delete()
            }
        }
    }

    @Test(.database(.file(ScopeWorld.schema))) func totalsNameTheObjectsAround() async throws {
        try await ScopeWorld.open { _, context, plain in
            let count = "(SELECT count(*) FROM pet p WHERE p.keeper_id = t.id AND p.weight IS DISTINCT FROM t.age)"
            let keepers = try context.fetch(Keeper.self)
            let sum = try await keepers.sum { k in k.pets.count { $0.weight != k.age } }
            #expect(try await plain.texts("SELECT sum(\(count)) FROM keeper t") == ["\(try #require(sum))"])
            let first = try await keepers.sorted { $0.id }.limit(5).maximum { k in k.pets.count { $0.weight != k.age } }
            #expect(
                try await plain.texts("SELECT max(\(count)) FROM (SELECT * FROM keeper ORDER BY id LIMIT 5) t")
                    == ["\(try #require(first))"])
            let groups = try keepers.group(by: { $0.rank }) { total in
                (total.count, total.sum { k in k.pets.count { $0.weight != k.age } })
            }
            .having { total in total.sum { k in k.pets.count { $0.name == k.name } } > 1 }
            .sorted { total in total.maximum { k in k.pets.count { $0.weight != k.age } } }
            let right = try await plain.texts(
                """
                SELECT concat_ws(' ', t.rank, count(*), sum(\(count))) FROM keeper t GROUP BY t.rank
                HAVING sum((SELECT count(*) FROM pet p WHERE p.keeper_id = t.id AND p.name IS NOT DISTINCT FROM t.name)) > 1
                ORDER BY max(\(count)), t.rank
                """)
            let found = try await groups.sorted { $0.minimum { $0.rank } }.all()
            #expect(found.map { "\($0) \($1) \($2.map { "\($0)" } ?? "nil")" } == right)
            #expect(!right.isEmpty && right.count < 3)
        }
    }

    @Test(.database(.file(ScopeWorld.schema))) func partsAndPairsNameTheObjectsAround() async throws {
        try await ScopeWorld.open { _, context, plain in
            let right = try await plain.texts(
                """
                SELECT concat_ws(' ', t.id, (SELECT string_agg(s.id::text, ',' ORDER BY s.id DESC) FROM keeper s WHERE s.boss_id = t.id
                AND EXISTS (SELECT FROM pet p WHERE p.keeper_id = s.id AND p.weight > s.rank))) FROM keeper t ORDER BY t.id
                """)
            func part(_ keeper: Columns<Keeper>) -> Condition { keeper.pets.contains { $0.weight > keeper.rank } }
            let keepers = try await context.fetch(Keeper.self).sorted { $0.id }
                .prefetch(\.keepers) { $0.where(part).sorted(ascending: false) { $0.id } }.all()
            let (found, recorder) = try await recordingStatements {
                var lines: [String] = []
                for keeper in keepers {
                    let members = try await keeper.keepers.where(part).sorted(ascending: false) { $0.id }.all()
                    let list = members.map { "\($0.id)" }.joined(separator: ",")
                    lines.append(list.isEmpty ? "\(keeper.id)" : "\(keeper.id) \(list)")
                }
                return lines
            }
            #expect(found == right && recorder.statements.isEmpty, "\(recorder.statements)")
            // A pair and the members of its ends.
            for number in 1...5 {
                let club = try await context.fetch(Club.self).where { $0.id == number }.one()
                let members = try await club.members.where(through: Membership.self) { pair in
                    pair.clubs.pets.contains { $0.id > pair.clubID * 5 && $0.weight != pair.clubs.age }
                }.sorted { $0.id }.all()
                let ids = try await plain.texts(
                    """
                    SELECT t.id FROM keeper t JOIN membership m ON m.keeper_id = t.id WHERE m.club_id = \(number)
                    AND EXISTS (SELECT FROM pet p WHERE p.keeper_id = t.id AND p.id > m.club_id * 5
                    AND p.weight IS DISTINCT FROM t.age) ORDER BY t.id
                    """)
                #expect(members.map { "\($0.id)" } == ids)
            }
        }
    }

    @Test(.database(.file(ScopeWorld.schema))) func liveRequestsAreAskedAgainWhereEitherTableChanges() async throws {
        try await ScopeWorld.open { database, context, plain in
            try await database.tracking.install()
            try await database.tracking.enable(["keeper", "pet"])
            let request = try context.fetch(Keeper.self)
                .where { k in k.pets.contains { $0.weight == k.age && $0.weight != nil } }.sorted { $0.id }
            let sql = """
                SELECT id FROM keeper t WHERE EXISTS (SELECT FROM pet p WHERE p.keeper_id = t.id AND p.weight = t.age) ORDER BY id
                """
            var updates = try await request.live().makeAsyncIterator()
            func ids() async throws -> [String] { try await updates.next()?.objects.map { "\($0.id)" } ?? [] }
            var before = try await ids()
            #expect(try await plain.texts(sql) == before && !before.isEmpty)
            for change in [
                "UPDATE pet SET weight = NULL WHERE keeper_id = \(before[0])",
                "UPDATE keeper SET age = 77 WHERE id = \(before[1])",
                "UPDATE pet SET weight = 77 WHERE keeper_id = \(before[1])",
                "INSERT INTO pet (id, weight, keeper_id) SELECT 99, age, id FROM keeper WHERE id = 1",
                "UPDATE keeper SET age = 78, name = 'x' WHERE age = 77",
            ] {
                try await plain.query(SQL(unsafeRaw: change))
                let right = try await plain.texts(sql)
                let found = try await ids()
                #expect(found == right && right != before, "\(change)")
                before = right
            }
        }
    }
}
