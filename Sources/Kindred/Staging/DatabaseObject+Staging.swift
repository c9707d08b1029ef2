public import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Whether the object has changes that are not saved yet.
    public var hasChanges: Bool {
        withState { $0.staging != nil }
    }

    /// The staged attributes by name with their staged values, NULL as nil; empty if nothing is staged.
    public var changedValues: [String: PostgresValue?] {
        let (row, staging) = withState { ($0.row, $0.staging) }
        var result: [String: PostgresValue?] = [:]
        for position in staging?.columns ?? [] {
            result.updateValue(row.valueOrRaw(at: position), forKey: entity.attributes[position].name)
        }
        return result
    }

    /// Takes back what is staged on this object; it shows what the database has, as last seen.
    ///
    /// Sends nothing.
    public func rollback() {
        context.rollback(self)
    }

    /// Stages a value for an attribute, to be written by `save()`; reads see it at once.
    ///
    /// A value that does not fit is kept as a problem that `save()` reports, and the attribute keeps what it had.
    package func stage(_ value: PostgresValue?, at position: Int) {
        let attribute = entity.attributes[position]
        do {
            try context.requireStageable(self, attribute)
            let bytes = try value.map { try runtime.cell($0, at: position, of: row.columns) }
            context.changeStaging(of: self) { state in
                let stored = state.storedRow
                var columns = state.staging?.columns ?? []
                var problems = state.staging?.problems ?? [:]
                problems[attribute.name] = nil
                state.row = state.row.replacing(position, with: bytes)
                if state.row.hasSameBytes(as: stored, at: position) {
                    columns.remove(position)
                } else {
                    columns.insert(position)
                }
                state.replaceStaging(Staging(stored: stored, columns: columns, problems: problems))
            }
        } catch {
            keep(error, forKey: attribute.name)
        }
    }

    /// Stages a Swift value for an attribute; one without an exact PostgreSQL form is kept as a problem.
    package func stage(_ value: (some PostgresEncodable)?, at position: Int) {
        do {
            stage(try value?.postgresValue, at: position)
        } catch {
            let attribute = entity.attributes[position]
            let reason = (error as? PostgresError)?.message ?? "the value has no PostgreSQL form"
            keep(runtime.wrongType(attribute, reason), forKey: attribute.name)
        }
    }

    /// Keeps what is wrong with a key until it is set again, rolled back, or reported by `save()`.
    func keep(_ error: any Error, forKey key: String) {
        let problem =
            error as? KindredError
            ?? KindredError(.wrongType, "\(runtime.name).\(key): \(error)", entity: runtime.name.description, key: key)
        context.changeStaging(of: self) { state in
            var problems = state.staging?.problems ?? [:]
            problems[key] = problem
            state.replaceStaging(
                Staging(stored: state.storedRow, columns: state.staging?.columns ?? [], problems: problems)
            )
        }
    }

    /// Stages a value for an attribute by name, or keeps the problem of a wrong key.
    func stage(_ value: PostgresValue?, forKey key: String) {
        if let position = runtime.attributeIndex[key] { return stage(value, at: position) }
        guard runtime.relationship(named: key) != nil else { return keep(runtime.unknownKey(key), forKey: key) }
        keep(
            KindredError(
                .wrongType,
                "\(runtime.name).\(key) is a relationship, not an attribute; set it with setValue(_:forKey:)",
                entity: runtime.name.description,
                key: key
            ),
            forKey: key
        )
    }
}

extension DatabaseContext {
    /// Refuses what can never be saved: a deleted object, an entity that is read-only, a generated column.
    fileprivate func requireStageable(_ object: DatabaseObject, _ attribute: Attribute) throws {
        try requireLive(object)
        _ = try requireKey(object)
        try object.runtime.requireWritable(attribute, key: attribute.name)
    }
}

extension EntityRuntime {
    /// The bytes of a value in the form in which rows hold it.
    ///
    /// Throws `.wrongType` for a value that does not fit the attribute's type exactly.
    func cell(_ value: PostgresValue, at position: Int, of columns: RowColumns) throws -> [UInt8] {
        let attribute = entity.attributes[position]
        var bytes: [UInt8] = []
        let format: PostgresFormat
        do {
            format = try Codec.encode(value, as: attribute.baseType, types: columns.types, into: &bytes)
        } catch let error as PostgresError {
            throw wrongType(attribute, error.message)
        }
        // A column that is read as text holds the text that the server would be sent.
        guard (format == .text) == attribute.isReadAsText else {
            throw wrongType(attribute, "give it as a string, in the form in which the server prints it")
        }
        return bytes
    }

    func wrongType(_ attribute: Attribute, _ reason: String) -> KindredError {
        KindredError(
            .wrongType,
            "\(name).\(attribute.name) is of type \(attribute.typeName): \(reason)",
            entity: name.description,
            key: attribute.name
        )
    }

    /// Refuses columns whose values the database alone decides.
    func requireWritable(_ attribute: Attribute, key: String) throws {
        guard attribute.isGenerated || attribute.identity == .always else { return }
        throw KindredError(
            .readOnly,
            "\(name).\(attribute.name) is generated by the database and cannot be set",
            entity: name.description,
            key: key
        )
    }
}
