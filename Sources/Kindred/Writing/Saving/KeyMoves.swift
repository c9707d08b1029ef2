import KindredPostgres

/// The order of writes where a save changes keys that foreign keys of other objects refer to by value.
///
/// A row gets its new key before other rows refer to it, and keeps its old key until other rows no longer refer to
/// that.
struct KeyMoves {
    private struct Referenced: Hashable {
        let entity: EntityRuntime
        let columns: [Int]
    }

    /// Changed objects by the keys that they give up and take.
    private struct Moving {
        var old: [ObjectKey: DatabaseObject] = [:]
        var new: [ObjectKey: DatabaseObject] = [:]
    }

    /// The objects that must be written before an object.
    private(set) var needed: [DatabaseObject: [DatabaseObject]] = [:]

    var isEmpty: Bool { needed.isEmpty }

    /// - Parameter objects: the new and changed objects.
    init(_ objects: [DatabaseObject]) throws {
        var moving: [EntityRuntime: [DatabaseObject]] = [:]
        for object in objects where Self.changesReferencedColumn(object) {
            moving[object.runtime, default: []].append(object)
        }
        if moving.isEmpty { return }
        var known: [Referenced: Moving] = [:]
        for object in objects {
            let (row, stored, isNew) = object.withState { ($0.row, $0.storedRow, $0.status == .inserted) }
            for relationship in object.runtime.foreignKeys {
                let destination = relationship.destination
                guard relationship.model.isEnforced, let candidates = moving[destination] else { continue }
                let (columns, referenced) = (relationship.ownColumns, relationship.otherColumns)
                let (new, old) = (try ObjectKey(row, columns), isNew ? nil : try ObjectKey(stored, columns))
                if new == old { continue }
                let place = Referenced(entity: destination, columns: referenced)
                let moves = try known[place] ?? Self.moves(candidates, referenced)
                known[place] = moves
                if let new, let target = moves.new[new], target !== object {
                    needed[object, default: []].append(target)
                } else if let new, moves.new[new] == nil, let target = moves.old[new], target !== object {
                    // It refers to the row by the key that the row gives up, and follows it.
                    needed[target, default: []].append(object)
                }
                if let old, let target = moves.old[old], target !== object {
                    needed[target, default: []].append(object)
                }
            }
        }
    }

    private static func moves(_ objects: [DatabaseObject], _ columns: [Int]) throws -> Moving {
        var moving = Moving()
        for object in objects {
            let (row, stored) = object.withState { ($0.row, $0.storedRow) }
            let (new, old) = (try ObjectKey(row, columns), try ObjectKey(stored, columns))
            if new == old { continue }
            if let new { moving.new[new] = object }
            if let old { moving.old[old] = object }
        }
        return moving
    }

    /// Whether a change, and not a new object, has another value for a column by which rows are found.
    private static func changesReferencedColumn(_ object: DatabaseObject) -> Bool {
        let columns = object.runtime.findingColumns
        return object.withState { state in
            guard state.status != .inserted, let staging = state.stagingBox?.staging else { return false }
            return !staging.columns.isDisjoint(with: columns)
        }
    }
}
