import KindredPostgres
import Testing

@testable import Kindred

/// Columns as bits behave as a set of numbers does, and new values stand in the order of their columns.
@Suite struct ColumnSetTests {
    private struct Generator {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    @Test(arguments: [3, 64, 65, 130, 1_600]) func columnsAreASet(width: Int) {
        var random = Generator(state: UInt64(width))
        for _ in 0..<200 {
            var (bits, numbers) = (ColumnSet(), Set<Int>())
            for _ in 0..<random.next(20) {
                let column = random.next(width)
                #expect(bits.insert(column) == numbers.insert(column).inserted)
            }
            let others = Set((0..<random.next(20)).map { _ in random.next(width) })
            let other = ColumnSet(others)
            #expect(Array(bits) == numbers.sorted() && bits.isEmpty == numbers.isEmpty)
            #expect(Array(bits.union(other)) == numbers.union(others).sorted())
            #expect(Array(bits.subtracting(other)) == numbers.subtracting(others).sorted())
            #expect(Array(bits.filter { $0 % 3 == 0 }) == numbers.filter { $0 % 3 == 0 }.sorted())
            #expect(bits.isDisjoint(with: Array(others)) == numbers.isDisjoint(with: others))
            #expect((bits == other) == (numbers == others))
            #expect(bits.subtracting(other).union(bits.filter(other.contains)) == bits)
            let column = random.next(width)
            #expect(bits.contains(column) == numbers.contains(column))
            #expect(bits.rank(of: column) == numbers.count { $0 < column })
        }
    }

    @Test(arguments: [4, 70, 200]) func newValuesReplaceOnlyTheirColumns(width: Int) {
        var random = Generator(state: UInt64(width))
        let columns = RowColumns((0..<width).map { .init(name: "c\($0)", dataType: .text) }, types: nil)
        let row = Row(columns: columns, count: width) { column, write in
            if column % 3 != 0 { "old \(column)".withBytes(write) }
        }
        for _ in 0..<50 {
            var (cells, texts) = (RowCells(), [Int: String?]())
            for step in 0..<random.next(12) {
                let column = random.next(width)
                let text = random.next(3) == 0 ? nil : String(repeating: "new \(step) ", count: random.next(4))
                cells.set(text, at: column)
                texts.updateValue(text, forKey: column)
            }
            let changed = row.replacing(cells)
            #expect(Array(cells.columns) == texts.keys.sorted())
            for column in 0..<width {
                let old = column % 3 != 0 ? "old \(column)" : nil
                let new = changed.withBytes(at: column) { String(decoding: $0, as: UTF8.self) }
                #expect(new == texts[column, default: old])
            }
        }
    }
}

extension RowCells {
    fileprivate mutating func set(_ text: String?, at column: Int) {
        set(column) { bytes in
            bytes += Array((text ?? "").utf8)
            return text != nil
        }
    }
}
