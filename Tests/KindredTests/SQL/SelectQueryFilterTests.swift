import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

/// Filters of entities in the SQL of requests, and what memory knows of them.
@Suite struct SelectQueryFilterTests {
    /// The fixture with filters of some entities.
    private static func schema(_ filters: [String: String]) throws -> DatabaseSchema {
        let entities = ConditionFixture.schema.entities.map { entity in
            Entity(
                name: entity.name, kind: entity.kind, oid: entity.oid, attributes: entity.attributes,
                primaryKey: entity.primaryKey, relationships: entity.relationships, filter: filters[entity.name.name])
        }
        return try DatabaseSchema(entities: entities, searchPath: ["public"]).parsingFilters()
    }

    private static func sql(
        _ entity: String, _ format: String?, _ filters: [String: String], isFiltered: Bool = true
    ) throws -> String {
        let schema = try schema(filters)
        var query = SelectQuery(entity: try schema.entity(named: entity))
        if let format { try query.narrow(by: Condition(format: format, arguments: []), in: schema) }
        query.isFiltered = isFiltered
        let text = try query.countStatement(in: schema).text.text
        return text.firstRange(of: " WHERE ").map { String(text[$0.upperBound...]) } ?? ""
    }

    @Test func aFilterStandsBehindTheCondition() throws {
        let filters = ["email": "size == nil"]
        #expect(try Self.sql("email", nil, filters) == #"t0."size" IS NULL"#)
        #expect(
            try Self.sql("email", "id > 1 OR id < 0", filters)
                == #"(t0."id" > $1 OR t0."id" < $2) AND t0."size" IS NULL"#)
        #expect(try Self.sql("email", "id > 1", filters, isFiltered: false) == #"t0."id" > $1"#)
        // Filters of other entities do not concern the request.
        #expect(try Self.sql("passport", "id > 1", filters) == #"t0."id" > $1"#)
        #expect(try Self.sql("email", "person.surname = 'x'", ["person": "age == nil"]) == #"t1."surname" = $1"#)
    }

    @Test func aFilterHoldsForMembers() throws {
        let filters = ["email": "size == nil"]
        let members = #"EXISTS (SELECT 1 FROM "public"."email" AS t1 WHERE t1."person_id" = t0."id" AND "#
        #expect(
            try Self.sql("person", "ANY emailSet.address = 'x'", filters)
                == members + #"t1."size" IS NULL AND t1."address" = $1)"#)
        #expect(try Self.sql("person", "emailSet.@count > 0", filters) == members + #"t1."size" IS NULL)"#)
        #expect(
            try Self.sql("person", "ANY emailSet.address = 'x'", filters, isFiltered: false)
                == members + #"t1."address" = $1)"#)
        let titles = try Self.sql("person", "titles.@count > 1", ["title": "name != 'x'"])
        #expect(titles.contains("JOIN \"public\".\"title\"") && titles.contains("\"name\""))
    }

    @Test func whatAFilterReadsIsKnown() throws {
        let schema = try Self.schema(["email": "size == nil AND address != 'x'"])
        var query = SelectQuery(entity: try schema.entity(named: "email"))
        #expect(try query.places(in: schema).places.map(\.columns) == [["size", "address"]])
        query.isFiltered = false
        #expect(try query.places(in: schema).places.map(\.columns) == [[]])
    }

    @Test(arguments: [
        ("active == true", true, 1), ("active == false AND age == nil", true, 2), ("age != nil", true, 1),
        ("age == 5", true, 1), ("nil == age", true, 1), ("TRUEPREDICATE", true, 0), ("age > 5", false, 1),
        ("surname == 'x'", false, 1), ("active == true OR age == nil", false, 2), ("NOT active == true", false, 1),
    ])
    func memoryEvaluatesWhatItKnowsExactly(_ text: String, isExact: Bool, columns: Int) throws {
        let schema = try Self.schema(["person": text])
        let person = try schema.entity(named: "person")
        let filter = RowFilter(try #require(schema.filters[person.name]), of: person)
        #expect(filter.isExact == isExact && filter.columns.underestimatedCount == columns)
    }

    @Test(arguments: [
        "age ==", "ages == 5", "manager.age == nil", "ANY emailSet.size == nil", "age == 'x'", "age == %@",
    ])
    func aFilterThatDoesNotFitIsAnError(_ text: String) throws {
        let error = #expect(throws: SchemaError.self) { try Self.schema(["person": text]) }
        #expect(error?.code == .invalidAnnotation && error?.entity == "public.person")
    }
}
