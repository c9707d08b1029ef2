import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

/// The texts of the library's own statements, beside the parameters that they declare.
@Suite struct RowStatementsTests {
    private let runtime = SchemaRuntime(ConditionFixture.schema)
    private let bigints = PostgresDataType(rawValue: 1016)
    private let integers = PostgresDataType(rawValue: 1007)
    private let texts = PostgresDataType(rawValue: 1009)

    private func expect(
        _ statement: Statement, _ text: String, types: [PostgresDataType],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(statement.text.text == text, sourceLocation: sourceLocation)
        #expect(statement.bindings.slots.map(\.type) == types, sourceLocation: sourceLocation)
        #expect(statement.resultFormat == .binary, sourceLocation: sourceLocation)
    }

    @Test func oneRowIsFoundAndChangedByItsKey() throws {
        let email = try runtime.entity(named: "email")
        expect(
            try KeyStatements(entity: email).select(byKey: .integer(4)),
            #"SELECT "id", "address", "person_id", "size" FROM "public"."email" WHERE "id" = $1"#, types: [.int8])
        var values = ColumnValues(email)
        values[2] = .some(.integer(7))
        values[1] = .some(.string("a"))
        expect(
            try RowStatements(entity: email, columns: values.columns)
                .update(values, VersionedKey(key: .integer(4), version: nil)),
            #"UPDATE "public"."email" SET "address" = $1, "person_id" = $2 WHERE "id" = $3 "#
                + #"RETURNING "id", "address", "person_id", "size""#,
            types: [.varchar, .int4, .int8])
        expect(
            try RowStatements(entity: email, columns: values.columns).insert(values),
            #"INSERT INTO "public"."email" ("address", "person_id") VALUES ($1, $2) "#
                + #"RETURNING "id", "address", "person_id", "size""#,
            types: [.varchar, .int4])
    }

    @Test func membersJoinTheirOwnerIfAllOfThemExist() throws {
        let statements = MemberStatements(relationship: try relationship("person", "emailSet"), ownerValues: [7])
        let rows = [VersionedKey(key: .integer(1), version: nil), VersionedKey(key: .integer(2), version: nil)]
        expect(
            try statements.attach(rows),
            #"WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."email" AS t WHERE t."id" = ANY($1) "#
                + #"ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."email" AS t SET "person_id" = $3 "#
                + #"WHERE t."id" = ANY($1) AND (t."person_id" IS DISTINCT FROM $3) "#
                + #"AND (SELECT count(*) FROM locked) = $2 "#
                + #"RETURNING t."id", t."address", t."person_id", t."size") "#
                + #"SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found "#
                + #"LEFT JOIN changed ON true"#,
            types: [bigints, .int8, .int4])
        expect(
            try statements.attach(rows[0]),
            #"UPDATE "public"."email" AS t SET "person_id" = $1 WHERE t."id" = $2 "#
                + #"RETURNING t."id", t."address", t."person_id", t."size""#,
            types: [.int4, .int8])
    }

    @Test func aCompositeKeyIsOneParameterForEachColumn() throws {
        let lines = MemberStatements(relationship: try relationship("order", "lines"), ownerValues: ["a", 3])
        expect(
            try lines.detachAll(leaving: [2])[0],
            #"UPDATE "public"."line" AS t SET "order_no" = NULL WHERE t."tenant" = $1 AND t."order_no" = $2 "#
                + #"RETURNING t."id", t."tenant", t."order_no", t."amount""#,
            types: [.text, .int4])
        let owners = [ObjectKey(["a", 3]), ObjectKey(["b", 4])]
        expect(
            try RelationshipQuery(try relationship("order", "lines")).statement(for: owners),
            #"SELECT t."id", t."tenant", t."order_no", t."amount" FROM "public"."line" AS t "#
                + #"WHERE (t."tenant", t."order_no") IN (SELECT * FROM unnest($1, $2))"#,
            types: [texts, integers])
    }

    @Test func severalTablesAreDeletedFromInOneStatement() throws {
        expect(
            try DeletionStatements.delete([
                (try runtime.entity(named: "email"), [.integer(1), .integer(2)]),
                (try runtime.entity(named: "order"), [ObjectKey(["a", 3])]),
            ]),
            #"WITH d0 AS (DELETE FROM "public"."email" AS t WHERE t."id" = ANY($1) RETURNING 1), "#
                + #"d1 AS (DELETE FROM "public"."order" AS t WHERE (t."tenant", t."number") IN "#
                + #"(SELECT * FROM unnest($2, $3)) RETURNING 1) "#
                + #"SELECT (SELECT count(*) FROM d0), (SELECT count(*) FROM d1)"#,
            types: [bigints, texts, integers])
    }

    @Test func statementsOfOneShapeShareTheirText() throws {
        let email = try runtime.entity(named: "email")
        #expect(
            try KeyStatements(entity: email).select(byKey: .integer(1)).text
                === KeyStatements(entity: email).select(byKey: .integer(2)).text)
        #expect(
            try KeyStatements(entity: email).select([.integer(1)]).text
                === KeyStatements(entity: email).select([.integer(2), .integer(3)]).text)
    }

    private func relationship(_ entity: String, _ name: String) throws -> RelationshipRuntime {
        try #require(try runtime.entity(named: entity).relationship(named: name))
    }
}
