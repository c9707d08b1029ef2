import Foundation
import Kindred
import KindredLive
import KindredTesting
import Testing

/// A pair whose row is hidden is no pair, in every kind of statement.
@Suite(.database(.sql(ScopeWorld.schema))) struct HiddenPairReadingTests {
    /// A way to read pairs, and the query whose numbers it has to give.
    private struct Read: Sendable {
        let name: String
        /// The query, of rows `m` that are pairs.
        let sql: @Sendable (HiddenPair) -> String
        let read: @Sendable (DatabaseContext, HiddenPair) async throws -> [Int64]
    }

    private static func ids(_ objects: [DatabaseObject]) -> [Int64] {
        objects.compactMap { if case .integer(let id)? = $0["id"] { id } else { nil } }
    }

    private static let teamsOfFirst: @Sendable (HiddenPair) -> String = {
        "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 ORDER BY 1"
    }

    private static let reads: [Read] = [
        Read(name: "objects", sql: teamsOfFirst) { context, kind in
            try await context.get(kind.person, 1).set(forKey: kind.teams).ids
        },
        Read(name: "objects of the other end", sql: { "SELECT person_id FROM \($0.pairs) WHERE team_id = 3" }) {
            try await $0.get($1.team, 3).set(forKey: $1.people).ids
        },
        // Foreign keys say nothing of the rows that inheriting tables have: they are members all the same.
        Read(
            name: "helper's rows",
            sql: {
                $0 == .inherited
                    ? "SELECT team_id FROM inherited_member WHERE person_id = 1 ORDER BY 1" : teamsOfFirst($0)
            }
        ) { context, kind in
            let rows = try await context.get(kind.person, 1).set(forKey: "\(kind.member)Set").objects
            let teams: [Int64] = rows.compactMap { if case .integer(let id)? = $0["team_id"] { id } else { nil } }
            return teams.sorted()
        },
        Read(name: "count", sql: { "SELECT count(*) FROM \($0.pairs) WHERE person_id = 1" }) { context, kind in
            [Int64(try await context.get(kind.person, 1).set(forKey: kind.teams).count)]
        },
        Read(
            name: "counts of many",
            sql: { "SELECT (SELECT count(*) FROM \($0.pairs) WHERE person_id = i) FROM generate_series(1, 2) AS i" }
        ) {
            context, kind in
            var counts: [Int64] = []
            for person in try await context.fetch(kind.person).sorted("id").all() {
                counts.append(Int64(try await person.set(forKey: kind.teams).count))
            }
            return counts
        },
        Read(name: "isEmpty", sql: { "SELECT count(*) FROM \($0.pairs) WHERE team_id = 2" }) { context, kind in
            [try await context.get(kind.team, 2).set(forKey: kind.people).isEmpty ? 0 : 1]
        },
        Read(name: "contains", sql: teamsOfFirst) { context, kind in
            let set = try await context.get(kind.person, 1).set(forKey: kind.teams)
            var found: [Int64] = []
            for id in 1...4 where try await set.contains(try await context.get(kind.team, id)) {
                found.append(Int64(id))
            }
            return found
        },
        Read(name: "prefetch", sql: { "SELECT team_id FROM \($0.pairs) ORDER BY person_id, team_id" }) {
            context, kind in
            var found: [Int64] = []
            for person in try await context.fetch(kind.person).sorted("id").prefetch(kind.teams).all() {
                found += try await person.set(forKey: kind.teams).ids
            }
            return found
        },
        Read(name: "part", sql: { "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 AND team_id > 1 ORDER BY 1" }) {
            context, kind in
            let people = try await context.fetch(kind.person).sorted("id")
                .prefetch(kind.teams) { $0.where("id > 1").sorted("id") }.all()
            return ids(try await people[0].set(forKey: kind.teams).where("id > 1").sorted("id").all())
        },
        Read(
            name: "part with a limit",
            sql: { "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 AND team_id > 1 ORDER BY 1 LIMIT 1" }
        ) {
            context, kind in
            let set = try await context.get(kind.person, 1).set(forKey: kind.teams)
            return ids(try await set.where("id > 1").sorted("id").limit(1).all())
        },
        Read(name: "request", sql: teamsOfFirst) { context, kind in
            ids(try await context.get(kind.person, 1).set(forKey: kind.teams).request().sorted("id").all())
        },
        Read(name: "count of a request", sql: { "SELECT count(*) FROM \($0.pairs) WHERE person_id = 1" }) {
            context, kind in
            [Int64(try await context.get(kind.person, 1).set(forKey: kind.teams).request().count())]
        },
        Read(
            name: "@through",
            sql: { "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 AND m.team_id > 1 ORDER BY 1" }
        ) {
            context, kind in
            let set = try await context.get(kind.person, 1).set(forKey: kind.teams)
            return ids(try await set.request().where("@through.team_id > 1").sorted("id").all())
        },
        Read(name: "ANY", sql: { "SELECT person_id FROM \($0.pairs) WHERE team_id IN (2, 4)" }) { context, kind in
            ids(try await context.fetch(kind.person).where("ANY \(kind.teams).id IN {2, 4}").sorted("id").all())
        },
        Read(
            name: "NONE",
            sql: {
                "SELECT i FROM generate_series(1, 2) AS i WHERE NOT EXISTS (SELECT FROM \($0.pairs) WHERE person_id = i AND team_id = 3)"
            }
        ) { context, kind in
            ids(try await context.fetch(kind.person).where("NONE \(kind.teams).id = 3").sorted("id").all())
        },
        Read(
            name: "@count",
            sql: {
                "SELECT i FROM generate_series(1, 2) AS i WHERE (SELECT count(*) FROM \($0.pairs) WHERE person_id = i) = 2"
            }
        ) { context, kind in
            ids(try await context.fetch(kind.person).where("\(kind.teams).@count = 2").sorted("id").all())
        },
        Read(name: "an object among members", sql: { "SELECT person_id FROM \($0.pairs) WHERE team_id = 2" }) {
            context, kind in
            let team = try await context.get(kind.team, 2)
            return ids(try await context.fetch(kind.person).where("ANY \(kind.teams) = %@", team).all())
        },
        Read(
            name: "order by @count",
            sql: {
                "SELECT i FROM generate_series(1, 4) AS i ORDER BY (SELECT count(*) FROM \($0.pairs) WHERE team_id = i) DESC, i"
            }
        ) { context, kind in
            ids(try await context.fetch(kind.team).sorted("\(kind.people).@count", ascending: false).sorted("id").all())
        },
        Read(name: "views", sql: { "SELECT team_id FROM \($0.pairs) ORDER BY person_id, team_id" }) { context, kind in
            let views = try await context.fetch(kind.person).sorted("id").views("id", "\(kind.teams).id")
            let json = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(views)) as? [[String: Any]]
            return (json ?? []).flatMap { view in
                ((view[kind.teams] as? [[String: Any]]) ?? []).compactMap { ($0["id"] as? Int).map(Int64.init) }
                    .sorted()
            }
        },
    ]

    @Test func noStatementShowsHiddenPairs() async throws {
        try await withDatabase { database, _, other in
            for kind in HiddenPair.allCases {
                for read in Self.reads {
                    let context = try database.context(kind)
                    let (found, wanted) = (try await read.read(context, kind), try await other.integers(read.sql(kind)))
                    #expect(found == wanted, "\(kind), \(read.name)")
                }
            }
        }
    }

    @Test func unfilteredTakesTheHelpersFilterOffAndNothingElse() async throws {
        try await withDatabase { database, _, _ in
            for (kind, all): (HiddenPair, [Int64]) in [
                (.marked, [1, 2, 3]), (.filtered, [1, 2, 3]), (.foreign, [1, 3]), (.inherited, [1, 3]),
            ] {
                let context = try database.context(kind)
                let set = try await context.get(kind.person, 1).set(forKey: kind.teams)
                let request = try set.request().sorted("id")
                #expect(Self.ids(try await request.unfiltered().all()) == all, "\(kind)")
                #expect(Self.ids(try await request.all()) == [1, 3], "\(kind)")
                #expect(
                    Self.ids(try await context.fetch(kind.person).unfiltered().where("ANY \(kind.teams).id = 2").all())
                        == (all.contains(2) ? [1] : []), "\(kind)")
                let people = try await context.fetch(kind.person).sorted("id")
                    .prefetch(kind.teams) { $0.unfiltered().sorted("id") }.all()
                #expect(
                    Self.ids(try await people[0].set(forKey: kind.teams).unfiltered().sorted("id").all()) == all,
                    "\(kind)")
                // Sets show pairs alone.
                #expect(try await set.ids == [1, 3], "\(kind)")
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func liveRequestsAndContextsFollowMarks() async throws {
        let kind = HiddenPair.marked
        try await withLive(kind.person, kind.team, kind.member) { database, context, other in
            let following = database.makeContext(tracking: .automatic)
            let set = try await following.get(kind.person, 1).set(forKey: kind.teams)
            #expect(try await set.ids == [1, 3])
            var updates = try await context.fetch(kind.person).where("id = 1").prefetch(kind.teams).live()
                .makeAsyncIterator()
            func teams(_ update: LiveUpdate<DatabaseObject>) async throws -> [Int64] {
                try await update.objects[0].set(forKey: kind.teams).ids
            }
            #expect(try await teams(try await updates.update()) == [1, 3])
            try await other.query("UPDATE marked_member SET deleted_at = NULL WHERE person_id = 1 AND team_id = 2")
            #expect(try await teams(try await updates.update()) == [1, 2, 3])
            try await other.query("UPDATE marked_member SET deleted_at = now() WHERE person_id = 1 AND team_id = 3")
            #expect(try await teams(try await updates.update()) == [1, 2])
            for _ in 0..<600 where try await set.ids != [1, 2] { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try await set.ids == [1, 2])
        }
    }
}
