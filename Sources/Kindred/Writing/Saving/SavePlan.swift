import KindredPostgres

/// The way of a save, decided once from the staged changes when its transaction has begun.
enum SavePlan {
    /// New values of stored rows, for none of which another row waits: one UPDATE for each set of columns.
    ///
    /// Order does not matter: no row is new, none is deleted, no unique value changes hands, and no key moves.
    case plain([SavedObject])
    /// New and changed objects, and deleted ones, whose order references and unique values decide.
    case ordered(kept: [DatabaseObject], deleted: [DatabaseObject])

    /// The part of an object in a save.
    private enum Part {
        /// Nothing: another save has written the object meanwhile.
        case none
        case plainChange
        case change
        case deletion
    }

    /// - Parameters:
    ///   - objects: the objects to save.
    ///   - pairs: the pairs to store.
    init(_ objects: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: ColumnValues?)]) throws {
        var (kept, deleted): ([DatabaseObject], [DatabaseObject]) = ([], [])
        kept.reserveCapacity(objects.count)
        var isPlain = pairs.isEmpty
        for object in objects {
            switch try Self.part(of: object) {
            case .none: continue
            case .plainChange:
                kept.append(object)
            case .change:
                kept.append(object)
                isPlain = false
            case .deletion:
                deleted.append(object)
                isPlain = false
            }
        }
        self = isPlain ? .plain(try kept.map { try SavedObject($0) }) : .ordered(kept: kept, deleted: deleted)
    }

    private static func part(of object: DatabaseObject) throws -> Part {
        let entity = object.runtime
        let (status, part) = object.withState { state -> (ObjectState.Status, Part) in
            guard let staging = state.stagingBox?.staging else { return (state.status, .none) }
            if staging.isDeletion { return (state.status, .deletion) }
            let isPlain = staging.hasValuesOnly && staging.columns.isDisjoint(with: entity.orderedColumns)
            return (state.status, isPlain ? .plainChange : .change)
        }
        if case .none = part { return part }
        try object.requireLive(status)
        return part
    }
}
