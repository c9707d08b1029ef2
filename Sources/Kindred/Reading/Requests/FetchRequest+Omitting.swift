import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// Reads the objects without some columns: `omitting("content", "comments.body")`, also of prefetched relationships.
    ///
    /// The server neither sends such a column nor reads it. It is loaded for all objects of the request by one query
    /// when `value(forKey:)` asks one of them for it; read synchronously it is the program's mistake, `.notLoaded`. An
    /// object in memory keeps the value that it has, unless its row turns out to have changed. A write brings all
    /// columns back except lazy columns, since a trigger may have changed them; `find` and to-one relationships read
    /// the object again. Keys, unique columns, columns of relationships, orders and the filter, and the version are
    /// always read.
    ///
    /// Throws `KindredError` `.unknownKey` with the nearest keys, `.invalidRequest` for a column that is always read, for an
    /// entity without a key, and for a relationship that is not prefetched. Sends nothing.
    public func omitting(_ keyPaths: String...) throws -> FetchRequest { try omitting(paths: keyPaths.map(\.keys)) }

    /// Reads the objects with some columns only: `only("title", "comments.author")`, also of prefetched relationships.
    ///
    /// Keys, unique columns, columns of relationships, orders and the filter, and the version are read as well. All
    /// other columns are omitted, as by `omitting`; a lazy column that is named is read. If no column of an entity's
    /// rows is named, they are read as without `only`.
    ///
    /// Throws as `omitting` does. Sends nothing.
    public func only(_ keyPaths: String...) throws -> FetchRequest { try only(paths: keyPaths.map(\.keys)) }

    func omitting(paths: [[String]]) throws -> FetchRequest { try leavingOut(Omission(paths: paths)) }

    func only(paths: [[String]]) throws -> FetchRequest { try leavingOut(Omission(paths: paths, isOnly: true)) }

    private func leavingOut(_ columns: Omission) throws -> FetchRequest {
        var request = self
        request.prefetched.leftOut = query.leftOut
        try request.prefetched.leaveOut(columns, of: entity)
        request.query.leftOut = request.prefetched.leftOut
        request.prefetched.leftOut = nil
        return request
    }
}

/// The columns that a step of a request omits, by their paths; or the only columns that it reads.
struct Omission: Sendable {
    let paths: [[String]]
    var isOnly = false
}

extension PrefetchTree {
    /// Leaves columns out of an entity's rows, and out of rows that are loaded with them.
    ///
    /// Throws `KindredError` `.unknownKey`, and `.invalidRequest` for a column that is always read, for rows without a key, and
    /// for a relationship that is not loaded.
    mutating func leaveOut(_ step: Omission, of entity: EntityRuntime) throws {
        for (path, entity, columns) in try places(of: step.paths, from: entity) {
            if step.isOnly {
                let read = entity.fixedColumns.union(ColumnSet(columns))
                leaveOut(path[...]) { _ in ColumnSet(entity.attributeColumns).subtracting(read) }
            } else {
                if let fixed = columns.first(where: entity.fixedColumns.contains) { throw entity.notOmittable(fixed) }
                leaveOut(path[...]) { ($0 ?? entity.lazyColumns).union(ColumnSet(columns)) }
            }
        }
    }

    /// The columns that some paths name, by the relationships that lead to their rows.
    private func places(
        of paths: [[String]], from entity: EntityRuntime
    ) throws -> [(path: [RelationshipRuntime], entity: EntityRuntime, columns: [Int])] {
        var places: [(path: [RelationshipRuntime], entity: EntityRuntime, columns: [Int])] = []
        for keys in paths {
            let (path, entity, column) = try column(keys, from: entity)
            if let place = places.firstIndex(where: { $0.path == path }) {
                places[place].columns.append(column)
            } else {
                places.append((path, entity, [column]))
            }
        }
        return places
    }

    private func column(
        _ keys: [String], from entity: EntityRuntime
    ) throws -> ([RelationshipRuntime], EntityRuntime, Int) {
        var (path, place, trees) = ([RelationshipRuntime](), entity, [self])
        for key in keys.dropLast() {
            guard let relationship = place.relationship(named: key) else { throw place.unknownKey(key) }
            // One relationship may have several branches: all of it, and parts.
            let branches = trees.flatMap(\.branches).filter { $0.relationship === relationship }
            guard !branches.isEmpty else {
                throw KindredError(
                    .invalidRequest,
                    "\(place.name).\(key) is not prefetched: prefetch it before its columns are omitted",
                    entity: place.name.description, key: key)
            }
            path.append(relationship)
            (place, trees) = (relationship.destination, branches.map(\.tree))
        }
        let key = keys.last ?? ""
        guard let column = place.attributeIndex(of: key) else {
            guard place.relationship(named: key) != nil else { throw place.unknownKey(key) }
            throw KindredError(
                .unknownKey, "\(place.name).\(key) is a relationship; only columns are omitted",
                entity: place.name.description, key: key)
        }
        guard !place.key.isEmpty else {
            throw KindredError(
                .invalidRequest, "\(place.name) has no key, by which an omitted column could be loaded",
                entity: place.name.description, key: key)
        }
        return (path, place, column)
    }
}

extension FetchRequest {
    /// Loads a relationship together with the objects, without some of its columns: `prefetch("comments", omitting: ["body"])`.
    ///
    /// As `prefetch("comments").omitting("comments.body")`. Sends nothing.
    public func prefetch(_ keyPath: String, omitting keys: [String]) throws -> FetchRequest {
        try prefetch(keyPath).omitting(paths: keys.map { keyPath.keys + [$0] })
    }

    /// Loads a relationship together with the objects, with some of its columns only: `prefetch("comments", only: ["author"])`.
    ///
    /// As `prefetch("comments").only("comments.author")`. Sends nothing.
    public func prefetch(_ keyPath: String, only keys: [String]) throws -> FetchRequest {
        try prefetch(keyPath).only(paths: keys.map { keyPath.keys + [$0] })
    }
}
