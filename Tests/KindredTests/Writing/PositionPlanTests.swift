import TestSupport
import Testing

@testable import Kindred

@Suite struct PositionPlanTests {
    private static let plan = PositionPlan(range: Int64(Int32.min)...Int64(Int32.max))

    @Test(
        arguments: [
            ([], []),
            ([nil], [1]),
            ([nil, nil, nil], [1, 2, 3]),
            // Elements that can keep their positions keep them.
            ([1, 2, 3], [1, 2, 3]),
            ([0, 5, 9], [0, 5, 9]),
            ([-7, 5], [-7, 5]),
            // After the last, and in a gap: no other element changes.
            ([1, 2, nil], [1, 2, 3]),
            ([10, nil, 20], [10, 15, 20]),
            ([10, nil, nil, 13], [10, 11, 12, 13]),
            ([5, nil, 6, 8], [5, 6, 7, 8]),
            // Before the first where there is room down to 1, or down to an earlier smaller position.
            ([nil, 5], [4, 5]),
            ([nil, 1, 2], [1, 2, 3]),
            ([nil, 0, 1], [0, 1, 2]),
            // One moves, the others stay.
            ([3, 1, 2], [3, 4, 5]),
            ([2, 3, 4, 5, 1], [2, 3, 4, 5, 6]),
            ([1, 3, 2, 4], [1, 2, 3, 4]),
            // Equal positions, and elements without one.
            ([4, 4, 4], [4, 5, 6]),
            ([1, nil, nil, 2], [1, 2, 3, 4]),
        ] as [([Int64?], [Int64])])
    func positionsChangeAsLittleAsPossible(_ current: [Int64?], _ expected: [Int64]) {
        let found = Self.plan.positions(current)
        #expect(found.map(Self.isAscending) == true)
        #expect(found.map { Self.changes(current, $0) } == Self.changes(current, expected))
        if current.allSatisfy({ $0 != nil }) || current.count < 4 { #expect(found?.count == expected.count) }
    }

    @Test(arguments: UInt64(1)...200)
    func randomListsGetAscendingPositionsWithTheFewestChanges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let plan = PositionPlan(range: 0...9)
        for _ in 0..<20 {
            let count = Int.random(in: 0...6, using: &random)
            let current: [Int64?] = (0..<count).map { _ in
                random.once(in: 4) ? nil : Int64.random(in: 0...9, using: &random)
            }
            let found = plan.positions(current)
            let lowest = min(1, current.compactMap { $0 }.min() ?? 1)
            let best = Self.fewestChanges(current[...], lowest...9)
            #expect(found.map(Self.isAscending) == true, "\(current)")
            #expect(found.map { $0.allSatisfy { (0...9).contains($0) } } == true, "\(current)")
            #expect(found.map { Self.changes(current, $0) } == best, "\(current): \(found ?? [])")
        }
    }

    @Test func aRangeThatIsTooSmallIsSaid() {
        let plan = PositionPlan(range: 1...3)
        #expect(plan.positions([nil, nil, nil]) == [1, 2, 3])
        #expect(plan.positions([3, nil, nil]) == [1, 2, 3])
        #expect(plan.positions([nil, nil, nil, nil]) == nil)
    }

    @Test func positionsAtTheEndOfTheRangeAreGivenAnew() {
        let plan = PositionPlan(range: PositionPlan.widest)
        #expect(plan.positions([1, .max, nil]) == [1, 2, 3])
        let int4 = Self.plan.positions([5, Int64(Int32.max), nil])
        #expect(int4 == [5, 6, 7])
        #expect(plan.end([5, nil, 3, nil]) == [5, 6, 3, 7])
        #expect(plan.end([nil]) == [1])
        #expect(Self.plan.end([Int64(Int32.max), nil]) == nil)
    }

    @Test func parkingPositionsAreUnused() {
        #expect(Self.plan.parking(2, outside: [1, 5]) == [6, 7])
        #expect(Self.plan.parking(2, outside: [Int64(Int32.max), -3]) == [-4, -5])
        #expect(PositionPlan(range: 0...3).parking(2, outside: [0, 3]) == nil)
    }

    private static func isAscending(_ positions: [Int64]) -> Bool {
        zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }
    }

    private static func changes(_ current: [Int64?], _ positions: [Int64]) -> Int {
        zip(current, positions).count { $0 != $1 }
    }

    /// The smallest number of changes, by trying all ascending positions.
    private static func fewestChanges(_ current: ArraySlice<Int64?>, _ range: ClosedRange<Int64>) -> Int? {
        guard let first = current.first else { return 0 }
        var best: Int?
        for position in range {
            let rest = current.dropFirst()
            let found: Int?
            if rest.isEmpty {
                found = 0
            } else {
                found = position < range.upperBound ? fewestChanges(rest, (position + 1)...range.upperBound) : nil
            }
            guard let found else { continue }
            best = min(best ?? .max, found + (first == position ? 0 : 1))
        }
        return best
    }
}
