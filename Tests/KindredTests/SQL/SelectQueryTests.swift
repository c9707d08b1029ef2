import KindredPostgres
import Testing

@testable import Kindred

@Suite struct SelectQueryTests {
    private func query(_ entity: String = "email") throws -> SelectQuery {
        SelectQuery(entity: try ConditionFixture.entity(entity))
    }

    private let head = #"SELECT t0."id", t0."address", t0."person_id", t0."size" FROM "public"."email" AS t0"#

    @Test func everyAttributeIsSelectedInTheEntitysOrder() throws {
        let statement = try query().statement(in: ConditionFixture.schema)
        #expect(statement.text.text == head && statement.bindings.count == 0)
    }

    @Test func typesWithoutACodecAreReadAsText() throws {
        let text = try query("person").statement(in: ConditionFixture.schema).text.text
        #expect(text.contains(#"t0."address"::text"#) && text.contains(#"t0."mood", "#))
    }

    @Test func aggregatesOfTypesWithoutACodecAreReadAsText() throws {
        var query = try query("person")
        #expect(
            try query.statement(for: Aggregate.minimum("address").term, in: ConditionFixture.schema).text.text
                == #"SELECT min(t0."address")::text FROM "public"."person" AS t0"#)
        query.limit = 3
        #expect(
            try query.statement(for: Aggregate.minimum("address").term, in: ConditionFixture.schema).text.text
                == #"SELECT min(v)::text FROM (SELECT t0."address" AS v FROM "public"."person" AS t0 LIMIT $1) AS s"#)
        #expect(
            try query.statement(for: Aggregate.minimum("age").term, in: ConditionFixture.schema).text.text
                == #"SELECT min(v) FROM (SELECT t0."age" AS v FROM "public"."person" AS t0 LIMIT $1) AS s"#)
        #expect(
            try query.statement(for: Aggregate.count.term, in: ConditionFixture.schema).text.text
                == #"SELECT count(*) FROM (SELECT 1 FROM "public"."person" AS t0 LIMIT $1) AS s"#)
    }

    @Test func noStatementAsksTheServerForItsColumnsFirst() throws {
        let schema = ConditionFixture.schema
        let query = try query("person")
        let statements = [
            try query.statement(in: schema), try query.countStatement(in: schema),
            try query.existsStatement(in: schema),
            try query.statement(for: Aggregate.minimum("address").term, in: schema),
            try query.deletionStatement(
                of: try SchemaRuntime(schema).entity(named: "person"), in: schema, selecting: "t0.id"),
        ]
        #expect(statements.allSatisfy { $0.resultFormat == .binary })
    }

    @Test func conditionOrderLimitAndOffsetFollow() throws {
        var query = try query()
        try query.narrow(by: Condition(format: "size > 5", arguments: []), in: ConditionFixture.schema)
        query.sort = [SortTerm(path: ["person", "surname"], ascending: false), SortTerm(path: ["id"])]
        query.limit = 10
        query.offset = 20
        let statement = try query.statement(in: ConditionFixture.schema)
        #expect(
            statement.text.text == head
                + #" LEFT JOIN "public"."person" AS t1 ON t1."id" = t0."person_id" WHERE t0."size" > $1"#
                + #" ORDER BY t1."surname" DESC, t0."id" LIMIT $2 OFFSET $3"#
        )
        #expect(statement.bindings.slots.map(\.type) == [.int4, .int8, .int8])
    }

    @Test func aJoinServesConditionAndOrder() throws {
        var query = try query()
        try query.narrow(by: Condition(format: "person.age > 5", arguments: []), in: ConditionFixture.schema)
        query.sort = [SortTerm(path: ["person", "surname"], nulls: .first), SortTerm(path: ["person", "id"])]
        let text = try query.statement(in: ConditionFixture.schema).text.text
        #expect(
            text == head + #" LEFT JOIN "public"."person" AS t1 ON t1."id" = t0."person_id" WHERE t1."age" > $1"#
                + #" ORDER BY t1."surname" NULLS FIRST, t0."person_id""#
        )
    }

    @Test func countsIncludeLimitAndOffset() throws {
        var query = try query()
        query.sort = [SortTerm(path: ["person", "surname"])]
        #expect(
            try query.countStatement(in: ConditionFixture.schema).text.text
                == #"SELECT count(*) FROM "public"."email" AS t0"#
        )
        query.limit = 1
        #expect(
            try query.countStatement(in: ConditionFixture.schema).text.text
                == #"SELECT count(*) FROM (SELECT 1 FROM "public"."email" AS t0 LIMIT $1) AS c"#
        )
    }

    @Test func existenceIsAskedWithoutRows() throws {
        var query = try query()
        query.offset = 3
        #expect(
            try query.existsStatement(in: ConditionFixture.schema).text.text
                == #"SELECT EXISTS (SELECT 1 FROM "public"."email" AS t0 OFFSET $1)"#
        )
    }

    @Test func setsCanBeSortedByTheirSize() throws {
        var query = try query("person")
        query.sort = [SortTerm(path: ["emailSet", "@count"], ascending: false)]
        let text = try query.statement(in: ConditionFixture.schema).text.text
        #expect(
            text.hasSuffix(
                #" ORDER BY (SELECT count(*) FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id") DESC"#))
    }

    @Test func negativeLimitsAreRefusedWhenRendered() throws {
        for change in [\SelectQuery.limit, \.offset] {
            var query = try query()
            query[keyPath: change] = -1
            let error = try #require(throws: KindredError.self) { try query.statement(in: ConditionFixture.schema) }
            #expect(error.code == .invalidRequest)
        }
    }

    @Test(arguments: [
        (["surnam"], KindredError.Code.unknownKey), (["emailSet", "address"], .invalidRequest),
        (["emailSet"], .invalidRequest),
        (["manager"], .invalidRequest), ([], .invalidRequest), (["notes"], .invalidRequest),
        (["id; DROP TABLE x"], .unknownKey),
        (["surname", "x"], .unknownKey), (["@count"], .invalidCondition),
    ])
    func sortKeysAreChecked(path: [String], code: KindredError.Code) throws {
        var query = try query("person")
        let error = try #require(throws: KindredError.self) {
            try query.append(SortTerm(path: path), in: ConditionFixture.schema)
        }
        #expect(error.code == code)
    }

    @Test func narrowingOftenStaysShallow() throws {
        var condition = try Condition(format: "size > 5", arguments: [])
        for _ in 0..<5_000 { condition = .all([condition, try Condition(format: "size < 9", arguments: [])]) }
        var query = try query()
        try query.narrow(by: condition, in: ConditionFixture.schema)
    }
}
