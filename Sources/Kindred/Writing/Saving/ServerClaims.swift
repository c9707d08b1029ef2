import KindredPostgres

/// The objects of a save that may give up or take values which only the server can compare.
struct ServerClaims {
    private struct Group {
        let entity: EntityRuntime
        let check: ServerCheckRuntime
        /// Changed and deleted objects.
        var holders: [DatabaseObject] = []
        /// Changed and new objects.
        var takers: [DatabaseObject] = []

        /// The exchanges of some holders with some takers.
        func exchanges(_ holders: [DatabaseObject], _ takers: [DatabaseObject]) -> [UniqueClaims.Exchange] {
            holders.flatMap { holder in
                takers.filter { $0 !== holder }.map {
                    UniqueClaims.Exchange(holder: holder, taker: $0, check: check.plain)
                }
            }
        }
    }

    private let groups: [Group]

    var isEmpty: Bool { groups.isEmpty }

    /// The objects that may give up a value which another object takes.
    var holders: Set<DatabaseObject> { Set(groups.flatMap(\.holders)) }

    /// - Parameters:
    ///   - objects: the new and changed objects.
    ///   - deleted: the deleted objects.
    init(_ objects: [DatabaseObject], _ deleted: [DatabaseObject]) {
        struct Place: Hashable {
            let entity: EntityRuntime
            let check: Int
        }
        var found: [Place: Group] = [:]
        func add(_ object: DatabaseObject, _ number: Int, isHolder: Bool, isTaker: Bool) {
            let (entity, place) = (object.runtime, Place(entity: object.runtime, check: number))
            var group = found[place] ?? Group(entity: entity, check: entity.serverChecks[number])
            if isHolder { group.holders.append(object) }
            if isTaker { group.takers.append(object) }
            found[place] = group
        }
        for object in objects where !object.runtime.serverChecks.isEmpty && !object.isInserted {
            let changed = Self.changedColumns(of: object)
            for (number, check) in object.runtime.serverChecks.enumerated()
            where check.concerned.contains(where: changed.contains) {
                add(object, number, isHolder: true, isTaker: true)
            }
        }
        for object in deleted {
            for number in object.runtime.serverChecks.indices { add(object, number, isHolder: true, isTaker: false) }
        }
        // Without a holder there is nothing to take.
        if !found.isEmpty {
            for object in objects where object.isInserted {
                for number in object.runtime.serverChecks.indices
                where found[Place(entity: object.runtime, check: number)] != nil {
                    add(object, number, isHolder: false, isTaker: true)
                }
            }
        }
        groups = found.sorted { ($0.key.entity, $0.key.check) < ($1.key.entity, $1.key.check) }.map(\.value)
            .filter { group in group.takers.contains { group.holders.count > 1 || $0 !== group.holders[0] } }
    }

    /// Exchanges as if all values conflicted; nil if no order can be right for all of them, or if they are many.
    var guesses: [UniqueClaims.Exchange]? {
        for group in groups {
            let changed = Set(group.holders).intersection(group.takers)
            if changed.count > 1 || group.holders.count * group.takers.count > 10_000 { return nil }
        }
        return groups.flatMap { $0.exchanges($0.holders, $0.takers) }
    }

    /// Exchanges that the server cannot find: exchanges with new objects that get some values from the server.
    var doubts: [UniqueClaims.Exchange] {
        groups.flatMap { group -> [UniqueClaims.Exchange] in
            let doubtful = group.takers.filter { taker in
                taker.isInserted
                    && UniqueClaims.omittedColumns(of: taker).contains(where: group.check.concerned.contains)
            }
            return group.holders.count * doubtful.count > 10_000 ? [] : group.exchanges(group.holders, doubtful)
        }
    }

    /// Asks the server: one SELECT for each check, in one round trip.
    func exchanges(in core: ContextCore) async throws -> [UniqueClaims.Exchange] {
        let statements = try groups.map { group in
            try ConflictStatements(entity: group.entity, check: group.check).conflicts(
                group.holders.map(\.storedRow),
                try group.takers.map { try Self.rowToWrite(of: $0, group.check.concerned) })
        }
        let results = try await core.client.executeBatch(statements)
        return try zip(groups, results).flatMap { group, result in
            try (0..<result.count).compactMap { row in
                guard case .integer(let held) = try result.value(row: row, column: 0),
                    case .integer(let taken) = try result.value(row: row, column: 1),
                    let holder = Int(exactly: held).map({ $0 - 1 }), group.holders.indices.contains(holder),
                    let taker = Int(exactly: taken).map({ $0 - 1 }), group.takers.indices.contains(taker),
                    group.holders[holder] !== group.takers[taker]
                else { return nil }
                return UniqueClaims.Exchange(
                    holder: group.holders[holder], taker: group.takers[taker], check: group.check.plain)
            }
        }
    }

    /// The columns that an object's staged changes write.
    private static func changedColumns(of object: DatabaseObject) -> ColumnSet {
        guard let staging = object.withState({ $0.staging }) else { return [] }
        return staging.destinations.keys.reduce(into: staging.columns) { columns, slot in
            columns.formUnion(ColumnSet(object.runtime.relationships[slot].ownColumns))
        }
    }

    /// An object's row with the keys that its links to new objects will write into some columns, as far as known.
    private static func rowToWrite(of object: DatabaseObject, _ columns: ColumnSet) throws -> Row {
        let (row, links) = object.withState { ($0.row, $0.staging?.destinations ?? [:]) }
        var cells = RowCells()
        for (slot, destination) in links {
            let relationship = object.runtime.relationships[slot]
            let values = destination.row
            for (column, referenced) in zip(relationship.ownColumns, relationship.otherColumns)
            where columns.contains(column) {
                if let value = try values[referenced] {
                    try cells.set(value, at: column, of: object.runtime, object.core.types)
                }
            }
        }
        return cells.columns.isEmpty ? row : row.replacing(cells)
    }
}
