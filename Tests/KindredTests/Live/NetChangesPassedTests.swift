import KindredSchema
import Testing

@testable import Kindred
@testable import KindredLive

/// Rows that came and went between two cursors: a context may have read them meanwhile.
@Suite struct NetChangesPassedTests {
    private static func passed(_ operations: (ChangeRecord.Operation, Int64, Int)...) -> Set<ObjectKey> {
        var net = NetChanges()
        net.add(
            operations.map { operation, transaction, depth in
                ChangeRecord(
                    transaction: transaction, relation: SimulatedTable.relation, operation: operation, depth: depth,
                    keys: ["1"])
            }, SimulatedTable.layout)
        return net.sum().batch.passed[SimulatedTable.name] ?? []
    }

    @Test func aRowThatCameAndWentHasPassed() {
        #expect(Self.passed((.insert, 1, 1), (.delete, 1, 1)) == [.integer(1)])
        #expect(Self.passed((.insert, 1, 1), (.update, 2, 1), (.delete, 3, 1)) == [.integer(1)])
    }

    @Test func whatIsThereOrWasThereHasNotPassed() {
        #expect(Self.passed((.insert, 1, 1)) == [])
        #expect(Self.passed((.delete, 1, 1)) == [])
        #expect(Self.passed((.delete, 1, 1), (.insert, 2, 1)) == [])
        #expect(Self.passed((.delete, 1, 1), (.insert, 2, 1), (.delete, 3, 1)) == [])
        #expect(Self.passed((.update, 1, 1)) == [])
    }

    @Test func whatIsUncertainIsLookedUp() {
        // In a trigger, and afterwards outside of it: whether it was there is unknown.
        #expect(Self.passed((.delete, 1, 2), (.insert, 1, 1)) == [.integer(1)])
    }
}
