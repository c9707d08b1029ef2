import KindredPostgres
import KindredSchema

/// Loads attributes that were left out of the statements which read their objects: by one query for all objects that were read
/// together.
///
/// The rows are read again with the attribute, so that all values of an object are of one state of its row.
struct ColumnLoader: Sendable {
    fileprivate let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The value of an attribute; loaded if it was left out.
    ///
    /// - Parameter place: the place in the program that asks.
    func value(at column: Int, of object: DatabaseObject, at place: SourcePlace? = nil) async throws -> PostgresValue? {
        let (row, status) = object.withState { ($0.row, $0.status) }
        guard row.isLeftOut(at: column) else { return try row[column] }
        try object.requireLive(status)
        try requireFaulting(column, of: object.runtime, at: place)
        let wanted = LoadedColumns(object.runtime, [column], besides: object.runtime.leftOutColumns(of: row))
        let found = try await load(wanted, for: object)
        let current = object.row
        // A row that was read or written later is not replaced by the answer.
        return try (current.isLeftOut(at: column) ? found : current)[column]
    }

    /// Loads all attributes that a request reads, for objects in memory of one entity that lack such an attribute: one
    /// query, or none.
    ///
    /// - Parameter leftOut: the columns that the request leaves out; nil for the lazy ones.
    func load(besides leftOut: ColumnSet?, forAll objects: [DatabaseObject]) async throws {
        guard let entity = objects.first?.runtime else { return }
        let columns = ColumnSet(entity.attributeColumns).subtracting(leftOut ?? entity.lazyColumns)
        try await load(Array(columns), forAll: objects)
    }

    /// Loads attributes for all objects that lack one of them: one query for objects of one entity.
    func load(_ columns: [Int], forAll objects: [DatabaseObject]) async throws {
        let lacking = objects.filter { object in
            object.withState { state in
                state.status != .deleted && state.row.leavesOut && columns.contains { state.row.isLeftOut(at: $0) }
            }
        }
        guard let entity = lacking.first?.runtime else { return }
        let wanted = LoadedColumns(entity, columns, besides: entity.leftOutColumns(of: lacking[0].row))
        let batch = try await query(wanted, KeyNumbers(lacking.compactMap(\.key)))
        for object in lacking where object.key.map({ batch.members(of: $0)?.first == nil }) ?? false {
            try core.take(deletionOf: object)
        }
    }

    /// The row of an object with the attributes, which the object takes; other objects of its group get them too.
    private func load(_ wanted: LoadedColumns, for object: DatabaseObject) async throws -> Row {
        guard let key = object.key else { throw object.runtime.notWritable }
        let (group, position) = object.withState { ($0.group, $0.position) }
        let asker = Asker(ColumnsQuestion(loader: self, wanted: wanted), in: group, at: Int(position), minimum: 2)
        let batch = try await asker.answer(for: key, ownKey: key)
        guard let row = batch.members(of: key)?.first?.row else {
            try core.take(deletionOf: object)
            throw try core.lost([object])
        }
        try take(row, wanted, for: object, askedAt: batch.askedAt)
        return row
    }

    /// One query for the rows of some keys with the attributes; objects in memory take them.
    fileprivate func query(_ wanted: LoadedColumns, _ keys: KeyNumbers) async throws -> Answer {
        let entity = wanted.entity
        let time = core.now
        // Columns that an object has are read as well, so that all its values come from one state of its row.
        let leftOut = keys.keys.reduce(wanted.leftOut) { leftOut, key in
            guard let object = core.liveObject(entity, key) else { return leftOut }
            return object.withState { state in leftOut.filter { state.storedRow.isLeftOut(at: $0) } }
        }
        let statement = try KeyStatements(entity: entity).select(keys.keys, leavingOut: leftOut)
        let result = try await core.read(statement, for: entity.name)
        let rows = try EntityRows(result, of: entity)
        var found = Answer.Builder(owners: keys, count: result.count)
        for position in 0..<result.count {
            let row = try rows[position]
            if let key = try ObjectKey(row, entity.key) { found.append(key, row, to: key) }
        }
        let batch = found.build(askedAt: core.counted(time), in: core.writing?.scope)
        for member in batch.rows {
            guard let object = core.liveObject(entity, member.key) else { continue }
            try take(member.row, wanted, for: object, askedAt: batch.askedAt)
        }
        return batch
    }

    /// Gives an object its row with the attributes.
    private func take(_ row: Row, _ wanted: LoadedColumns, for object: DatabaseObject, askedAt: ContextTime) throws {
        let lacking = object.withState { state in wanted.columns.filter { state.row.isLeftOut(at: $0) } }
        if lacking.isEmpty { return }
        guard core.isReadOnly else { return try core.take(row, for: object, readAt: askedAt) }
        // The objects of a live request change only when it gives its next answer.
        object.withState { $0.row = $0.row.replacing(ColumnSet(lacking), from: row) }
    }

    /// Throws if the attribute should have been read with the object.
    private func requireFaulting(_ column: Int, of entity: EntityRuntime, at place: SourcePlace?) throws {
        guard core.loading == .forbidden else { return }
        let key = entity.entity.attributes[column].name
        throw KindredError(
            .loadingForbidden,
            "\(entity.name).\(key) is not loaded, and this context loads no attribute by itself; read it with the object"
                + (place.map { " (used at \($0))" } ?? ""),
            entity: entity.name.description, key: key)
    }
}

/// The rows of objects with attributes that were left out.
private struct ColumnsQuestion: Question {
    let loader: ColumnLoader
    let wanted: LoadedColumns

    var core: ContextCore { loader.core }
    var slot: Int { wanted.slot }
    var isFoundByKey: Bool { true }

    /// Answers read before this time are older than the row that memory has.
    func staleSince(_ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        let seenAt = core.liveObject(wanted.entity, key)?.withState { $0.seenAt } ?? .never
        return max(seenAt, core.staleSince(rowsOf: wanted.entity))
    }

    /// The key of an element that lacks the attributes; nil for other elements, and for rows without an object, which are read
    /// again anyway.
    func candidate(_ element: FetchGroup.Element) throws -> ObjectKey? {
        guard let key = element.key else { return nil }
        if let object = core.liveObject(wanted.entity, key) {
            let isLacking = object.withState { state in
                state.status == .persistent && wanted.columns.contains { state.row.isLeftOut(at: $0) }
            }
            return isLacking ? key : nil
        }
        guard case .member(let member) = element else { return nil }
        return wanted.columns.contains { member.row.isLeftOut(at: $0) } ? key : nil
    }

    func ask(_ owners: KeyNumbers) async throws -> Answer { try await loader.query(wanted, owners) }
}

/// Attributes to be loaded, and the columns that stay left out.
private struct LoadedColumns {
    let entity: EntityRuntime
    let columns: [Int]
    let leftOut: ColumnSet

    init(_ entity: EntityRuntime, _ columns: [Int], besides leftOut: ColumnSet) {
        (self.entity, self.columns) = (entity, columns)
        self.leftOut = leftOut.subtracting(ColumnSet(columns))
    }

    /// The slot of the answers in a fetch group: it differs from the slots of members and counts.
    var slot: Int { (1 << 24) + columns[0] }
}
