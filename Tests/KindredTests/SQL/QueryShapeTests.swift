import Foundation
import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredLive

/// Live requests whose statements differ in values alone, and the statement that asks for all of them.
@Suite struct QueryShapeTests {
    private let fixture: LiveFixture

    init() throws { fixture = try LiveFixture() }

    private func query(_ format: String, _ arguments: [any PropertyValue] = [], prefetching: String...) throws
        -> LiveQuery
    {
        try fixture.query(
            try fixture.offline.context.fetch("person").where(format, arguments: arguments)
                .prefetch(paths: prefetching.map(\.keys)))
    }

    private func shape(_ format: String, _ arguments: any PropertyValue...) throws -> QueryShape {
        try QueryShape(try query(format, arguments).query, in: fixture.core.runtime.schema, of: fixture.person)
    }

    @Test func onlyValuesMayDiffer() throws {
        #expect(try shape("age > %@", 3).key == shape("age > %@", 4).key)
        #expect(try shape("age > %@", 3).key != shape("age < %@", 3).key)
        // Another type is another statement.
        #expect(try shape("age > %@", 3).key != shape("age > %@", 3.5).key)
        #expect(try shape("mood = %@ AND age > %@", "sad", 1).key == shape("mood = %@ AND age > %@", "happy", 2).key)
        // An array cannot be an element of an array.
        #expect(try shape("age IN %@ AND age > %@", [1, 2], 1).key == shape("age IN %@ AND age > %@", [1, 2], 5).key)
        #expect(try shape("age IN %@ AND age > %@", [1, 2], 1).key != shape("age IN %@ AND age > %@", [1, 3], 1).key)
        #expect(try !shape("age IN %@", [1, 2]).hasElements)
        #expect(try !shape("age > manager_id").hasElements)
    }

    @Test func prefetchedRelationshipsAreAPartOfTheShape() throws {
        let (plain, other) = (try query("age > 3").shape(), try query("age > 4").shape())
        let prefetching = try query("age > 3", prefetching: "emailSet").shape()
        #expect(plain.key == other.key && plain.key != prefetching.key)
    }

    private func statement(_ format: String, _ arguments: [[any PropertyValue]]) throws -> (
        text: String, types: [PostgresDataType]
    ) {
        let queries = try arguments.map { try query(format, $0).query }
        let schema = fixture.core.runtime.schema
        let shapes = try queries.map { try QueryShape($0, in: schema, of: fixture.person) }
        #expect(Set(shapes.map(\.key)).count == 1)
        let statement = try queries[0].statement(
            in: schema, among: [.integer(1), .integer(2)], of: fixture.person, forAll: shapes)
        let text = statement.text.text
        let start = try #require(text.range(of: ", m.n FROM "))
        return (String(text[start.upperBound...]), statement.bindings.slots.map(\.type))
    }

    @Test func valuesBecomeArrays() throws {
        let (text, types) = try statement("age > %@ AND surname LIKE %@", [[3, "a*"], [4, "b*"]])
        #expect(
            text == #""public"."person" AS t0 CROSS JOIN LATERAL (SELECT array_agg(r.n) AS n "#
                + #"FROM unnest($1, $2) WITH ORDINALITY AS r(p1, p2, n) "#
                + #"WHERE t0."age" > r.p1 AND t0."surname" LIKE r.p2) AS m WHERE t0."id" = ANY($3) AND m.n IS NOT NULL"#
        )
        #expect(types == [PostgresDataType.int4, .text, .int4].compactMap(\.arrayType))
    }

    /// A text whose type the server infers has to be cast where it is one of many.
    @Test func inferredTextsAreCast() throws {
        let (text, types) = try statement("mood = %@ AND age IN %@", [["sad", [1, 2]], ["happy", [1, 2]]])
        #expect(
            text.contains(
                #"FROM unnest($1) WITH ORDINALITY AS r(p1, n) WHERE t0."mood" = r.p1::mood AND t0."age" = ANY($2)"#))
        #expect(types.first == PostgresDataType.text.arrayType && types.count == 3)
    }

    @Test func joinedRowsAreJoinedForEachRequest() throws {
        let (text, _) = try statement("manager.age > %@ AND ANY emailSet.size = %@", [[3, 1], [4, 2]])
        #expect(
            text.contains(
                #"AS r(p1, p2, n) LEFT JOIN "public"."person" AS t1 ON t1."id" = t0."manager_id" WHERE t1."age" > r.p1 AND EXISTS"#
            ))
        #expect(text.contains("r.p2"))
    }
}
