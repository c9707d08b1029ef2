import Kindred
import KindredPostgres
import KindredSchema

/// The order of a request's rows, where memory compares values exactly as the server does.
struct LiveOrder: Sendable {
    private struct Term: Sendable {
        let column: Int
        let ascending: Bool
        let nullsFirst: Bool
    }

    private let terms: [Term]

    /// nil if only the server can compare the rows: by values of other rows, or of types such as text, whose order
    /// depends on the server's collation.
    init?(_ sort: [SortTerm], of entity: EntityRuntime) {
        var terms: [Term] = []
        for term in sort {
            guard term.path.count == 1, let column = entity.attributeIndex(of: term.path[0]),
                Self.isExact(entity.entity.attributes[column].baseType)
            else { return nil }
            let nullsFirst =
                switch term.nulls {
                case .standard: !term.ascending
                case .first: true
                case .last: false
                }
            terms.append(Term(column: column, ascending: term.ascending, nullsFirst: nullsFirst))
        }
        // Without the key at the end, the server orders equal rows as it likes.
        guard !terms.isEmpty, entity.key.allSatisfy({ column in terms.contains { $0.column == column } })
        else { return nil }
        self.terms = terms
    }

    private static func isExact(_ type: PostgresDataType) -> Bool {
        switch type {
        case .int2, .int4, .int8, .bool, .date, .timestamp, .timestamptz, .uuid, .numeric, .bytea: true
        default: false
        }
    }

    /// Whether a row comes before another.
    func precedes(_ left: Row, _ right: Row) throws -> Bool {
        for term in terms {
            switch (try left[term.column], try right[term.column]) {
            case (nil, nil): continue
            case (nil, _): return term.nullsFirst
            case (_, nil): return !term.nullsFirst
            case (let first?, let second?):
                guard let precedes = Self.precedes(first, second) else { continue }
                return precedes == term.ascending
            }
        }
        return false
    }

    /// Whether a value is less than another; nil if they are equal.
    private static func precedes(_ left: PostgresValue, _ right: PostgresValue) -> Bool? {
        func less<Value: Comparable>(_ left: Value, _ right: Value) -> Bool? { left == right ? nil : left < right }
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return less(left, right)
        case (.bool(let left), .bool(let right)): return left == right ? nil : !left
        case (.date(let left), .date(let right)): return less(left, right)
        case (.timestamp(let left), .timestamp(let right)), (.timestampTZ(let left), .timestampTZ(let right)):
            return less(left, right)
        case (.numeric(let left), .numeric(let right)): return less(left, right)
        // Byte by byte, as the texts are.
        case (.uuid, .uuid): return less(left.description, right.description)
        case (.bytes(let left), .bytes(let right)): return left == right ? nil : left.lexicographicallyPrecedes(right)
        default: return nil
        }
    }

    /// The place of a row in a list of rows in this order.
    func place(of row: Row, in members: [Member]) throws -> Int {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if try precedes(members[middle].row, row) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension LiveSnapshot {
    /// Whether rows were in this answer before they changed, and have the same values in the columns that decide their places.
    func keepsPlaces(of found: LiveSnapshot, decidedBy columns: ColumnSet) -> Bool {
        let new = Dictionary(found.rows.map { ($0.key, $0.row) }, uniquingKeysWith: { first, _ in first })
        let kept = rows.count { member in
            guard let row = new[member.key] else { return false }
            return columns.allSatisfy { member.row.hasSameBytes(as: row, at: $0) }
        }
        return kept == new.count
    }

    /// The answer after some of its rows have changed.
    ///
    /// - Parameters:
    ///   - keys: the rows that have changed.
    ///   - found: the part of the answer with the changed rows that are in it now.
    ///   - order: the order of the rows; nil if known rows keep their places and new rows come behind.
    func replacing(_ keys: Set<ObjectKey>, with found: LiveSnapshot, _ order: LiveOrder?) throws -> LiveSnapshot {
        let rows = try order.map { try replacing(keys, with: found.rows, in: $0) } ?? replacing(keys, with: found.rows)
        let branches = LiveBranch.merged(branches, found.branches)
        return LiveSnapshot(rows, branches.isEmpty ? [] : LiveBranch.pruned(branches, to: rows.map(\.row)))
    }

    /// Known rows at their places, and new rows behind.
    private func replacing(_ keys: Set<ObjectKey>, with found: [Member]) -> [Member] {
        let new = Dictionary(found.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let known = Set(rows.map(\.key))
        return rows.compactMap { keys.contains($0.key) ? new[$0.key] : $0 } + found.filter { !known.contains($0.key) }
    }

    private func replacing(_ keys: Set<ObjectKey>, with found: [Member], in order: LiveOrder) throws -> [Member] {
        var stayed = rows.filter { !keys.contains($0.key) }
        let joining = try found.sorted { try order.precedes($0.row, $1.row) }
        // Few rows find their places one by one; many are merged.
        guard joining.count > 16 else {
            for member in joining { stayed.insert(member, at: try order.place(of: member.row, in: stayed)) }
            return stayed
        }
        var merged: [Member] = []
        merged.reserveCapacity(stayed.count + joining.count)
        var next = 0
        for member in joining {
            while next < stayed.count, try order.precedes(stayed[next].row, member.row) {
                merged.append(stayed[next])
                next += 1
            }
            merged.append(member)
        }
        return merged + stayed[next...]
    }
}
