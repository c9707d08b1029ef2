import KindredPostgres
import KindredSchema

// Checks whether an object can be used, and the errors if not.
extension ContextCore {
    func requireOwn(_ object: DatabaseObject) throws {
        guard object.core !== self else { return }
        guard object.core.hasTenant(of: self) else { throw otherTenant(object.runtime) }
        throw KindredError(
            .foreignContext,
            "\(object) belongs to another context",
            entity: object.runtime.name.description
        )
    }

    /// The error for rows that a write did not find.
    func gone(_ objects: [DatabaseObject]) -> KindredError {
        let entity = objects[0].runtime.name
        let what = objects.count == 1 ? "\(objects[0]) is" : "One of \(objects.count) objects of \(entity) is"
        let message = "\(what) no longer in the database, or a rule or policy hides it"
        return KindredError(
            .objectDeleted, message, entity: entity.description,
            problems: objects.count == 1 ? [objects[0].problem(.objectDeleted, message, key: nil)] : [])
    }
}

extension DatabaseObject {
    /// Throws if the object's row is known to be gone.
    package func requireLive() throws {
        try requireLive(withState { $0.status })
    }

    func requireLive(_ status: ObjectState.Status) throws {
        guard status == .deleted else { return }
        // A row that was stored has a key.
        let isDiscarded = (try? ObjectKey(storedRow, runtime.key)) == nil
        let code: KindredError.Code = isDiscarded ? .objectDiscarded : .objectDeleted
        let message =
            isDiscarded
            ? "A new object of \(runtime.name) was discarded before it was stored, by a rollback or with its context; make another one"
            : "\(self) has been deleted"
        throw KindredError(
            code, message, entity: runtime.name.description, problems: [problem(code, message, key: nil)])
    }

    /// The key by which a write finds the object's row; throws if the object is new, or can never be written.
    func requireKey() throws -> ObjectKey {
        try core.requireWritable()
        if entity.isReadOnly || runtime.key.isEmpty { throw runtime.notWritable }
        return try requireReadKey()
    }

    /// The key by which the object's row is read again; throws if the object is new, or its entity has no key.
    func requireReadKey() throws -> ObjectKey {
        try core.requireWritable()
        if runtime.key.isEmpty { throw runtime.withoutKey }
        guard !isInserted else { throw notStored }
        guard let key else {
            throw KindredError(
                .readOnly, "The row of \(runtime.name) has no usable key", entity: runtime.name.description)
        }
        return key
    }

    /// The error for a change that is staged while the program holds no context.
    var contextReleased: KindredError {
        KindredError(
            .contextReleased,
            "The context of \(self) was released, so that no change can be staged: hold the context until changes are saved",
            entity: runtime.name.description
        )
    }

    package var notStored: KindredError {
        KindredError(
            .notStored,
            "\(self) is new and not stored yet; save it first",
            entity: runtime.name.description
        )
    }

    /// The stored values by which a foreign key refers to the object; throws if it cannot.
    func referencedValues(_ columns: [Int], _ key: String) throws -> [PostgresValue] {
        let row = storedRow
        try requireReferenced(row, key)
        return try columns.map { column in
            guard let value = try row[column] else { throw lacksReferencedValue(column, key) }
            return value
        }
    }

    /// Throws if the object's row belongs to an inheriting table, to which no foreign key of this entity refers.
    func requireReferenced(_ row: Row, _ key: String) throws {
        guard !runtime.isReferenced(row) else { return }
        throw KindredError(
            .wrongType,
            "\(self) cannot be used for \"\(key)\": foreign keys refer to the rows of \(runtime.name) alone, not to those of "
                + "tables that inherit from it",
            entity: runtime.name.description,
            key: key
        )
    }

    func lacksReferencedValue(_ column: Int, _ key: String) -> KindredError {
        KindredError(
            .missingValue,
            "\(self) cannot be used for \"\(key)\": its \(entity.attributes[column].name) is NULL",
            entity: runtime.name.description,
            key: key
        )
    }

    func disagrees(_ column: Int, _ key: String) -> KindredError {
        KindredError(
            .wrongType,
            "\(self) cannot take part in \"\(key)\": both ends share \(entity.attributes[column].name), and it differs",
            entity: runtime.name.description,
            key: key
        )
    }

    /// A problem that keeps the object from being saved.
    func problem(
        _ code: KindredError.Code,
        _ message: String,
        key: String?,
        error: (any Error)? = nil
    ) -> KindredError.Problem {
        KindredError.Problem(
            code, message, object: self, entity: runtime.name.description, key: key, error: error)
    }

    /// The version that a write of the object expects in the database.
    func expectedVersion() throws -> PostgresValue? {
        guard let version = runtime.version else { return nil }
        return try withState { try $0.expectedVersion(version) }
    }

    /// The error for a typed property whose index has no mapping; generated code never has one.
    func noProperty(_ kind: String) -> KindredError {
        KindredError(
            .classMismatch,
            "A property of \(type(of: self)) matches no \(kind) of \(runtime.name): run `kindred generate` again",
            entity: runtime.name.description
        )
    }

    /// The key, and version, by which a write finds the object's row.
    var versionedKey: VersionedKey {
        get throws { VersionedKey(key: try requireKey(), version: try expectedVersion()) }
    }
}

/// The objects by entity, in the entities' order, each once.
func grouped(_ objects: [DatabaseObject]) -> [(entity: EntityRuntime, objects: [DatabaseObject])] {
    var seen = Set<DatabaseObject>()
    let distinct = objects.filter { seen.insert($0).inserted }
    return Dictionary(grouping: distinct, by: \.runtime).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
}
