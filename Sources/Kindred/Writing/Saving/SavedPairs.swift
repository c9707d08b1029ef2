import KindredPostgres
import KindredSchema
import Synchronization

/// Pairs of one relationship that are stored by one statement.
struct SavedPairs {
    let link: RelationshipRuntime.HelperLink
    let payloadColumns: [Int]
    private(set) var pairs: [StagedPair] = []
    private var rows: [Row] = []

    var helper: EntityRuntime { link.entity }

    private init(link: RelationshipRuntime.HelperLink, payloadColumns: [Int]) {
        self.link = link
        self.payloadColumns = payloadColumns
    }

    /// Groups pairs whose ends are stored by helper and set of columns.
    static func groups(_ pairs: [(pair: StagedPair, payload: ColumnValues?)]) throws -> [SavedPairs] {
        struct Shape: Hashable {
            let relationship: RelationshipRuntime
            let columns: [Int]
        }
        var positions: [Shape: Int] = [:]
        var groups: [SavedPairs] = []
        for (pair, payload) in pairs {
            let relationship = pair.relationship
            guard let link = relationship.helper else { continue }
            let shape = Shape(relationship: relationship, columns: payload?.columns ?? [])
            let position = positions[shape, default: groups.count]
            if position == groups.count || groups[position].pairs.count == SavedGroup.maximumRows {
                positions[shape] = groups.count
                groups.append(SavedPairs(link: link, payloadColumns: shape.columns))
            }
            try groups[positions[shape, default: position]].append(pair, payload)
        }
        for position in groups.indices { groups[position].order() }
        return groups.sorted { $0.helper < $1.helper }
    }

    /// Puts the pairs into the order in which they are stored: the order of staging where that gives them positions or
    /// numbers.
    private mutating func order() {
        guard link.mayReorderPairs(with: payloadColumns),
            link.positions.allSatisfy({ payloadColumns.contains($0.column) }),
            let places = LockOrder(helper, by: link.pairColumns).places(rows, by: \.self)
        else { return }
        (pairs, rows) = (places.map { pairs[$0] }, places.map { rows[$0] })
    }

    /// Adds a pair whose ends are stored; makes the helper's row.
    private mutating func append(_ pair: StagedPair, _ payload: ColumnValues?) throws {
        let relationship = pair.relationship
        var cells = RowCells()
        let types = pair.source.core.types
        func setKey(of object: DatabaseObject, _ columns: [Int], _ own: [Int]) throws {
            let values = try object.referencedValues(own, relationship.model.name)
            for (column, (position, value)) in zip(columns, zip(own, values)) {
                let earlier = cells.columns.contains(column) ? cells : nil
                try cells.set(value, at: column, of: helper, types)
                if let earlier, !earlier.hasSameBytes(as: cells, at: column) {
                    throw object.disagrees(position, relationship.model.name)
                }
            }
        }
        try setKey(of: pair.source, link.sourceColumns, relationship.ownColumns)
        try setKey(of: pair.destination, link.destinationColumns, relationship.otherColumns)
        for column in payloadColumns {
            try cells.set(payload?[column] ?? nil, at: column, of: helper, types)
        }
        pairs.append(pair)
        rows.append(helper.emptyRow(types).replacing(cells))
    }
}

extension SavedPairs {
    /// Stores the pairs by one statement.
    var insert: Statement {
        get throws { try HelperStatements.insert(rows, into: helper, link, payload: payloadColumns) }
    }

    /// A query that fails unless the pairs are stored; nil where nothing keeps them.
    var check: Statement? {
        get throws {
            guard link.mayKeepRows(!payloadColumns.isEmpty) else { return nil }
            return try HelperStatements.check(rows, of: helper, link)
        }
    }

    /// Unstages the pairs when they are stored; both ends show them.
    func apply(_ result: QueryResult, in core: ContextCore) throws {
        // Without payload existing pairs are not counted.
        guard payloadColumns.isEmpty || result.affectedRows == pairs.count else {
            throw helper.keptAway
        }
        try applyRestored(result, in: core)
        for pair in pairs { Self.apply(pair, in: core) }
    }

    /// Gives the returned rows to objects of the helper: they may have been marked as deleted.
    private func applyRestored(_ result: QueryResult, in core: ContextCore) throws {
        guard helper.restoresPairs, result.count > 0, !helper.key.isEmpty, core.withMap({ $0.knows(helper) }) else {
            return
        }
        let rows = try EntityRows(result, of: helper)
        for position in 0..<rows.count { try core.take(try rows[position], of: helper) }
    }

    /// The error for pairs that are hidden after they were stored; nil for other errors.
    func refused(_ error: PostgresError) -> KindredError? {
        pairs.first.flatMap { KindredError(hiddenPairs: error, of: $0.relationship) }
    }

    private static func apply(_ pair: StagedPair, in core: ContextCore) {
        core.journal?.record(pair, in: core)
        core.staged.withLock { $0.remove(pair) }
        let relationship = pair.relationship
        guard let helper = relationship.helper else { return }
        core.take(
            PairChange(
                relationship: relationship, link: helper, owner: pair.source, member: .object(pair.destination),
                isPaired: true))
    }
}
