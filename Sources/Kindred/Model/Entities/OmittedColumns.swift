import KindredPostgres
import KindredSchema

// Columns that a statement omits: its result has them in their places, as NULL and marked, so that each row tells
// which columns it has. See ``Row/isLeftOut(at:)``.
extension EntityRuntime {
    /// The columns that a request omits: `omitting` and `only`.
    ///
    /// - Parameter leftOut: nil for the lazy columns, which every statement leaves out that is not asked for them.
    func isLeftOut(_ column: Int, among leftOut: ColumnSet?) -> Bool { (leftOut ?? lazyColumns).contains(column) }

    /// Whether a row lacks columns that a request leaves out only if it is told to.
    func isPartial(_ row: Row) -> Bool {
        guard row.leavesOut else { return false }
        if lazyColumns.isEmpty { return true }
        return attributeColumns.contains { row.isLeftOut(at: $0) && !lazyColumns.contains($0) }
    }

    /// The columns of a row that are omitted.
    func leftOutColumns(of row: Row) -> ColumnSet {
        row.leavesOut ? ColumnSet(attributeColumns.filter { row.isLeftOut(at: $0) }) : []
    }

    /// A row that was read now, with the values of the row known before in the columns that it leaves out; nil unless both are
    /// certainly of one state of the row.
    ///
    /// They are if they have the same version. Without versions the known row stays as it is if it holds all values
    /// that were read.
    func completed(_ row: Row, by known: Row) -> Row? {
        for column in attributeColumns where !row.isLeftOut(at: column) {
            if known.isLeftOut(at: column) {
                guard version != nil else { return nil }
            } else {
                guard row.hasSameBytes(as: known, at: column) else { return nil }
            }
        }
        return row.replacing(leftOutColumns(of: row), from: known)
    }

    /// The error for a column that a request leaves out, and that it cannot do without.
    func notOmittable(_ column: Int) -> KindredError {
        let key = entity.attributes[column].name
        return KindredError(
            .invalidRequest,
            """
            \(name).\(key) is always read: it belongs to a key, a unique index, an order, the filter or the version, by which \
            objects, relationships and conflicts are found
            """,
            entity: name.description, key: key)
    }

    /// The error for the value of a column that was omitted and is not loaded.
    ///
    /// - Parameter place: where it was read as NULL, or as a neutral value; nil where the read throws.
    func notLoaded(_ column: Int, readAt place: String? = nil) -> KindredError {
        let key = entity.attributes[column].name
        let reason = lazyColumns.contains(column) ? "is lazy" : "was omitted by the request that read the object"
        return KindredError(
            .notLoaded,
            "\(place.map { "Read without a value at \($0): " } ?? "")\(name).\(key) \(reason), and is not loaded: try await value(forKey: \"\(key)\") loads it",
            entity: name.description, key: key)
    }
}
