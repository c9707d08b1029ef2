import KindredPostgres
import Synchronization
import Testing

@testable import Kindred

/// Conditions tell their reads, before anything is sent.
@Suite struct ReadPlacesTests {
    private struct Example: Sendable, CustomTestStringConvertible {
        let entity: String
        let format: String
        let columns: Set<String>
        let paths: [String]

        var testDescription: String { format }
    }

    @Test(arguments: [
        Example(entity: "email", format: "size > 5", columns: ["email.size"], paths: []),
        Example(entity: "email", format: "size > 5 OR NOT size = nil", columns: ["email.size"], paths: []),
        Example(entity: "email", format: "TRUEPREDICATE", columns: [], paths: []),
        // The foreign key has the value.
        Example(entity: "email", format: "person.id = 3", columns: ["email.person_id"], paths: ["person"]),
        Example(entity: "email", format: "person = nil", columns: ["email.person_id"], paths: ["person"]),
        Example(
            entity: "email", format: "person.age > 5", columns: ["email.person_id", "person.id", "person.age"],
            paths: ["person"]),
        Example(
            entity: "person", format: "manager.manager.surname = 'x'",
            columns: ["person.manager_id", "person.id", "person.surname"], paths: ["manager", "manager.manager"]),
        Example(
            entity: "person", format: "ANY emailSet.size > 5",
            columns: ["person.id", "email.person_id", "email.size"], paths: ["emailSet"]),
        Example(
            entity: "person", format: "emailSet.@count > 5", columns: ["person.id", "email.person_id"],
            paths: ["emailSet"]),
        Example(
            entity: "person", format: "ANY titles.name = 'x'",
            columns: [
                "person.id", "person_title_rel.person_id", "person_title_rel.title_id", "title.id", "title.name",
            ],
            paths: ["titles"]),
        Example(
            entity: "person", format: "SUBQUERY(orders, $o, ANY $o.lines.amount > 1).@count > 0",
            columns: [
                "person.id", "order.person_id", "order.tenant", "order.number", "line.tenant", "line.order_no",
                "line.amount",
            ],
            paths: ["orders", "orders.lines"]),
        // The columns of each object that is named within.
        Example(
            entity: "person", format: "SUBQUERY(emailSet, $e, $e.size > age AND manager.surname = 'x').@count > 0",
            columns: [
                "person.id", "person.age", "person.manager_id", "person.surname", "email.person_id", "email.size",
            ],
            paths: ["emailSet", "manager"]),
    ])
    private func columnsAndPathsAreKnown(example: Example) throws {
        let reads = try #require(try query(example.entity, example.format).condition?.reads)
        #expect(Self.columns(reads) == example.columns)
        #expect(reads.places.dropFirst().map(\.path) == example.paths)
    }

    /// The columns of all places, with the names of their tables; a table may be at several places, a column once at each.
    private static func columns(_ reads: ReadPlaces) -> Set<String> {
        reads.places.reduce(into: []) { found, place in
            if let helper = place.link?.relationship.helper {
                found.formUnion(place.helperColumns.map { "\(helper.entity.name).\($0)" })
            }
            found.formUnion(place.columns.map { "\(place.entity.name).\($0)" })
            #expect(Set(place.columns).count == place.columns.count)
            #expect(Set(place.helperColumns).count == place.helperColumns.count)
        }
    }

    @Test func aNarrowerConditionReadsWhatBothRead() throws {
        var query = try query("email", "size > 5")
        try query.narrow(by: Condition(format: "person.age > 5", arguments: []), in: ConditionFixture.schema)
        let reads = try #require(query.condition?.reads)
        #expect(reads.places.map(\.columns) == [["size", "person_id"], ["id", "age"]])
        #expect(reads.places.map(\.path) == ["", "person"])
    }

    @Test func narrowingInStepsGivesTheTextOfOneCondition() throws {
        let parts = ["person.age > 5", "size > 1 OR size < 0", "ANY person.titles.name = 'x'", "person.surname != nil"]
        var steps = SelectQuery(entity: try ConditionFixture.entity("email"))
        for part in parts {
            try steps.narrow(by: Condition(format: part, arguments: []), in: ConditionFixture.schema)
        }
        let whole = try query("email", parts.map { "(\($0))" }.joined(separator: " AND "))
        let (first, second) = (
            try steps.statement(in: ConditionFixture.schema), try whole.statement(in: ConditionFixture.schema)
        )
        #expect(first.text == second.text)
        #expect(first.bindings.slots.map(\.type) == second.bindings.slots.map(\.type))
    }

    @Test func oneConditionServesManyStatements() throws {
        var query = try query("email", "person.age > 5")
        let schema = ConditionFixture.schema
        let plain = try query.statement(in: schema)
        let count = try query.countStatement(in: schema)
        query.limit = 3
        query.sort = [SortTerm(path: ["person", "surname"])]
        let sorted = try query.statement(in: schema)
        #expect(plain.bindings.count == 1 && count.bindings.count == 1 && sorted.bindings.count == 2)
        #expect(sorted.text.text == plain.text.text + #" ORDER BY t1."surname" LIMIT $2"#)
    }

    @Test func objectsAreComparedByTheKeysThatTheyHaveWhenTheStatementIsMade() throws {
        final class NewObject: ObjectReference {
            let entityName = ConditionFixture.name("person")
            let key = Mutex<PostgresValue?>(nil)

            func attributeValue(named name: String) throws -> PostgresValue? { key.withLock { $0 } }
        }
        let object = NewObject()
        var query = SelectQuery(entity: try ConditionFixture.entity("email"))
        try query.narrow(
            by: Condition(format: "person = %@", arguments: [.object(object)]), in: ConditionFixture.schema)
        try query.narrow(by: Condition(format: "size > 5", arguments: []), in: ConditionFixture.schema)
        #expect(try query.countStatement(in: ConditionFixture.schema).text.text.hasSuffix(#"FALSE AND t0."size" > $1"#))
        object.key.withLock { $0 = 7 }
        let statement = try query.countStatement(in: ConditionFixture.schema)
        #expect(statement.text.text.hasSuffix(#"WHERE t0."person_id" = $1 AND t0."size" > $2"#))
        #expect(statement.bindings.count == 2)
    }

    private func query(_ entity: String, _ format: String) throws -> SelectQuery {
        var query = SelectQuery(entity: try ConditionFixture.entity(entity))
        try query.narrow(by: Condition(format: format, arguments: []), in: ConditionFixture.schema)
        return query
    }
}
