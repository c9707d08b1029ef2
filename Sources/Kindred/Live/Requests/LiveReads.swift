import KindredPostgres
import KindredSchema

/// The tables and columns that a live request reads: a change of anything else cannot change its answer.
struct LiveReads: Sendable {
    /// The columns by table; nil for all of them.
    private(set) var tables: [QualifiedName: Set<ServerText>?] = [:]

    /// Adds all columns of a table.
    mutating func add(_ table: QualifiedName) { tables.updateValue(nil, forKey: table) }

    /// Adds a column of a table.
    mutating func add(_ column: String, of table: QualifiedName) {
        guard let known = tables[table] else {
            tables[table] = .some([ServerText(column)])
            return
        }
        if let known { tables[table] = .some(known.union([ServerText(column)])) }
    }

    /// Whether changes of a table may change the answer.
    ///
    /// Rows that come and go always count, and so do rows whose changed columns are not known.
    func concerns(_ table: QualifiedName, _ changes: TableChanges) -> Bool {
        guard let columns = tables[table] else { return false }
        guard let columns, changes.gap == nil, changes.inserted.isEmpty, changes.deleted.isEmpty else { return true }
        return changes.updated.values.contains { $0.map { !$0.isDisjoint(with: columns) } ?? true }
    }
}

extension LiveReads {
    /// The columns that decide which objects a request finds, and all that it shows, by the names of the model's entities.
    init(_ reads: RequestReads) {
        for entity in reads.entities {
            for column in reads.columns(of: entity) { add(entity.entity.attributes[column].name, of: entity.name) }
        }
        for name in reads.others { add(name) }
    }
}
