import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Stages the values of a patch, to be written by `save()`: all of them, or none if one does not fit.
    ///
    /// Each value is read as the column's type, in the form in which `PostgresValue.encode(to:)` writes it: `numeric` also as a
    /// number, moments in ISO 8601 or as PostgreSQL prints them, `bytea` as base64. Sends nothing.
    ///
    /// - Parameters:
    ///   - patch: The changes.
    ///   - keys: The only keys that may be in the patch, so that a client cannot set more than the program means; nil for all
    ///     that can be written.
    ///
    /// Throws `KindredError` with a problem for each key: `.unknownKey` with the nearest keys, also for one that is not
    /// allowed; `.readOnly` for generated columns, for the version, and for the key of a stored object unless it is
    /// the same; `.wrongType` for a value that does not fit, and for a relationship, whose column is set instead.
    /// `save()` checks the rest, such as values that are missing or too long.
    public func apply(_ patch: ObjectPatch, allowing keys: [String]? = nil) throws {
        try requireStageable()
        let allowed = try keys.map { try Set($0.map(patchedPosition)) }
        var staged: [Int: RowCells] = [:]
        var problems: [ValidationProblem] = []
        for (key, tree) in patch.values.sorted(by: { $0.key < $1.key }) {
            do {
                let position = try patchedPosition(key)
                guard allowed?.contains(position) ?? true else { throw runtime.notAllowed(key, keys ?? []) }
                guard staged[position] == nil else { throw runtime.givenTwice(position, key) }
                let value = try runtime.value(of: tree, at: position, context.core.types)
                if isUnchangedKey(value, at: position) { continue }
                if !isInserted, runtime.key.contains(position) { throw runtime.fixedKey(position, key) }
                let cells = try cells(value, at: position)
                // Some values have several encodings; an equal value is no change.
                if let value, let known = row.valueOrRaw(at: position), value == known,
                    value.description == known.description
                {
                    continue
                }
                staged[position] = cells
            } catch let error as KindredError {
                problems.append(problem(error.code, error.message, key: key))
            }
        }
        if let error = KindredError(problems) { throw error }
        for (_, cells) in staged { stage(cells) }
    }

    private func patchedPosition(_ key: String) throws -> Int {
        switch try runtime.field(named: key) {
        case .attribute(let position): return position
        case .relationship(let relationship):
            throw KindredError(
                .wrongType,
                "\(runtime.name).\(key) is a relationship, which a patch cannot set"
                    + (relationship.holdsForeignKey
                        ? "; set \(runtime.attributes(relationship.ownColumns).map(\.name).joined(separator: ", "))"
                        : ""),
                entity: runtime.name.description, key: key)
        }
    }

    /// Whether a value for the key of a stored object is the one that it has, as clients send it back.
    private func isUnchangedKey(_ value: PostgresValue?, at position: Int) -> Bool {
        !isInserted && runtime.key.contains(position) && value == row.valueOrRaw(at: position)
    }
}

extension DatabaseContext {
    /// Makes a new object of an entity in memory with the values of a patch, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``DatabaseObject/apply(_:allowing:)`` does; nothing is staged then.
    @discardableResult
    public func insert(
        _ entityName: String, _ patch: ObjectPatch, allowing keys: [String]? = nil
    ) throws -> DatabaseObject {
        try applied(patch, keys, to: try insert(entityName))
    }

    /// Makes a new object of a typed class in memory with the values of a patch, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``DatabaseObject/apply(_:allowing:)`` does; nothing is staged then.
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type, _ patch: ObjectPatch, allowing keys: [String]? = nil
    ) throws -> Object {
        try applied(patch, keys, to: try insert(type))
    }

    private func applied<Object: DatabaseObject>(
        _ patch: ObjectPatch, _ keys: [String]?, to object: Object
    ) throws -> Object {
        do {
            try object.apply(patch, allowing: keys)
            return object
        } catch {
            object.rollback()
            throw error
        }
    }
}

extension EntityRuntime {
    fileprivate func notAllowed(_ key: String, _ allowed: [String]) -> KindredError {
        KindredError(
            .unknownKey, "\"\(key)\" of \(name) may not be set here; may be set: \(allowed.joined(separator: ", "))",
            entity: name.description, key: key)
    }

    fileprivate func givenTwice(_ position: Int, _ key: String) -> KindredError {
        KindredError(
            .invalidRequest, "\(name).\(entity.attributes[position].name) is given twice, under different names",
            entity: name.description, key: key)
    }

    fileprivate func fixedKey(_ position: Int, _ key: String) -> KindredError {
        KindredError(
            .readOnly,
            "\(name).\(entity.attributes[position].name) is the key of the object, which a patch cannot change",
            entity: name.description, key: key)
    }
}
