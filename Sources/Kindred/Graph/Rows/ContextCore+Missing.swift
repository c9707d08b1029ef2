import KindredPostgres
import KindredSchema

// Rows that a statement did not find, and that are gone.
extension ContextCore {
    /// The error for rows that a statement did not find; where nothing could hide them, their objects count as deleted from now on,
    /// also after a rollback.
    func lost(_ objects: [DatabaseObject]) throws -> KindredError {
        let error = gone(objects)
        try take(missing: objects)
        return error
    }

    /// Marks objects as deleted whose rows a statement did not find, unless the rows may only be hidden.
    func take(missing objects: [DatabaseObject]) throws {
        let missing = objects.filter(\.runtime.showsAllRows)
        guard !missing.isEmpty else { return }
        journal?.recordMissing(missing)
        for object in missing { try take(deletionOf: object) }
    }
}

extension EntityRuntime {
    /// Whether a row that a statement does not find by its key is gone: no policy, rule or view may hide it.
    var showsAllRows: Bool {
        switch entity.kind {
        case .table, .partitionedTable: entity.obstacles.isDisjoint(with: [.policies, .rules])
        case .view, .materializedView, .foreignTable: false
        }
    }
}
