import Kindred
import KindredPostgres
import KindredSchema

/// The views that contexts follow, with the tables behind them: where one of these changes, all loaded rows of the view are read anew.
///
/// No record names a view's rows.
struct FollowedViews: Sendable {
    private var tables: [QualifiedName: Set<QualifiedName>] = [:]

    /// The views.
    var names: Set<QualifiedName> { Set(tables.keys) }

    /// The entities that are not followed yet, and that no record names.
    func unknown(among entities: [EntityRuntime]) -> [EntityRuntime] {
        entities.filter { !$0.entity.hasRecords && tables[$0.name] == nil }
    }

    /// Adds views; throws unless rows can be read anew, and the changes of all tables behind them are recorded.
    mutating func add(_ views: [EntityRuntime], behind relations: LiveTables) throws {
        for view in views where view.key.isEmpty {
            throw KindredError(
                .untrackable,
                """
                \(view.name) has no key by which a context that tracks changes could read its rows again: give it one by an \
                annotation, or read it in another context
                """, entity: view.name.description)
        }
        for view in views { tables[view.name] = Set(try relations.part(behind: [view.name]).sources().keys) }
    }

    /// Takes the tables that are behind the views by now; returns the views of which changes are no longer seen, with the reasons.
    mutating func update(by relations: LiveTables) -> [QualifiedName: any Error] {
        var lost: [QualifiedName: any Error] = [:]
        for view in tables.keys {
            do {
                tables[view] = Set(try relations.part(behind: [view]).sources().keys)
            } catch {
                tables[view] = nil
                lost[view] = error
            }
        }
        return lost
    }

    /// The changes, with changes of views.
    func adding(to batch: CommittedBatch) -> CommittedBatch {
        var batch = batch
        for (view, tables) in tables {
            let changed = tables.filter { batch.changes[$0] != nil || batch.passed[$0] != nil }
            if changed.isEmpty { continue }
            let gap = changed.lazy.compactMap { batch.changes[$0]?.gap }.first
            batch.changes[view] = TableChanges(gap: gap ?? .unnamed)
        }
        return batch
    }
}

extension Entity {
    /// Whether records name the entity's rows.
    var hasRecords: Bool { kind == .table || kind == .partitionedTable }
}
