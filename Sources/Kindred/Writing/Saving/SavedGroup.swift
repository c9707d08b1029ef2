import KindredPostgres

// The last eighth apart is needed for "10,000 new objects in one save" (goal: 0.7 of libpq's rate; 0.70 on a quiet machine): it
// takes 0.7 us of 9.9 us off each object, because rows are taken to memory while the server stores the last. See
// Benchmarks/README.md.

/// Objects of one entity whose rows are written by one statement.
struct SavedGroup: Sendable {
    let entity: EntityRuntime
    /// The columns that are written, in the entity's order.
    let columns: [Int]
    var objects: ArraySlice<SavedObject>
    /// Whether one statement must write all objects, though each writes some of the columns only.
    var isJoint = false

    /// The limit of rows per statement, so that no message becomes too large.
    static let maximumRows = 25_000

    /// The number of rows from which on the last rows have their own statement.
    static let dividedRows = 5_000

    /// The group, with the last eighth of a large one apart: the results of most rows are applied to memory while the
    /// server stores the last, which takes about as long.
    var parts: [SavedGroup] {
        guard objects.count >= Self.dividedRows, !isJoint else { return [self] }
        let last = objects.count / 8
        return [objects.dropLast(last), objects.suffix(last)].map {
            SavedGroup(entity: entity, columns: columns, objects: $0)
        }
    }

    /// The group with its objects in the order in which their rows are changed.
    var sentForUpdate: SavedGroup { ordered(by: \.stored) }

    /// The group with its objects in the order in which their rows are stored: the order of staging, which numbers made
    /// by the server follow, or the order of locks where the server makes no numbers.
    var sentForInsert: SavedGroup { entity.mayReorderNewRows(with: columns) ? ordered(by: \.row) : self }

    private func ordered(by row: (SavedObject) -> Row) -> SavedGroup {
        guard let places = entity.lockOrder.places(objects, by: row) else { return self }
        let start = objects.startIndex
        var ordered = self
        ordered.objects = places.map { objects[start + $0] }[...]
        return ordered
    }

    /// Groups of changed objects in the order of their tables and columns.
    static func updates(_ objects: [SavedObject]) -> [SavedGroup] {
        let groups = groups(objects, columns: \.columns).filter { !$0.columns.isEmpty }
        if groups.count < 2 { return groups }
        return groups.sorted { left, right in
            if left.entity !== right.entity { return left.entity < right.entity }
            return left.columns.lexicographicallyPrecedes(right.columns)
        }
    }

    /// Groups objects of one entity that write the same columns, in the order of the first of each.
    static func groups(_ objects: [SavedObject], columns: (SavedObject) -> ColumnSet) -> [SavedGroup] {
        struct Shape: Hashable {
            let entity: EntityRuntime
            let columns: ColumnSet
        }
        if let first = objects.first, objects.count <= maximumRows {
            let shared = columns(first)
            if objects.allSatisfy({ $0.entity === first.entity && columns($0) == shared }) {
                return [SavedGroup(entity: first.entity, columns: Array(shared), objects: objects[...])]
            }
        }
        var positions: [Shape: Int] = [:]
        var groups: [SavedGroup] = []
        // Most objects equal the previous one.
        var last: (shape: Shape, position: Int)?
        for object in objects {
            let shape = Shape(entity: object.entity, columns: columns(object))
            let known = if let last, last.shape == shape { last.position } else { positions[shape] }
            if let known, groups[known].objects.count < maximumRows {
                groups[known].objects.append(object)
                last = (shape, known)
            } else {
                last = (shape, groups.count)
                positions[shape] = groups.count
                groups.append(SavedGroup(entity: object.entity, columns: Array(shape.columns), objects: [object]))
            }
        }
        return groups
    }

    /// One group for each entity, whatever columns its objects write.
    static func together(_ objects: [SavedObject]) -> [SavedGroup] {
        Dictionary(grouping: objects, by: \.entity).sorted { $0.key < $1.key }.map { entity, objects in
            let columns = objects.reduce(into: ColumnSet()) { $0.formUnion($1.columns) }
            return SavedGroup(entity: entity, columns: Array(columns), objects: objects[...], isJoint: true)
        }
    }

    /// Groups of new objects: a column without a default that only some of them set is NULL for the rest.
    static func insertions(_ objects: [SavedObject]) -> [SavedGroup] {
        let asGiven = groups(objects, columns: \.columns)
        var shared: [EntityRuntime: ColumnSet] = [:]
        for group in asGiven {
            let columns = ColumnSet(group.columns).subtracting(group.entity.columnsWithDefault)
            shared[group.entity, default: []].formUnion(columns)
        }
        if asGiven.count == shared.count { return asGiven }
        return groups(objects) { $0.columns.union(shared[$0.entity, default: []]) }
    }
}

extension SavedGroup {
    private var statements: RowStatements { RowStatements(entity: entity, columns: columns) }

    /// Stores new objects, in their order.
    func insert() throws -> Statement {
        let needsDefaults =
            isJoint && objects.contains { !entity.columnsWithDefault.subtracting($0.columns).isDisjoint(with: columns) }
        return needsDefaults
            ? try statements.insert(objects.map(\.row), given: objects.map(\.columns))
            : try statements.insert(objects.map(\.row))
    }

    /// Updates the objects' rows; the result's last column is the row's position in the group.
    func update() throws -> Statement {
        let all = ColumnSet(columns)
        let isMixed = isJoint && objects.contains { $0.columns != all }
        return try statements.update(
            objects.map(\.row), stored: objects.map(\.stored),
            base: entity.version == nil ? [] : objects.map(\.base),
            given: isMixed ? objects.map(\.columns) : nil)
    }
}
