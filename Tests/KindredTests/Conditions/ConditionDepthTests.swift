import Foundation
import Testing

@testable import Kindred

@Suite struct ConditionDepthTests {
    @Test(arguments: [
        ("(", "age = 1", ")", 255), ("NOT ", "age = 1", "", 255), ("NOT (", "age = 1", ")", 127),
        ("age = 1 AND (", "age = 1", ")", 127), ("age = 1 OR NOT (age = 2 AND (", "age = 1", "))", 51),
        ("1 + ", "age = 1", "", 64), ("age = 1 + ", "(age + (((-(age)))))", "", 1), ("- ", "age = 1", "", 5_000),
    ])
    func theDeepestConditionFitsASmallStack(
        opening: String,
        middle: String,
        closing: String,
        depth: Int
    ) async throws {
        let format = String(repeating: opening, count: depth) + middle + String(repeating: closing, count: depth)
        try await onSmallStack { try Condition(format: format, arguments: []) }
    }

    private static let age = ColumnExpression<Int>(.path(.own("age")))

    /// Conditions that operators join, some with others joined to them.
    private static let trees: [(name: String, start: Condition, join: @Sendable (Condition) -> Condition)] = [
        ("OR, AND", age == 1, { ($0 || age == 2) && age == 3 }),
        ("NOT OR", age == 1, { !($0 || age == 2) }),
        ("AND NOT", age == 1, { age == 2 && !$0 }),
        ("members", age == 1, { members($0) }),
        ("number of members", age == 1, { ColumnExpression<Int>(.countWhere(reports($0))) > 0 }),
    ]

    private static func reports(_ condition: Condition) -> MemberCondition {
        MemberCondition(on: .own("reports"), as: .own, condition.node)
    }

    private static func members(_ condition: Condition) -> Condition {
        Condition(.members(.anyMember, reports(condition)))
    }

    @Test(arguments: trees.indices) func whatOperatorsNestIsLimitedBeforeItExhaustsTheStack(_ place: Int) async throws {
        let (name, start, join) = Self.trees[place]
        let small = (0..<15).reduce(start) { condition, _ in join(condition) }
        try await onSmallStack { small }
        let error = try await #require(throws: KindredError.self) {
            try await onSmallStack { (0..<20_000).reduce(start) { condition, _ in join(condition) } }
        }
        #expect(
            error.code == .invalidCondition && error.message.contains("nested more than 160 deep"), "\(name): \(error)")
    }

    @Test func aLongCalculationIsRefused() async throws {
        let sum = (0..<64).reduce(Self.age) { sum, number in sum + number }
        try await onSmallStack { sum > 1 }
        for join: @Sendable (ColumnExpression<Int>) -> ColumnExpression<Int> in [
            { $0 + 1 }, { -$0 }, { $0 ?? Self.age },
        ] {
            let error = try await #require(throws: KindredError.self) {
                try await onSmallStack { (0..<20_000).reduce(Self.age) { value, _ in join(value) } > 1 }
            }
            #expect(error.code == .invalidCondition && error.message.contains("64 calculations"), "\(error)")
        }
    }

    /// Each join copies the parts of few lists.
    @Test func manyConditionsAreOneListOfFewLevels() async throws {
        let some = (0..<100).map { Self.age == $0 }
        let many = (0..<20_000).reduce(some[0]) { condition, number in condition || some[number % 100] }
        guard case .any(let list) = many.node else { throw KindredError(.invalidCondition, "It is no list") }
        #expect(list.count < 3 * 32)
        // The same text as of a list that is made at once.
        func text(_ condition: Condition) throws -> String {
            var query = SelectQuery(entity: try ConditionFixture.entity("person"))
            try query.narrow(by: condition, in: ConditionFixture.schema)
            return "\(try query.countStatement(in: ConditionFixture.schema).text.text)"
        }
        let joined = some.dropFirst().reduce(some[0]) { $0 || $1 }
        #expect(try text(joined) == text(Condition(.any(ConditionList(some.map(\.node))))))
        let narrowed = some.dropFirst().reduce(some[0]) { $0 && $1 }
        #expect(try text(narrowed) == text(Condition(.all(ConditionList(some.map(\.node))))))
        try await onSmallStack { many }
    }

    /// Resolves and renders a condition on a stack of the size that a thread of the concurrency runtime has on macOS.
    private func onSmallStack(_ condition: @escaping @Sendable () throws -> Condition) async throws {
        let entity = try ConditionFixture.entity("person")
        let result = await withCheckedContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    returning: Result {
                        var query = SelectQuery(entity: entity)
                        try query.narrow(by: try condition(), in: ConditionFixture.schema)
                        _ = try query.countStatement(in: ConditionFixture.schema)
                    }
                )
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }
        try result.get()
    }
}
