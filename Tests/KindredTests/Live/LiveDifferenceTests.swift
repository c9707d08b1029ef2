import Testing

@testable import Kindred
@testable import KindredLive

/// Differences of lists, compared with a search of all possible ones.
@Suite struct LiveDifferenceTests {
    /// Applies a difference as a consumer does: removals, the last first, and then insertions.
    private func applied(_ difference: LiveDifference, to old: [Int], _ new: [Int]) -> [Int] {
        var list = old
        for place in difference.removals.reversed() { list.remove(at: place) }
        for place in difference.insertions { list.insert(new[place], at: place) }
        return list
    }

    /// The greatest number of elements that can stay where they are, found by trying every part of the new list.
    private func mostThatStay(_ old: [Int], _ new: [Int]) -> Int {
        (0..<1 << new.count).reduce(0) { most, chosen in
            let part = new.indices.filter { chosen >> $0 & 1 == 1 }.map { new[$0] }
            let places = part.map { old.firstIndex(of: $0) }
            guard !places.contains(nil) else { return most }
            let found = places.compactMap(\.self)
            return zip(found, found.dropFirst()).allSatisfy { $0 < $1 } ? max(most, part.count) : most
        }
    }

    private func check(_ old: [Int], _ new: [Int], changed: Set<Int>) {
        let difference = LiveDifference(from: old, to: new) { old[$0] != new[$1] || !changed.contains(new[$1]) }
        #expect(applied(difference, to: old, new) == new, "\(old) to \(new): \(difference)")
        let stay = mostThatStay(old, new)
        #expect(difference.removals.count == old.count - stay, "\(old) to \(new): \(difference)")
        #expect(difference.insertions.count == new.count - stay)
        #expect(difference.removals == difference.removals.sorted())
        #expect(difference.insertions == difference.insertions.sorted())
        // Each element that is in both lists and removed is moved.
        let moved = difference.removals.filter { new.contains(old[$0]) }
        #expect(difference.moves.map(\.from).sorted() == moved)
        #expect(difference.moves.allSatisfy { old[$0.from] == new[$0.to] && difference.insertions.contains($0.to) })
        #expect(difference.updates == new.indices.filter { old.contains(new[$0]) && changed.contains(new[$0]) })
    }

    @Test func randomListsHaveLeastDifferences() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let pool = Array(0..<8)
            let old = Array(pool.shuffled(using: &random).prefix(Int.random(in: 0...7, using: &random)))
            let new = Array(pool.shuffled(using: &random).prefix(Int.random(in: 0...7, using: &random)))
            check(old, new, changed: Set(pool.filter { _ in Bool.random(using: &random) }))
        }
    }

    @Test func commonEndsAreLeftAlone() {
        check([1, 2, 3, 4, 5], [1, 2, 4, 3, 5], changed: [])
        check([1, 2, 3], [1, 2, 3], changed: [2])
        check([1, 2, 3], [], changed: [])
        check([], [1, 2, 3], changed: [])
        check([1, 2, 3], [3, 1, 2], changed: [3])
    }

    @Test func oneMoveInALongListIsOneMove() {
        let old = Array(0..<10_000)
        var new = old
        new.insert(new.remove(at: 9_000), at: 17)
        let difference = LiveDifference(from: old, to: new) { _, _ in true }
        #expect(difference.moves == [LiveMove(from: 9_000, to: 17)])
        #expect(difference.removals == [9_000] && difference.insertions == [17])
    }

    @Test func longestAscendingPartsAreFound() {
        #expect(LiveDifference.longestAscending([]) == [])
        #expect(LiveDifference.longestAscending([3, 1, 2]) == [1, 2])
        #expect(LiveDifference.longestAscending([5, 4, 3]).count == 1)
        #expect(LiveDifference.longestAscending([0, 8, 4, 12, 2, 10, 6, 14, 1, 9]).count == 4)
    }
}
