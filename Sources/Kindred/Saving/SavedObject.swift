import KindredPostgres

/// An object as it was when its save began: what is staged later stays staged.
struct SavedObject: Sendable {
    let object: DatabaseObject
    /// The row with the staged values.
    let row: Row
    let staging: Staging

    /// nil if there is nothing to save.
    init?(_ object: DatabaseObject) {
        let (row, staging) = object.withState { ($0.row, $0.staging) }
        guard let staging else { return nil }
        self.object = object
        self.row = row
        self.staging = staging
    }

    var entity: EntityRuntime { object.runtime }
}

/// Objects of one entity whose rows are written by one statement.
struct SavedGroup: Sendable {
    let entity: EntityRuntime
    /// The columns that are written, in the entity's order.
    let columns: [Int]
    var objects: [SavedObject]

    /// At most this many rows go with one statement, so that no message becomes too large.
    static let maximumRows = 25_000

    /// Puts objects together that are of one entity and write the same columns, in the order of the first of each.
    static func groups(_ objects: [SavedObject], columns: (SavedObject) -> [Int]) -> [SavedGroup] {
        struct Shape: Hashable {
            let entity: Int
            let columns: [Int]
        }
        var positions: [Shape: Int] = [:]
        var groups: [SavedGroup] = []
        for object in objects {
            let shape = Shape(entity: object.entity.index, columns: columns(object))
            if let position = positions[shape], groups[position].objects.count < maximumRows {
                groups[position].objects.append(object)
            } else {
                positions[shape] = groups.count
                groups.append(SavedGroup(entity: object.entity, columns: shape.columns, objects: [object]))
            }
        }
        return groups
    }
}
