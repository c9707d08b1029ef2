import KindredPostgres
import KindredSchema

/// Objects whose rows a write did not find with the expected version.
struct UnwrittenRows: Error {
    let objects: [DatabaseObject]
}

extension KindredError {
    /// The error for stale objects, with the conflicts of other objects of the same write: one SELECT for each entity.
    func withConflicts(of objects: [DatabaseObject]) async throws -> KindredError {
        let known = Set(conflicts.map(\.object))
        let others = objects.filter {
            !known.contains($0) && !$0.isInserted && !$0.isDeleted && $0.runtime.version != nil
        }
        guard let core = others.first?.core else { return self }
        let more = try await Refresher(core).unwritten(others).conflicts
        return more.isEmpty ? self : KindredError(stale: conflicts + more)
    }

    /// The error for stale objects.
    init(stale conflicts: [KindredError.Conflict]) {
        let entity = conflicts[0].object.runtime.name.description
        let what =
            conflicts.count == 1
            ? "\(conflicts[0].object) was"
            : "\(conflicts.count) objects, such as \(conflicts[0].object), were"
        let message = """
            \(what) changed by another transaction after being read; nothing was written, refresh and try again, or save \
            with a retry
            """
        self.init(
            .staleObject,
            message,
            entity: entity,
            problems: conflicts.map { conflict in
                KindredError.Problem(
                    .staleObject,
                    "\(conflict.object) was changed by another transaction after being read",
                    object: conflict.object,
                    entity: conflict.object.runtime.name.description
                )
            },
            conflicts: conflicts
        )
    }
}
