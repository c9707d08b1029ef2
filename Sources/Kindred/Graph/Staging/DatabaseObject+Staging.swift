public import KindredPostgres
import KindredSchema
import Synchronization

extension DatabaseObject {
    /// Whether anything is staged on the object that `save()` would write.
    public var hasStagedChanges: Bool {
        withState { $0.stagingBox != nil }
    }

    /// The staged attributes by name with their staged values, NULL as nil; empty if nothing is staged.
    public var stagedValues: [String: PostgresValue?] {
        let (row, staging) = withState { ($0.row, $0.staging) }
        var result: [String: PostgresValue?] = [:]
        for position in staging?.columns ?? [] {
            result.updateValue(row.valueOrRaw(at: position), forKey: entity.attributes[position].name)
        }
        return result
    }

    /// Whether the next save deletes the object.
    public var isDeletionStaged: Bool {
        withState { $0.stagingBox?.staging.isDeletion ?? false }
    }

    /// Takes back this object's staged changes; it shows the database's values, as last seen.
    ///
    /// A new object is discarded: from then on it refuses use, as a deleted one does. Sends nothing.
    public func rollback() { core.rollback([self]) }

    /// Stages a value for an attribute, to be written by `save()`; reads see it at once.
    ///
    /// An invalid value is kept as a problem that `save()` reports, and the attribute keeps its value.
    package func stage(_ value: PostgresValue?, at position: Int) { stage(value, at: position, setAt: nil) }

    private func stage(_ value: PostgresValue?, at position: Int, setAt place: SourcePlace?) {
        do {
            try stageOrThrow(value, at: position)
        } catch {
            keep(error, forKey: entity.attributes[position].name, setAt: place)
        }
    }

    /// Stages a Swift value for an attribute; a value without an exact PostgreSQL form is kept as a problem.
    package func stage(_ value: (some PostgresEncodable)?, at position: Int) {
        do {
            stage(try value?.postgresValue, at: position)
        } catch {
            let attribute = entity.attributes[position]
            let reason = (error as? PostgresError)?.message ?? "the value has no PostgreSQL form"
            keep(runtime.wrongType(attribute, reason), forKey: attribute.name)
        }
    }

    /// Stages a value for an attribute by name, or keeps the problem of a wrong key.
    ///
    /// - Parameter place: where the program sets it, for the log.
    func stage(_ value: PostgresValue?, forKey key: String, setAt place: SourcePlace? = nil) {
        if let position = runtime.attributeIndex(of: key) { return stage(value, at: position, setAt: place) }
        guard runtime.relationship(named: key) != nil else {
            return keep(runtime.unknownKey(key), forKey: key, setAt: place)
        }
        keep(
            KindredError(
                .wrongType,
                "\(runtime.name).\(key) is a relationship, not an attribute; set it with setValue(_:forKey:)",
                entity: runtime.name.description,
                key: key
            ),
            forKey: key, setAt: place
        )
    }

    /// Stages any value that `insert` takes for an attribute, or keeps the problem of a wrong key or value.
    func stage(property value: (any PropertyValue)?, forKey key: String) {
        guard let position = runtime.attributeIndex(of: key) else { return stage(nil, forKey: key) }
        do {
            try stageOrThrow(try runtime.attributeValue(value, at: position), at: position)
        } catch {
            keep(error, forKey: entity.attributes[position].name)
        }
    }

    /// Stages a value; throws if it is invalid, if the object cannot be saved, or if its context is gone.
    func stageOrThrow(_ value: PostgresValue?, at position: Int) throws {
        try stageOrThrow(CollectionOfOne(try cells(value, at: position)))
    }

    /// Stages encoded values of writable columns; throws if the object's context is gone.
    func stageOrThrow(_ all: some Sequence<RowCells>) throws {
        // Held to the end: its release drops staged changes.
        guard let context = core.heldContext else { throw contextReleased }
        defer { withExtendedLifetime(context) {} }
        for cells in all { stage(cells) }
    }

    /// The encoded cells of a value to stage; throws if it is invalid, or if the object cannot be saved.
    func cells(_ value: PostgresValue?, at position: Int) throws -> RowCells {
        let isNew = try requireStageable()
        if !runtime.isAssignable(position) || !isNew && runtime.version != nil {
            let attribute = entity.attributes[position]
            try runtime.requireWritable(attribute, key: attribute.name)
            if !isNew { try runtime.requireNoVersion(position, key: attribute.name) }
        }
        var cells = RowCells()
        try cells.set(value, at: position, of: runtime, core.database.types)
        return cells
    }

    /// Stages encoded values of writable columns together, in a call that holds the context.
    func stage(_ cells: RowCells) {
        core.changeStaging(of: self) { state in
            var staging = state.stagingToChange
            if !staging.problems.isEmpty {
                for position in cells.columns { staging.problems[entity.attributes[position].name] = nil }
            }
            // The old values count as well, which rarely matters.
            if state.row.size + cells.size > Row.maximumSize {
                for position in cells.columns {
                    staging.problems[entity.attributes[position].name] = runtime.tooLarge(position)
                }
            } else {
                let inFlight = core.columnsInFlight(staging, of: runtime)
                staging.unlink(cells.columns, in: runtime)
                state.setCells(cells, in: &staging, inFlight: inFlight)
            }
            state.staging = staging
        }
    }

    /// Gives a new object its values at once, unless something was staged since it was made.
    func fill(_ row: Row, _ filled: StagingBox, over made: StagingBox) -> Bool {
        withState { state in
            guard state.stagingBox === made, state.status == .inserted else { return false }
            (state.row, state.stagingBox) = (row, filled)
            return true
        }
    }

    /// Keeps the problem of a key until it is set again, rolled back, or reported by `save()`.
    ///
    /// Without a context nothing can be kept on the object: the problem is a mistake that is logged, and the next save reports it.
    func keep(_ error: any Error, forKey key: String, setAt place: SourcePlace? = nil) {
        let problem =
            error as? KindredError
            ?? KindredError(.wrongType, "\(runtime.name).\(key): \(error)", entity: runtime.name.description, key: key)
        guard let context = core.heldContext else {
            // A property does not know its caller's line: its own name is the place.
            return core.note(mistake: problem, at: place ?? SourcePlace(fileID: "\(type(of: self)).\(key)", line: 1))
        }
        defer { withExtendedLifetime(context) {} }
        core.changeStaging(of: self) { state in
            var staging = state.stagingToChange
            staging.problems[key] = problem
            state.staging = staging
        }
    }

    /// Throws for an object that can never be saved: a deleted one, one of a read-only entity.
    ///
    /// Returns whether the object is new.
    @discardableResult
    func requireStageable() throws -> Bool {
        let (status, hasKey) = withState { state in
            (state.status, state.status != .inserted && state.key(runtime) != nil)
        }
        try requireLive(status)
        if status == .inserted { return true }
        if !hasKey || core.isReadOnly || entity.isReadOnly { _ = try requireKey() }
        return false
    }
}

extension ObjectState {
    /// Sets encoded values in the visible row, and records the staged values: values that differ from the database, or
    /// may soon differ because of a running save.
    mutating func setCells(_ cells: RowCells, in staging: inout Staging, inFlight: ColumnSet) {
        row = row.replacing(cells)
        // A new object keeps every given value, also NULL: otherwise the default would apply. A stale row's values
        // cannot be compared with.
        let keepsAll = status == .inserted || isStale
        staging.columns.subtract(cells.columns)
        staging.columns.formUnion(
            keepsAll
                ? cells.columns
                : cells.columns.filter { inFlight.contains($0) || !row.hasSameBytes(as: staging.stored, at: $0) })
    }
}

extension ContextCore {
    /// The columns that a running save may be writing: setting them back to the stored values is a change, too.
    func columnsInFlight(_ staging: Staging, of entity: EntityRuntime) -> ColumnSet {
        if saves.load(ordering: .acquiring) == 0 { return [] }
        return staging.destinations.keys.reduce(into: staging.columns) { columns, slot in
            columns.formUnion(ColumnSet(entity.relationships[slot].ownColumns))
        }
    }
}
