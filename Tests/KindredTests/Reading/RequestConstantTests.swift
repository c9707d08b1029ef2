import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// Equality with constants rules rows out.
@Suite struct RequestConstantTests {
    private struct Example: Sendable, CustomTestStringConvertible {
        let entity: String
        let format: String
        var arguments: [ConditionArgument] = []
        let constants: [String: [PostgresValue?]]

        var testDescription: String { format }
    }

    @Test(arguments: [
        Example(entity: "email", format: "size = 5", constants: ["size": [5]]),
        Example(
            entity: "email", format: "%@ = size AND id > 3", arguments: [.value(.double(5))],
            constants: ["size": [5]]),
        Example(entity: "email", format: "size = 5.5", constants: [:]),
        Example(entity: "email", format: "size = nil", constants: ["size": [nil]]),
        Example(entity: "email", format: "size IN {1, 2, nil}", constants: ["size": [1, 2, nil]]),
        Example(
            entity: "email", format: "size IN %@", arguments: [.list([1, 2])], constants: ["size": [1, 2]]),
        Example(entity: "email", format: "size IN {}", constants: ["size": []]),
        Example(entity: "email", format: "size IN {1, id}", constants: [:]),
        Example(
            entity: "email", format: "address = 'a' AND (size = 1 AND id = 2)",
            constants: ["address": ["a"], "size": [1], "id": [2]]),
        Example(entity: "email", format: "address ==[c] 'a'", constants: [:]),
        Example(entity: "email", format: "size = 1 OR id = 2", constants: [:]),
        Example(entity: "email", format: "NOT size = 1", constants: [:]),
        Example(entity: "email", format: "size != 1 AND size < 5", constants: [:]),
        Example(entity: "email", format: "person.id = 3", constants: ["person_id": [3]]),
        Example(entity: "email", format: "person.age = 3", constants: [:]),
        Example(entity: "email", format: "person.id = nil", constants: [:]),
        Example(
            entity: "email", format: "person = %@", arguments: [.object(FakeObject("person", ["id": 7]))],
            constants: ["person_id": [7]]),
        Example(
            entity: "email", format: "person IN %@",
            arguments: [.objects([FakeObject("person", ["id": 7]), FakeObject("person", ["id": 8])])],
            constants: ["person_id": [7, 8]]),
        // Nothing references a new object.
        Example(
            entity: "email", format: "person = %@", arguments: [.object(FakeObject("person", [:]))],
            constants: ["person_id": []]),
        Example(
            entity: "email", format: "SELF = %@", arguments: [.object(FakeObject("email", ["id": 3]))],
            constants: ["id": [3]]),
        Example(
            entity: "line", format: "order = %@",
            arguments: [.object(FakeObject("order", ["tenant": "a", "number": 1]))],
            constants: ["tenant": ["a"], "order_no": [1]]),
        Example(
            entity: "person", format: "passport = %@", arguments: [.object(FakeObject("passport", ["id": 1]))],
            constants: [:]),
        Example(
            entity: "person", format: "active = YES AND mood = 'sad'", constants: ["active": [true], "mood": ["sad"]]),
        // Only the server knows which of these are equal.
        Example(entity: "person", format: "code = 'a' AND height = 1.5 AND wealth = 2", constants: [:]),
        Example(entity: "person", format: "ANY emailSet.size = 1", constants: [:]),
    ])
    private func constantsOfTheConjunctionAreKnown(example: Example) throws {
        let runtime = SchemaRuntime(ConditionFixture.schema)
        let entity = try runtime.entity(named: example.entity)
        var query = SelectQuery(entity: entity.entity)
        try query.narrow(
            by: Condition(format: example.format, arguments: example.arguments), in: runtime.schema)
        let constants = try RequestReads(of: query, in: runtime).constants
        #expect(constants.count == example.constants.count)
        for constant in constants {
            #expect(constant.values == example.constants[entity.entity.attributes[constant.column].name])
        }
    }

    @Test func laterConditionsAddTheirs() throws {
        let runtime = SchemaRuntime(ConditionFixture.schema)
        var query = SelectQuery(entity: try ConditionFixture.entity("email"))
        for format in ["size = 5", "size IN {5, 6}"] {
            try query.narrow(by: Condition(format: format, arguments: []), in: runtime.schema)
        }
        let constants = try RequestReads(of: query, in: runtime).constants
        #expect(constants.map(\.values) == [[5], [5, 6]])
        #expect(constants.allSatisfy { $0.allows(5) && !$0.allows(7) && !$0.allows(nil) })
    }
}
