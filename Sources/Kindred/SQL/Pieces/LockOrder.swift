import KindredPostgres
import KindredSchema

/// The fixed order of their keys in which the rows of one statement are sent, the same in every program.
///
/// Writers of the same rows lock them in this order and wait for each other, where they would otherwise deadlock. It is the
/// order of the encoded bytes, with the sign of integers and times, which is the server's own order for nearly all keys.
struct LockOrder {
    private let columns: [(position: Int, isSigned: Bool)]

    /// The order by some columns of an entity's rows.
    init(_ entity: EntityRuntime, by columns: [Int]) {
        self.columns = columns.map { ($0, entity.entity.attributes[$0].baseType.isSigned) }
    }

    /// Elements in the order of their rows; elements of equal keys keep their order.
    func sorted<Element>(_ elements: [Element], by row: (Element) -> Row) -> [Element] {
        places(elements, by: row)?.map { elements[$0] } ?? elements
    }

    /// The places of elements in their order; nil if they are in order already, as most are that were read by key.
    func places<Element>(_ elements: some RandomAccessCollection<Element>, by row: (Element) -> Row) -> [Int]? {
        if elements.count < 2 || columns.isEmpty { return nil }
        var last: Row?
        let isSorted = elements.allSatisfy { element in
            let next = row(element)
            defer { last = next }
            return last.map { !precedes(next, $0) } ?? true
        }
        if isSorted { return nil }
        let rows = elements.map(row)
        return rows.indices.sorted { left, right in
            if precedes(rows[left], rows[right]) { return true }
            return left < right && !precedes(rows[right], rows[left])
        }
    }

    private func precedes(_ left: Row, _ right: Row) -> Bool {
        for column in columns {
            if left.precedes(right, at: column.position, isSigned: column.isSigned) { return true }
            if right.precedes(left, at: column.position, isSigned: column.isSigned) { return false }
        }
        return false
    }
}

extension EntityRuntime {
    /// The fixed order in which rows are written.
    var lockOrder: LockOrder { LockOrder(self, by: key) }

    /// Whether rows that a statement writes are locked first in the order of their keys, where its plan may find them in another.
    var locksInOrder: Bool {
        locksFound && !entity.isDistributed && (entity.kind == .table || entity.kind == .partitionedTable)
    }

    /// Whether new rows with values for some columns may be stored in any order: the program gives the whole key, and nothing
    /// that the server makes for a row, such as a number of a sequence, can depend on the rows before it.
    func mayReorderNewRows(with columns: [Int]) -> Bool {
        !key.isEmpty && rowTable == nil && key.allSatisfy(columns.contains) && !entity.isView && !hasRules
            && !entity.hasInsertTrigger && columnsWithDefault.subtracting(ColumnSet(columns)).isEmpty
    }
}

extension PostgresDataType {
    /// Whether the first bit of the binary form is a sign.
    fileprivate var isSigned: Bool {
        switch self {
        case .int2, .int4, .int8, .date, .timestamp, .timestamptz: true
        default: false
        }
    }

    /// Whether it is a text that has a collation, and whose bytes are the order of "C".
    var isText: Bool { self == .text || self == .varchar || self == .bpchar }
}
