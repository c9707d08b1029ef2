import TestSupport
import Testing

@testable import Kindred

/// A holder's value is written away before the taker's row is.
@Suite struct SaveStepsTests {
    private func exchange(_ holder: Int, _ taker: Int, _ release: SaveSteps.Release = .impossible)
        -> SaveSteps.Exchange
    {
        SaveSteps.Exchange(holder: holder, taker: taker, release: release)
    }

    @Test func theEndOfAChainMovesFirst() {
        let steps = SaveSteps(levels: [], references: [:], exchanges: [exchange(1, 0), exchange(2, 1)])
        #expect(steps.steps == [.update([2]), .update([1])] && steps.stuck.isEmpty)
    }

    @Test func aCircleGivesItsValuesUpFirst() {
        let exchanges = [exchange(0, 1, .together), exchange(1, 2, .together), exchange(2, 0, .together)]
        let steps = SaveSteps(levels: [], references: [:], exchanges: exchanges)
        #expect(steps.steps == [.release([0, 1, 2])] && steps.stuck.isEmpty)
        let alone = SaveSteps(levels: [], references: [:], exchanges: [exchange(0, 1, .alone), exchange(1, 0, .alone)])
        #expect(alone.steps == [.release([0]), .update([1]), .update([0])] && alone.stuck.isEmpty)
        let strict = SaveSteps(levels: [], references: [:], exchanges: [exchange(0, 1), exchange(1, 0)])
        #expect(strict.steps.isEmpty && strict.stuck == [0, 1])
    }

    @Test func aNewOwnerIsStoredBeforeTheMemberThatMakesWay() {
        // 0 is the new owner, 1 the new member, 2 the member that goes to the new owner.
        let steps = SaveSteps(levels: [[0], [1]], references: [2: [0]], exchanges: [exchange(2, 1)])
        #expect(steps.steps == [.insert([0]), .update([2]), .insert([1])])
    }

    @Test func aDeletionWaitsForThoseThatLeave() {
        // 0 is new and takes what 1 has, which is deleted when 2 has left it.
        let steps = SaveSteps(
            levels: [[0]], references: [1: [2]], exchanges: [exchange(1, 0)], deletions: [1])
        #expect(steps.steps == [.update([2]), .delete([1]), .insert([0])] && steps.stuck.isEmpty)
        // It leaves for the new one, which cannot be stored before the deletion.
        let circle = SaveSteps(
            levels: [[0]], references: [1: [2], 2: [0]], exchanges: [exchange(1, 0)], deletions: [1])
        #expect(circle.steps == [.insert([0])] && circle.stuck == [0])
    }

    @Test func objectsOfOneStatementWaitTogether() {
        let steps = SaveSteps(levels: [[0, 1]], references: [:], exchanges: [exchange(2, 1)], joint: [0, 1])
        #expect(steps.steps == [.update([2]), .insert([0, 1])])
    }

    @Test func longChainsOfRequiredValuesTakeLittleTime() {
        let exchanges = (0..<5_000).map { exchange($0 + 1, $0) }
        #expect(SaveSteps(levels: [], references: [:], exchanges: exchanges).steps.count == 5_000)
        let released = (0..<5_000).map { exchange($0 + 1, $0, .together) }
        let steps = SaveSteps(levels: [], references: [:], exchanges: released).steps
        #expect(steps.count == SaveSteps.maximumUpdates + 1)
    }

    /// Values as a table with a unique column keeps them: no step may write a value that another row has.
    @Test(arguments: UInt64(1)...2_000) func noValueIsTakenBeforeItIsGivenUp(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (newCount, count) = (Int.random(in: 0...4, using: &random), Int.random(in: 5...12, using: &random))
        let release = random.pick([SaveSteps.Release.impossible, .together, .alone])
        var column: [Int: Int?] = [:]
        for object in newCount..<count { column[object] = object }
        let wanted = Array((0..<(count + 3)).shuffled(using: &random).prefix(count))
        let exchanges = (newCount..<count).compactMap { holder -> SaveSteps.Exchange? in
            guard let taker = wanted.firstIndex(of: holder), taker != holder else { return nil }
            return exchange(holder, taker, release)
        }
        let cut = Int.random(in: 0...newCount, using: &random)
        let levels = [Array(0..<cut), Array(cut..<newCount)].filter { !$0.isEmpty }
        var references: [Int: [Int]] = [:]
        for object in cut..<count where cut > 0 && random.once(in: 3) {
            references[object] = [Int.random(in: 0..<cut, using: &random)]
        }
        let plan = SaveSteps(levels: levels, references: references, exchanges: exchanges)
        var written: Set<Int> = []
        func write(_ objects: [Int]) {
            for object in objects {
                #expect(written.insert(object).inserted && references[object, default: []].allSatisfy(written.contains))
                #expect(
                    plan.stuck.isEmpty == false || !column.contains { $0.key != object && $0.value == wanted[object] })
            }
            for object in objects { column[object] = .some(wanted[object]) }
        }
        for step in plan.steps {
            switch step {
            case .release(let exchanges_):
                for exchange in exchanges_ { column[exchanges[exchange].holder] = .some(nil) }
                #expect(release == .together || column.count { $0.value == nil } == 1)
            case .insert(let objects), .update(let objects): write(objects)
            case .delete(let objects): Issue.record("There is nothing to delete: \(objects)")
            }
        }
        write((newCount..<count).filter { !written.contains($0) })
        #expect(written.count == count)
        if !plan.stuck.isEmpty { #expect(release != .together) }
    }
}
