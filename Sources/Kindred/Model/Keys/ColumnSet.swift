import KindredPostgres

/// A set of columns by position, as bits: a save makes, joins and compares such sets for each object.
///
/// With `Set<Int>` or an array of words each set is an allocation, and a save of 10,000 changed objects makes 5.1 of
/// them for each object (the benchmarks' counts).
package struct ColumnSet: Hashable, Sendable {
    /// The first 64 columns, which are all columns of most tables.
    private var first: UInt64 = 0
    /// The columns after the first 64, 64 to a word; the last word is never zero, so that equal sets have equal words.
    private var rest: [UInt64] = []

    /// The number of members below a column, which is its rank among the members.
    func rank(of column: Int) -> Int {
        let below = (UInt64(1) << UInt64(column % 64)) &- 1
        if column < 64 { return (first & below).nonzeroBitCount }
        let count = rest.prefix(column / 64 - 1).reduce(first.nonzeroBitCount) { $0 + $1.nonzeroBitCount }
        return count + (word(column / 64) & below).nonzeroBitCount
    }

    /// The members that fulfil a condition.
    func filter(_ isIncluded: (Int) throws -> Bool) rethrows -> ColumnSet {
        var result = ColumnSet()
        for column in self where try isIncluded(column) { result.insert(column) }
        return result
    }

    package func isDisjoint(with columns: [Int]) -> Bool { !columns.contains(where: contains) }

    func isDisjoint(with other: ColumnSet) -> Bool {
        if first & other.first != 0 { return false }
        return zip(rest, other.rest).allSatisfy { $0 & $1 == 0 }
    }

    private var wordCount: Int { 1 + rest.count }

    private func word(_ number: Int) -> UInt64 {
        if number == 0 { return first }
        return number <= rest.count ? rest[number - 1] : 0
    }

    private mutating func set(_ word: UInt64, at number: Int) {
        if number == 0 {
            first = word
            return
        }
        while rest.count < number { rest.append(0) }
        rest[number - 1] = word
        while rest.last == 0 { rest.removeLast() }
    }

    private mutating func combine(_ other: ColumnSet, _ operation: (UInt64, UInt64) -> UInt64) {
        first = operation(first, other.first)
        if rest.isEmpty && other.rest.isEmpty { return }
        for number in 1..<Swift.max(wordCount, other.wordCount) {
            set(operation(word(number), other.word(number)), at: number)
        }
    }
}

extension ColumnSet: ExpressibleByArrayLiteral {
    package init(_ columns: some Sequence<Int>) {
        for column in columns { insert(column) }
    }

    package init(arrayLiteral columns: Int...) { self.init(columns) }

    var isEmpty: Bool { first == 0 && rest.isEmpty }

    func contains(_ column: Int) -> Bool {
        if rest.isEmpty { return column < 64 && first >> UInt64(column) & 1 == 1 }
        return word(column / 64) >> UInt64(column % 64) & 1 == 1
    }

    /// Returns whether the column is new.
    @discardableResult
    mutating func insert(_ column: Int) -> Bool {
        if contains(column) { return false }
        if column < 64 {
            first |= 1 << UInt64(column)
            return true
        }
        set(word(column / 64) | 1 << UInt64(column % 64), at: column / 64)
        return true
    }

    mutating func formUnion(_ other: ColumnSet) { combine(other, |) }
    mutating func subtract(_ other: ColumnSet) { combine(other) { $0 & ~$1 } }

    func union(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.formUnion(other)
        return result
    }

    package func subtracting(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.subtract(other)
        return result
    }
}

extension ColumnSet: Sequence {
    /// The columns from the first to the last.
    package struct Iterator: IteratorProtocol {
        private let set: ColumnSet
        private var number = 0
        /// The remaining bits of the current word.
        private var left: UInt64

        init(_ set: ColumnSet) {
            self.set = set
            left = set.first
        }

        package mutating func next() -> Int? {
            while left == 0 {
                number += 1
                guard number < set.wordCount else { return nil }
                left = set.word(number)
            }
            defer { left &= left - 1 }
            return 64 * number + left.trailingZeroBitCount
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }

    package var underestimatedCount: Int { rest.reduce(first.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }
}
