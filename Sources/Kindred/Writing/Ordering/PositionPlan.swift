import KindredPostgres

/// New positions for a list in another order: changes as few as possible, and uses gaps.
struct PositionPlan {
    /// The smallest and the largest position that may be given.
    let range: ClosedRange<Int64>

    /// Leaves room for sums of positions without overflow.
    static let widest: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

    /// Ascending positions for the elements of a list, in its order.
    ///
    /// The elements that keep their positions are a longest ascending subsequence with room for the elements between
    /// them; the other elements are spread over the room. Elements without a position get one. Lists begin with 1,
    /// unless a smaller position exists, so that a column restricted to positive or nonnegative values stays valid.
    ///
    /// - Parameter current: the current positions of the elements, in the new order.
    /// - Returns: One position for each; nil if the range has too few.
    func positions(_ current: [Int64?]) -> [Int64]? {
        let count = Int64(current.count)
        let lowest = max(range.lowerBound, min(1, current.lazy.compactMap { $0 }.min() ?? 1))
        guard count <= range.upperBound - lowest + 1 else { return nil }
        var positions: [Int64] = []
        positions.reserveCapacity(current.count)
        var last = lowest - 1
        func fill(_ missing: Int, before next: Int64?) {
            // After the last kept element, and before the first kept element, positions are consecutive.
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

    /// Positions for the end of a list: existing ones stay, new ones follow the greatest.
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
    /// Two elements have room between them if position minus index does not decrease. Patience sorting finds a longest
    /// nondecreasing subsequence.
    private func kept(_ current: [Int64?], _ lowest: Int64) -> [Int] {
        let count = Int64(current.count)
        // The last element of the best subsequence of each length, and the predecessor of each element.
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

    /// Unused positions at which elements are parked while other elements take their positions.
    func parking(_ count: Int, outside used: some Sequence<Int64>) -> [Int64]? {
        let (lowest, highest) = used.reduce((Int64(0), Int64(0))) { (min($0.0, $1), max($0.1, $1)) }
        let count = Int64(count)
        if highest <= range.upperBound - count { return (1...count).map { highest + $0 } }
        if lowest >= range.lowerBound + count { return (1...count).map { lowest - $0 } }
        return nil
    }
}
