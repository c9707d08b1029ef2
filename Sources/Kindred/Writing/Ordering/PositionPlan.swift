/// New positions for a list in another order: as few of them change as can be, and gaps are used.
struct PositionPlan {
    /// The smallest and the largest position that may be given.
    let range: ClosedRange<Int64>

    /// Far from where sums of positions could overflow.
    static let widest: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

    /// Ascending positions for the elements of a list, in its order.
    ///
    /// The elements that keep their positions are a longest ascending series that leaves room for those between them;
    /// these are spread over the room. Elements without a position get one. Lists begin with 1, unless there is a smaller
    /// position already, so that a column that must not be negative, or must be positive, stays so.
    ///
    /// - Parameter current: what the elements have now, in the order wanted.
    /// - Returns: One position for each; nil if the range has too few.
    func positions(_ current: [Int64?]) -> [Int64]? {
        let count = Int64(current.count)
        let lowest = max(range.lowerBound, min(1, current.lazy.compactMap { $0 }.min() ?? 1))
        guard count <= range.upperBound - lowest + 1 else { return nil }
        var positions: [Int64] = []
        positions.reserveCapacity(current.count)
        var last = lowest - 1
        func fill(_ missing: Int, before next: Int64?) {
            // Behind the last kept element, and before the first one, positions stand close together.
            let room = next.map { $0 - last } ?? 0
            let isFirst = positions.isEmpty
            let step = isFirst || next == nil ? 1 : room / (Int64(missing) + 1)
            if isFirst, let next { last = next - Int64(missing) - 1 }
            for _ in 0..<missing {
                last += step
                positions.append(last)
            }
        }
        for kept in kept(current, lowest) {
            guard let position = current[kept] else { continue }
            fill(kept - positions.count, before: position)
            positions.append(position)
            last = position
        }
        fill(current.count - positions.count, before: nil)
        return positions
    }

    /// Positions for the end of a list: whoever has one keeps it, the others come behind the greatest.
    ///
    /// - Returns: One position for each; nil if there is no room.
    func end(_ current: [Int64?]) -> [Int64]? {
        var last = current.lazy.compactMap { $0 }.max() ?? 0
        guard last <= range.upperBound - Int64(current.count) else { return nil }
        return current.map { position in
            if let position { return position }
            last += 1
            return last
        }
    }

    /// The elements that keep their positions, in order.
    ///
    /// Between two of them there is room if the position less the place in the list does not fall: a longest series that
    /// does not fall is found by patience sorting.
    private func kept(_ current: [Int64?], _ lowest: Int64) -> [Int] {
        let count = Int64(current.count)
        // The last element of the best series of each length, and what comes before each element.
        var tails: [(offset: Int64, element: Int)] = []
        var previous = [Int?](repeating: nil, count: current.count)
        for (element, position) in current.enumerated() {
            guard let position, range.contains(position) else { continue }
            let offset = position - Int64(element)
            guard offset >= lowest, position <= range.upperBound - (count - 1 - Int64(element)) else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if tails[middle].offset <= offset { low = middle + 1 } else { high = middle }
            }
            previous[element] = low > 0 ? tails[low - 1].element : nil
            if low == tails.count { tails.append((offset, element)) } else { tails[low] = (offset, element) }
        }
        var series: [Int] = []
        var next = tails.last?.element
        while let element = next {
            series.append(element)
            next = previous[element]
        }
        return series.reversed()
    }

    /// Positions at which the given elements can wait, so that the others can take theirs: nobody has or gets one.
    func parking(_ count: Int, outside used: some Sequence<Int64>) -> [Int64]? {
        let (lowest, highest) = used.reduce((Int64(0), Int64(0))) { (min($0.0, $1), max($0.1, $1)) }
        let count = Int64(count)
        if highest <= range.upperBound - count { return (1...count).map { highest + $0 } }
        if lowest >= range.lowerBound + count { return (1...count).map { lowest - $0 } }
        return nil
    }
}
