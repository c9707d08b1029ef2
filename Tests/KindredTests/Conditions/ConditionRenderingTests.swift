import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

private let person = FakeObject("person", ["id": 7])
private let email = FakeObject("email", ["id": 3])
private let order = FakeObject("order", ["tenant": "a", "number": 1])

/// A format with its arguments, and the text behind FROM in its SQL.
private struct Example: Sendable, CustomTestStringConvertible {
    let format: String
    let arguments: [ConditionArgument]
    let sql: String

    init(_ format: String, _ arguments: [ConditionArgument] = [], _ sql: String) {
        self.format = format
        self.arguments = arguments
        self.sql = sql
    }

    var testDescription: String { format }
}

@Suite struct ConditionRenderingTests {
    @Test(arguments: [
        Example("surname == 'x'", #"t0."surname" = $1"#),
        Example("surname != 'x' AND active != YES", #"t0."surname" IS DISTINCT FROM $1 AND t0."active" <> $2"#),
        Example("surname == nil OR nil != age", #"t0."surname" IS NULL OR t0."age" IS NOT NULL"#),
        Example("surname == %@", [.null], #"t0."surname" IS NULL"#),
        Example("age < nil", "FALSE"),
        Example("nil == nil", "TRUE"),
        Example("5 <= age", #"$1 <= t0."age""#),
        Example("age = manager_id", #"t0."age" IS NOT DISTINCT FROM t0."manager_id""#),
        Example("age = id", #"t0."age" = t0."id""#),
        Example("age != id", #"t0."age" IS DISTINCT FROM t0."id""#),
        Example("1 = 2", "$1 = $2"),
        Example("NOT surname = 'x'", #"(t0."surname" = $1) IS NOT TRUE"#),
        Example("NOT id = 1", #"NOT t0."id" = $1"#),
        Example("NOT NOT id = 1", #"t0."id" = $1"#),
        Example(
            "id = 1 AND (age = 2 OR NOT (age > 3 AND age < 5))",
            #"t0."id" = $1 AND (t0."age" = $2 OR (t0."age" > $3 AND t0."age" < $4) IS NOT TRUE)"#
        ),
        Example("TRUEPREDICATE AND NOT FALSEPREDICATE", "TRUE AND NOT FALSE"),
        Example("age BETWEEN {1, id}", #"t0."age" BETWEEN $1 AND t0."id""#),
        Example("age BETWEEN %@", [.list([1, 5])], #"t0."age" BETWEEN $1 AND $2"#),
        Example("5 BETWEEN {id, age}", #"$1 BETWEEN t0."id" AND t0."age""#),
        Example("age BETWEEN {1, nil}", "FALSE"),
        Example("-age + 1 > age * 2 / (id - 1)", #"((- t0."age") + $1) > ((t0."age" * $2) / (t0."id" - $3))"#),
        Example("age ** 2 > nil + 1", "FALSE"),
        Example("%K == 1", [.list(["weird \"name\""])], #"t0."weird ""name""" = $1"#),
    ])
    private func comparisonsOfValues(example: Example) throws {
        #expect(try sql(example) == example.sql)
    }

    @Test(arguments: [
        Example("age IN {1, 2}", #"t0."age" = ANY($1)"#),
        Example("NOT age IN {}", #"(t0."age" = ANY($1)) IS NOT TRUE"#),
        Example("age IN %@", [.list([1, nil])], #"t0."age" = ANY($1) OR t0."age" IS NULL"#),
        Example("age IN {1, id, nil}", #"t0."age" = $1 OR t0."age" = t0."id" OR t0."age" IS NULL"#),
        Example("age IN nil", "FALSE"),
        Example("nil IN {1}", "FALSE"),
        Example("5 IN %@", [.list([1, 5])], "$1 = ANY($2)"),
        Example("'x' IN tags", #"$1 = ANY(t0."tags")"#),
        Example("tags CONTAINS surname", #"t0."surname" = ANY(t0."tags")"#),
        Example("tags == %@", [.list(["a", nil])], #"t0."tags" = $1"#),
        Example("ANY tags LIKE 'a*'", #"EXISTS (SELECT 1 FROM unnest(t0."tags") AS t1(e) WHERE t1.e LIKE $1)"#),
        Example(
            "ALL tags == 'a'",
            #"NOT EXISTS (SELECT 1 FROM unnest(t0."tags") AS t1(e) WHERE (t1.e = $1) IS NOT TRUE)"#
        ),
        Example("'abc' IN surname", #"t0."surname" LIKE $1"#),
        Example("surname IN 'abc'", #"strpos($1, t0."surname") > 0"#),
    ])
    private func listsAndArrays(example: Example) throws {
        #expect(try sql(example) == example.sql)
    }

    @Test(arguments: [
        Example("surname LIKE 'a*'", #"t0."surname" LIKE $1"#),
        Example("surname LIKE[c] 'a*'", #"t0."surname" ILIKE $1"#),
        Example("surname MATCHES 'a|b'", #"t0."surname" ~ $1"#),
        Example("surname MATCHES[c] 'a|b'", #"t0."surname" ~* $1"#),
        Example("mood BEGINSWITH 'h'", #"t0."mood"::text LIKE $1"#),
        Example("surname BEGINSWITH code", #"starts_with(t0."surname", t0."code")"#),
        Example(
            "surname ENDSWITH[c] code", #"right(lower(t0."surname"), length(lower(t0."code"))) = lower(t0."code")"#),
        Example("surname ==[c] 'X'", #"lower(t0."surname") = lower($1)"#),
        Example("surname !=[c] 'X'", #"lower(t0."surname") IS DISTINCT FROM lower($1)"#),
        Example("surname ==[c] nil", #"t0."surname" IS NULL"#),
        Example("surname CONTAINS nil", "FALSE"),
    ])
    private func texts(example: Example) throws {
        #expect(try sql(example) == example.sql)
    }

    @Test(arguments: [
        Example("manager.id = 5", #"t0."manager_id" = $1"#),
        Example("manager = %@", [.object(person)], #"t0."manager_id" = $1"#),
        Example("manager != %@", [.object(person)], #"(t0."manager_id" = $1) IS NOT TRUE"#),
        Example("manager = nil", #"t0."manager_id" IS NULL"#),
        Example("manager != nil", #"NOT t0."manager_id" IS NULL"#),
        Example("manager = SELF", #"t0."manager_id" = t0."id""#),
        Example("SELF = %@", [.object(person)], #"t0."id" = $1"#),
        Example("SELF IN %@", [.objects([person, person])], #"t0."id" = ANY($1)"#),
        Example("SELF IN {%@, %@}", [.object(person), .object(person)], #"t0."id" = $1 OR t0."id" = $2"#),
        Example("SELF IN %@", [.list([])], "FALSE"),
        Example("SELF = nil", "FALSE"),
        Example(
            "manager.surname = 'x' AND manager.age = manager.manager.age",
            #"LEFT JOIN "public"."person" AS t1 ON t1."id" = t0."manager_id" "#
                + #"LEFT JOIN "public"."person" AS t2 ON t2."id" = t1."manager_id" "#
                + #"WHERE t1."surname" = $1 AND t1."age" IS NOT DISTINCT FROM t2."age""#
        ),
        Example(
            "passport = nil",
            #"LEFT JOIN "public"."passport" AS t1 ON t1."holder" = t0."id" WHERE t1."holder" IS NULL"#
        ),
        Example(
            "passport = %@",
            [.object(FakeObject("passport", ["id": 2]))],
            #"LEFT JOIN "public"."passport" AS t1 ON t1."holder" = t0."id" WHERE t1."id" = $1"#
        ),
    ])
    private func toOnePaths(example: Example) throws {
        #expect(try sql(example) == example.sql)
    }

    @Test(arguments: [
        Example(
            "ANY emailSet.size > 5",
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND t1."size" > $1)"#),
        Example(
            "ALL public_email_email_person_id_fkey.size > age",
            #"NOT EXISTS (SELECT 1 FROM "public"."email" AS t1 "#
                + #"WHERE t1."person_id" = t0."id" AND (t1."size" > t0."age") IS NOT TRUE)"#
        ),
        Example(
            "NONE emailSet.person.manager.age = 5",
            #"NOT EXISTS (SELECT 1 FROM "public"."email" AS t1 "#
                + #"LEFT JOIN "public"."person" AS t2 ON t2."id" = t1."person_id" "#
                + #"LEFT JOIN "public"."person" AS t3 ON t3."id" = t2."manager_id" "#
                + #"WHERE t1."person_id" = t0."id" AND t3."age" = $1)"#
        ),
        Example(
            "ANY emailSet = %@", [.object(email)],
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND t1."id" = $1)"#),
        Example(
            "%@ IN emailSet", [.object(email)],
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND t1."id" = $1)"#),
        Example(
            "emailSet CONTAINS %@", [.object(email)],
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND t1."id" = $1)"#),
        Example(
            "ANY emailSet IN %@", [.objects([email])],
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND t1."id" = ANY($1))"#),
        Example(
            "ANY titles.name = 'x'",
            #"EXISTS (SELECT 1 FROM "public"."person_title_rel" AS t1 "#
                + #"JOIN "public"."title" AS t2 ON t2."id" = t1."title_id" WHERE t1."person_id" = t0."id" AND t2."name" = $1)"#
        ),
        Example(
            "ANY titles = %@",
            [.object(FakeObject("title", ["id": 1]))],
            #"EXISTS (SELECT 1 FROM "public"."person_title_rel" AS t1 WHERE t1."person_id" = t0."id" AND t1."title_id" = $1)"#
        ),
        Example(
            "ANY friends.surname = surname",
            #"EXISTS (SELECT 1 FROM "public"."friendship" AS t1 JOIN "public"."person" AS t2 ON t2."id" = t1."b" "#
                + #"WHERE t1."a" = t0."id" AND t2."surname" IS NOT DISTINCT FROM t0."surname")"#
        ),
        Example(
            "ANY orders.lines.amount > 5",
            #"EXISTS (SELECT 1 FROM "public"."order" AS t1 WHERE t1."person_id" = t0."id" AND "#
                + #"EXISTS (SELECT 1 FROM "public"."line" AS t2 WHERE t2."tenant" = t1."tenant" AND t2."order_no" = t1."number" "#
                + #"AND t2."amount" > $1))"#
        ),
        Example(
            "ANY manager.emailSet.size = 1",
            #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."manager_id" AND t1."size" = $1)"#
        ),
        Example(
            "titles.@count > 2",
            #"(SELECT count(*) FROM "public"."person_title_rel" AS t1 WHERE t1."person_id" = t0."id") > $1"#),
    ])
    private func toManyPathsBecomeSubqueries(example: Example) throws {
        #expect(try sql(example) == example.sql)
    }

    @Test(arguments: [
        Example("order = %@", [.object(order)], #"t0."tenant" = $1 AND t0."order_no" = $2"#),
        Example("order != %@", [.object(order)], #"(t0."tenant" = $1 AND t0."order_no" = $2) IS NOT TRUE"#),
        Example("order = nil OR id = 1", #"(t0."tenant" IS NULL OR t0."order_no" IS NULL) OR t0."id" = $1"#),
        Example("order IN %@", [.objects([order])], #"(t0."tenant", t0."order_no") IN (SELECT * FROM unnest($1, $2))"#),
        Example(
            "order.person_id = 1",
            #"LEFT JOIN "public"."order" AS t1 ON t1."tenant" = t0."tenant" AND t1."number" = t0."order_no" "#
                + #"WHERE t1."person_id" = $1"#
        ),
    ])
    private func compositeKeys(example: Example) throws {
        #expect(try sql(example, entity: "line") == example.sql)
    }

    private func sql(_ example: Example, entity: String = "person") throws -> String {
        var query = SelectQuery(entity: try ConditionFixture.entity(entity))
        try query.narrow(
            by: Condition(format: example.format, arguments: example.arguments), in: ConditionFixture.schema)
        let text = try query.countStatement(in: ConditionFixture.schema).text.text
        let prefix = "SELECT count(*) FROM \"public\".\"\(entity)\" AS t0 "
        #expect(text.hasPrefix(prefix))
        let rest = text.dropFirst(prefix.count)
        return String(rest.hasPrefix("WHERE ") ? rest.dropFirst(6) : rest)
    }
}

extension Example {
    fileprivate init(_ format: String, _ sql: String) {
        self.init(format, [], sql)
    }
}
