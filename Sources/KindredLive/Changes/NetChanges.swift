import Kindred
import KindredPostgres
import KindredSchema

/// Adds up the records of whole transactions: each key once, with the net effect on its row.
///
/// Changes of a statement's triggers are recorded before the statement, and changes of its WITH may be recorded behind
/// it. So where a transaction changed a key in a trigger and afterwards outside of it, or where a row first came and
/// then went, the order of these records may differ from the order of the changes; only the numbers of times that the
/// row came and went are certain. The same holds for a key that one record takes from a row and gives to a row: two rows may
/// have moved on, or one row twice, by two cascades. If the numbers are equal, and no other transaction tells whether the row
/// was there, it has to be looked up.
struct NetChanges {
    /// The records of one key, added up.
    private struct Entry {
        /// The transaction of the last records.
        var transaction: Int64
        /// How often the row came in that transaction, less how often it went.
        var difference = 0
        /// Whether the transaction's first record says that the row was there.
        var firstSays: Bool
        var depth: Int
        /// Whether records of the transaction are out of order, and some say that the row came or went.
        var isOutOfOrder = false
        var hasMoved = false
        /// Whether the row was there before all transactions; nil while unknown.
        var wasThere: Bool?
        /// The difference of all transactions before the last.
        var total = 0
        /// The columns that updates changed.
        var columns: Set<ServerText>? = []

        init(_ transaction: Int64, _ depth: Int, firstSays: Bool) {
            (self.transaction, self.depth, self.firstSays) = (transaction, depth, firstSays)
        }

        mutating func add(_ operation: ChangeRecord.Operation, _ record: ChangeRecord) {
            if record.transaction != transaction {
                endTransaction()
                (transaction, depth, firstSays) = (record.transaction, record.depth, operation != .insert)
                (isOutOfOrder, hasMoved) = (false, false)
            }
            if record.depth < depth { isOutOfOrder = true }
            if operation != .update { hasMoved = true }
            depth = max(depth, record.depth)
            switch operation {
            case .insert: difference += 1
            case .delete: difference -= 1
            default: break
            }
            if operation == .update, let known = columns, let new = record.columns {
                columns = known.union(Set(texts: new))
            } else {
                columns = nil
            }
        }

        mutating func endTransaction() {
            // DELETE … RETURNING in the WITH of an INSERT may be recorded behind it.
            let isCertain = difference != 0 || !hasMoved || firstSays && !isOutOfOrder
            let wasThereThen = isCertain ? (difference == 0 ? firstSays : difference < 0) : nil
            if wasThere == nil, let wasThereThen { wasThere = (wasThereThen ? 1 : 0) - total > 0 }
            total += difference
            difference = 0
        }
    }

    private struct Table {
        var entries: [ObjectKey: Entry] = [:]
        var gap: Tracking.Gap?
    }

    private var tables: [QualifiedName: Table] = [:]
    private var count = 0
    /// The number of keys above which a table's rows are not named.
    private let limit: Int
    /// The tables that were changed themselves.
    private(set) var changedTables: Set<UInt32> = []
    /// The transactions that have changed tables which are known.
    private(set) var definingTransactions: Set<Int64> = []
    private var rights: [QualifiedName: String] = [:]

    init(limit: Int = 500_000) {
        self.limit = limit
    }

    /// Adds records, in their order.
    mutating func add(_ records: [ChangeRecord], _ layout: ChangeLayout) {
        for record in records {
            if record.operation == .schema || record.gap(hasKey: true) == .schemaChanged {
                changedTables.insert(record.relation)
                let former = layout.former[record.relation] ?? []
                if !former.isEmpty || layout.targets[record.relation] != nil {
                    definingTransactions.insert(record.transaction)
                }
                // The model may have been read again since.
                for name in former { lose(name, .schemaChanged) }
            }
            if record.gap(hasKey: true) == .accessDenied {
                // A table that the role may not read may be missing in the model.
                let present = layout.targets[record.relation]?.map(\.name) ?? []
                for name in (layout.former[record.relation] ?? []).union(present) {
                    lose(name, .accessDenied)
                    rights[name] = record.columns?.first
                }
                continue
            }
            let key = record.key ?? layout.keys[record.relation] ?? []
            for target in layout.targets[record.relation] ?? [] { add(record, key: key, to: target) }
        }
    }

    private mutating func add(_ record: ChangeRecord, key: [String], to target: ChangeLayout.Target) {
        // By the subscript with a default, so that the table is changed in its place.
        if tables[target.name]?.gap != nil { return }
        if let gap = record.gap(hasKey: !key.isEmpty) { return lose(target.name, gap) }
        guard let keys = record.keys, !key.isEmpty, keys.count.isMultiple(of: key.count),
            record.newKeys.map({ $0.count == keys.count }) ?? true
        else { return lose(target.name, .unnamed) }
        var (left, moved): (Set<ObjectKey>, [ObjectKey]) = ([], [])
        for start in stride(from: 0, to: keys.count, by: key.count) {
            let range = start..<start + key.count
            let new = record.newKeys?[range]
            guard let old = target.key(of: keys[range], in: key) else { return lose(target.name, .unnamed) }
            if let new, new != keys[range] {
                guard let new = target.key(of: new, in: key) else { return lose(target.name, .unnamed) }
                moved.append(new)
                left.insert(old)
                note(.delete, old, by: record, in: target.name)
            } else {
                note(record.operation, old, by: record, in: target.name)
            }
        }
        // All old keys are free before the first new key is taken.
        for key in moved {
            note(.insert, key, by: record, in: target.name)
            if left.contains(key) { tables[target.name]?.entries[key]?.isOutOfOrder = true }
        }
    }

    private mutating func note(
        _ operation: ChangeRecord.Operation, _ key: ObjectKey, by record: ChangeRecord, in name: QualifiedName
    ) {
        if tables[name]?.gap != nil { return }
        if tables[name]?.entries[key] == nil {
            if count >= limit {
                // Drops the keys of the table that has most, so that the other tables keep theirs.
                let others = tables.filter { $0.key != name }.max { $0.value.entries.count < $1.value.entries.count }
                let own = tables[name]?.entries.count ?? 0
                guard let others, others.value.entries.count > own else { return lose(name, .overflow) }
                lose(others.key, .overflow)
            }
            count += 1
        }
        let new = Entry(record.transaction, record.depth, firstSays: operation != .insert)
        tables[name, default: Table()].entries[key, default: new].add(operation, record)
    }

    private mutating func lose(_ name: QualifiedName, _ gap: Tracking.Gap) {
        count -= tables[name]?.entries.count ?? 0
        tables[name] = Table(gap: tables[name]?.gap ?? gap)
    }

    /// The net effects, and the keys whose rows have to be looked up, to see whether they exist.
    ///
    /// The rows of uncertain keys came as often as they went. Where they are there, `CommittedBatch.add` is to be told.
    func sum() -> (batch: CommittedBatch, uncertain: [QualifiedName: [ObjectKey]]) {
        var batch = CommittedBatch(rights: rights)
        var uncertain: [QualifiedName: [ObjectKey]] = [:]
        for (name, table) in tables {
            var changes = TableChanges(gap: table.gap)
            for (key, var entry) in table.entries {
                entry.endTransaction()
                if entry.wasThere == nil { uncertain[name, default: []].append(key) }
                let wasThere = entry.wasThere ?? false
                switch (wasThere, (wasThere ? 1 : 0) + entry.total > 0) {
                case (false, true): changes.inserted.insert(key)
                case (true, false): changes.deleted.insert(key)
                case (true, true): changes.updated.updateValue(entry.columns, forKey: key)
                case (false, false): batch.passed[name, default: []].insert(key)
                }
            }
            if !changes.isEmpty { batch.changes[name] = changes }
        }
        return (batch, uncertain)
    }
}
