import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// The statement that reads a part of a relationship for many owners, and when two parts are the same.
@Suite struct PartQueryTests {
    private static let runtime = SchemaRuntime(ConditionFixture.schemaWithHelper)

    private func part(
        _ key: String, of entity: String = "person", _ format: String? = nil, sorted: [String] = [], limit: Int? = nil
    ) throws -> PartQuery {
        let relationship = try #require(try Self.runtime.entity(named: entity).relationship(named: key))
        var query = SelectQuery(entity: relationship.destination.entity)
        if relationship.helper != nil { query.pairLink = PairLink(relationship: relationship.model) }
        if let format { try query.narrow(by: Condition(format: format, arguments: []), in: Self.runtime.schema) }
        for path in sorted { try query.append(SortTerm(path: path.keys), in: Self.runtime.schema) }
        query.limit = limit
        return try PartQuery(relationship, query, in: Self.runtime.schema)
    }

    private func text(_ part: PartQuery, _ owners: [ObjectKey] = [.integer(1)]) throws -> String {
        try part.statement(for: owners, in: Self.runtime.schema).text.text
    }

    private let email = #"SELECT t0."id", t0."address", t0."person_id", t0."size""#

    @Test func withoutALimitTheOwnersAreJoined() throws {
        #expect(
            try text(try part("emailSet", "size > 5 OR address == 'x'", sorted: ["address"])) == email
                + #", o.n FROM "public"."email" AS t0 JOIN unnest($3) WITH ORDINALITY AS o(k0, n)"#
                + #" ON t0."person_id" = o.k0 WHERE t0."size" > $1 OR t0."address" = $2 ORDER BY t0."address""#)
    }

    @Test func aLimitIsTakenForEachOwner() throws {
        #expect(
            try text(try part("emailSet", "size > 5 OR address == 'x'", sorted: ["person.surname"], limit: 3))
                == #"SELECT s.*, o.n FROM unnest($3) WITH ORDINALITY AS o(k0, n) CROSS JOIN LATERAL ("# + email
                + #" FROM "public"."email" AS t0 LEFT JOIN "public"."person" AS t1 ON t1."id" = t0."person_id""#
                + #" WHERE t0."person_id" = o.k0 AND (t0."size" > $1 OR t0."address" = $2)"#
                + #" ORDER BY t1."surname" LIMIT $4) AS s"#)
    }

    @Test func keysOfSeveralColumnsAreTakenTogether() throws {
        let text = try text(try part("lines", of: "order", limit: 1), [ObjectKey([.string("a"), .integer(1)])])
        #expect(text.contains(#"FROM unnest($1, $2) WITH ORDINALITY AS o(k0, k1, n) CROSS JOIN LATERAL (SELECT"#))
        #expect(text.contains(#"WHERE t0."tenant" = o.k0 AND t0."order_no" = o.k1 LIMIT $3) AS s"#))
    }

    @Test func pairsAreJoinedOnceAndNamed() throws {
        #expect(
            try text(try part("titles", "@through.rank > 2 AND name == 'x'", sorted: ["@through.rank", "id"]))
                == #"SELECT t0."id", t0."name", o.n FROM "public"."title" AS t0"#
                + #" JOIN "public"."person_title_rel" AS t1 ON t1."title_id" = t0."id""#
                + #" JOIN unnest($3) WITH ORDINALITY AS o(k0, n) ON t1."person_id" = o.k0"#
                + #" WHERE t1."rank" > $1 AND t0."name" = $2 ORDER BY t1."rank", t0."id""#)
        #expect(throws: KindredError.self) { try part("emailSet", "@through.rank > 2") }
        #expect(throws: KindredError.self) { try part("titles", "@through.name == 'x'") }
    }

    @Test func partsAreTheSameByWhatTheySay() throws {
        let first = try part("emailSet", "size > 5 AND address != 'x'", sorted: ["id"], limit: 3)
        #expect(try part("emailSet", "size > 5 AND address != 'x'", sorted: ["id"], limit: 9).key == first.key)
        #expect(try part("emailSet", "size > 6 AND address != 'x'", sorted: ["id"], limit: 3).key != first.key)
        let sorted = try part("emailSet", "size > 5 AND address != 'x'", sorted: ["size"], limit: 3)
        #expect(sorted.key != first.key)
        #expect(try sorted.memberKey(in: Self.runtime.schema) == first.memberKey(in: Self.runtime.schema))
        #expect(try part("titles").key != part("people", of: "title").key)
    }

    @Test func negativeLimitsAreRefused() throws {
        #expect(throws: KindredError.self) { try part("emailSet", limit: -1) }
    }
}
