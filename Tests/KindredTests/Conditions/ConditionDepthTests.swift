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
        let entity = try ConditionFixture.entity("person")
        let result = await withCheckedContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    returning: Result {
                        var query = SelectQuery(entity: entity)
                        try query.narrow(by: Condition(format: format, arguments: []), in: ConditionFixture.schema)
                        _ = try query.countStatement(in: ConditionFixture.schema)
                    }
                )
            }
            // What a thread of the concurrency runtime has on macOS.
            thread.stackSize = 512 * 1024
            thread.start()
        }
        try result.get()
    }
}
