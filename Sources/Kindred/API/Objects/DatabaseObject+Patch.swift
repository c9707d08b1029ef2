import HarmlessText
import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Stages the values of a patch, to be written by `save()`: all of them, or none if one does not fit.
    ///
    /// Each value is read as the column's type, in the form in which `PostgresValue.encode(to:)` writes it: `numeric`
    /// also as a number, moments in ISO 8601 or as PostgreSQL prints them, `bytea` as base64. A number becomes the
    /// value that the server would make of the client's text. Sends nothing.
    ///
    /// - Parameters:
    ///   - patch: The changes.
    ///   - keys: The only keys that may be in the patch, so that a client cannot set more than the program means; nil for
    ///     all keys that can be written.
    ///   - rounding: Whether a `numeric` with more digits after the point than its column has is rounded, halves away from
    ///     zero, instead of refused.
    ///
    /// Throws `KindredError` with a problem for each key, of the category `.invalid`: `.unknownKey`, in the first ten
    /// problems with the nearest keys, also for a key that is not allowed; `.readOnly` for generated columns, for the
    /// version, and for the key of a stored object unless it is the same; `.wrongType` for a value that does not fit,
    /// and for a relationship, whose column is set instead; `.missingValue` for a null where a value is required,
    /// `.valueTooLarge` for a text that is too long and a number with too many digits or out of its type's range,
    /// `.unknownLabel` for a text that is no label of an enum. A label that the model does not know is left to `save()`
    /// if nothing else is wrong: the save asks the database whether the label was added.
    public func apply(_ patch: ObjectPatch, allowing keys: [String]? = nil, rounding: Bool = false) throws {
        try requireStageable()
        let allowed = try keys.map { try Set($0.map { try patchedPosition($0) }) }
        var given: Set<Int> = []
        var staged: [RowCells] = []
        var (problems, unknownLabels) = ([KindredError.Problem](), [KindredError.Problem]())
        for (key, json) in patch.members {
            let isAdvised = problems.count < Self.advisedProblems
            do {
                let position = try patchedPosition(key, isAdvised: isAdvised)
                guard allowed?.contains(position) ?? true else {
                    throw runtime.notAllowed(key, isAdvised ? keys : nil)
                }
                guard given.insert(position).inserted else { throw runtime.givenTwice(position, key) }
                guard let value = try patchedValue(json, at: position, key, isRounded: rounding) else { continue }
                let cells = try cells(value, at: position)
                if let misfit = value.flatMap({ runtime.misfit($0, at: position) }) {
                    let message = "\(self).\(entity.attributes[position].name) cannot have the value: \(misfit.reason)"
                    let problem = problem(misfit.code, message, key: key)
                    if misfit.code == .unknownLabel { unknownLabels.append(problem) } else { problems.append(problem) }
                }
                staged.append(cells)
            } catch let error as KindredError {
                problems.append(problem(error.code, error.message, key: key))
            }
        }
        if !problems.isEmpty {
            problems = (problems + unknownLabels).sorted { ($0.key ?? "") < ($1.key ?? "") }
            if let error = KindredError(problems) { throw error.ofInput }
        }
        try stageOrThrow(staged)
    }

    /// The problems that name the keys that could have been meant: to find these takes longer than anything else about a patch.
    private static let advisedProblems = 10

    /// The new value of a column; nil for the value that it has.
    private func patchedValue(
        _ json: JSONValue, at position: Int, _ key: String, isRounded: Bool
    ) throws -> PostgresValue?? {
        let isFixed = !isInserted && runtime.key.contains(position)
        if !isFixed {
            try runtime.requireWritable(entity.attributes[position], key: key)
            if !isInserted { try runtime.requireNoVersion(position, key: key) }
        }
        var value = try runtime.value(of: json, at: position, core.types)
        if isRounded { value = value.map { runtime.rounded($0, at: position) } }
        let row = row
        // Any value is a change of an attribute that is not loaded.
        if row.isLeftOut(at: position) {
            try requirePresent(value, at: position, key)
            return .some(value)
        }
        let known = row.valueOrRaw(at: position)
        if isFixed {
            guard value == known else { throw runtime.fixedKey(position, key) }
            return nil
        }
        // Some values have several encodings; an equal value is no change.
        if let value, value == known, value.description == known?.description { return nil }
        try requirePresent(value, at: position, key)
        return value
    }

    private func requirePresent(_ value: PostgresValue?, at position: Int, _ key: String) throws {
        let isFilled = isInserted && runtime.mayFillNewRows
        if value == nil, !isFilled, runtime.requiredColumns.contains(position) {
            throw KindredError(
                .missingValue, "\(self) needs a value for \(runtime.label(of: position)), which may not be NULL",
                entity: runtime.name.description, key: key)
        }
    }

    private func patchedPosition(_ key: String, isAdvised: Bool = true) throws -> Int {
        switch try runtime.field(named: key, isAdvised: isAdvised) {
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
}

extension DatabaseContext {
    /// Makes a new object of an entity in memory with the values of a patch, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``DatabaseObject/apply(_:allowing:rounding:)`` does; nothing is staged then.
    @discardableResult
    public func add(
        _ entityName: String, _ patch: ObjectPatch, allowing keys: [String]? = nil, rounding: Bool = false
    ) throws -> DatabaseObject {
        try applied(patch, allowing: keys, rounding: rounding, to: try add(entityName))
    }

    /// Makes a new object of a typed class in memory with the values of a patch, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``DatabaseObject/apply(_:allowing:rounding:)`` does; nothing is staged then.
    @discardableResult
    public func add<Object: TypedObject>(
        _ type: Object.Type, _ patch: ObjectPatch, allowing keys: [String]? = nil, rounding: Bool = false
    ) throws -> Object {
        try applied(patch, allowing: keys, rounding: rounding, to: try add(type))
    }

    private func applied<Object: DatabaseObject>(
        _ patch: ObjectPatch, allowing keys: [String]?, rounding: Bool, to object: Object
    ) throws -> Object {
        do {
            try object.apply(patch, allowing: keys, rounding: rounding)
            return object
        } catch {
            object.rollback()
            throw error
        }
    }
}

extension EntityRuntime {
    /// - Parameter allowed: The keys that the message names; nil for none.
    fileprivate func notAllowed(_ key: String, _ allowed: [String]?) -> KindredError {
        let others = allowed.map { "; may be set: \($0.joined(separator: ", "))" } ?? ""
        return KindredError(
            .unknownKey, "\"\(key.shortened)\" of \(name) may not be set here\(others)", entity: name.description,
            key: key)
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
