import Kindred
import KindredPostgres

/// A list's way to its next version: the offsets of removed, inserted, moved and changed elements, as few as possible.
struct LiveDifference: Sendable, Equatable {
    /// Offsets in the old list, ascending.
    var removals: [Int] = []
    /// Offsets in the new list, ascending.
    var insertions: [Int] = []
    /// The removals and insertions that are of the same element.
    var moves: [LiveMove] = []
    /// Offsets in the new list of elements that were in the old one too, and have changed.
    var updates: [Int] = []

    /// No difference.
    init() {}

    var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty }

    /// Compares two lists; each has an element once.
    ///
    /// - Parameter isSame: whether the contents of an element are the same in both, by its offsets in the old and the new.
    init<Key: Hashable>(from old: [Key], to new: [Key], isSame: (Int, Int) -> Bool) {
        let shorter = min(old.count, new.count)
        var start = 0
        while start < shorter, old[start] == new[start] { start += 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
            oldEnd -= 1
            newEnd -= 1
        }
        for place in 0..<start where !isSame(place, place) { updates.append(place) }
        let former = Dictionary(
            old[start..<oldEnd].enumerated().map { ($1, start + $0) }, uniquingKeysWith: { first, _ in first })
        // The old offsets of elements in both lists, in the new order: the elements of their longest ascending part
        // stay.
        let origins = new[start..<newEnd].map { former[$0] }
        let stays = Self.longestAscending(origins.compactMap(\.self))
        var left = Set(former.values)
        for (place, origin) in origins.enumerated() {
            guard let origin else {
                insertions.append(start + place)
                continue
            }
            if stays.contains(origin) {
                left.remove(origin)
            } else {
                insertions.append(start + place)
                moves.append(LiveMove(from: origin, to: start + place))
            }
            if !isSame(origin, start + place) { updates.append(start + place) }
        }
        removals = left.sorted()
        for place in newEnd..<new.count where !isSame(place - newEnd + oldEnd, place) { updates.append(place) }
    }

    /// The elements of a longest ascending part of distinct numbers.
    static func longestAscending(_ numbers: [Int]) -> Set<Int> {
        // `ends[n]` is the place of the least number at which an ascending part of n + 1 numbers ends.
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var found: Set<Int> = []
        var place = ends.last ?? -1
        while place >= 0 {
            found.insert(numbers[place])
            place = previous[place]
        }
        return found
    }
}

/// An object that has changed its place in a live list.
public struct LiveMove: Sendable, Hashable {
    /// Its offset in the last list; it is among the removals.
    public let from: Int
    /// Its offset in this list; it is among the insertions.
    public let to: Int
}
