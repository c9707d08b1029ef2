public import KindredPostgres
import KindredSchema

// A version that a client was given, and gives back: `ETag` and `If-Match`.
extension DatabaseObject {
    /// The version of the row that changes of the object are made on, as a text for a client; nil where the entity has no
    /// optimistic locking, and for a new object.
    ///
    /// ```swift
    /// response.headers[.eTag] = book.rowVersion.map { "\"\($0)\"" }
    /// ```
    public var rowVersion: String? {
        guard !isInserted, runtime.version != nil else { return nil }
        return (try? expectedVersion())?.description
    }

    /// Makes sure that a write changes the version which a client has seen: throws if the object has another version.
    ///
    /// ```swift
    /// try book.expect(version: ifMatch)   // the text that rowVersion was
    /// try book.apply(patch)
    /// try await context.save()            // refused if the row has got another version meanwhile
    /// ```
    ///
    /// Sends nothing: the object's own version was read with its row, and every write of it makes sure that the
    /// database still has that version. So read the object in the same request. The version is a text as ``rowVersion``
    /// gives it, or a value.
    ///
    /// Throws `KindredError` `.staleObject` with the conflict, as the save would; `.wrongType` for a value that is no
    /// version of the entity's; `.invalidRequest` where the entity has no optimistic locking, `.notStored` for a new
    /// object.
    public func expect(version: some PostgresEncodable) throws {
        try requireLive()
        guard !isInserted else {
            throw KindredError(
                .notStored, "\(self) is new and has no version yet", entity: runtime.name.description)
        }
        guard let column = runtime.version else {
            throw KindredError(
                .invalidRequest,
                """
                \(runtime.name) has no versions: choose a column for them by the annotation {"version": true}, or xmin by \
                {"optimisticLocking": "xmin"}
                """,
                entity: runtime.name.description)
        }
        let (own, given) = (try expectedVersion(), try version.postgresValue)
        guard let difference = try runtime.difference(from: own, to: given, of: column) else { return }
        throw KindredError(stale: [
            KindredError.Conflict(object: self, version: difference, databaseVersion: own, changedKeys: [])
        ])
    }
}

extension EntityRuntime {
    /// The version that was given, if it differs from the object's.
    ///
    /// Throws `.wrongType` for a value of another type than the version's.
    fileprivate func difference(
        from own: PostgresValue?, to given: PostgresValue?, of column: VersionColumn
    ) throws -> PostgresValue?? {
        let attribute = entity.attributes[column.position]
        guard let given else { return own == nil ? nil : .some(nil) }
        if given == own || given.description == own?.description { return nil }
        var value = given
        if case .string(let text) = given {
            let read: PostgresValue? =
                if case .integer? = own {
                    // Versions in `xmin` too, whose type has no numbers otherwise.
                    Int64(text).map(PostgresValue.integer)
                } else {
                    try? PostgresValue(text: text, type: attribute.baseType)
                }
            guard let read else { throw wrongType(attribute, "the text is no version of it") }
            value = read
        }
        switch (value, own) {
        case (.integer, .integer?), (.string, .string?), (.other, .other?): return value == own ? nil : value
        case (.timestamp(let one), .timestamp(let other)?), (.timestamp(let one), .timestampTZ(let other)?),
            (.timestampTZ(let one), .timestamp(let other)?), (.timestampTZ(let one), .timestampTZ(let other)?):
            return one == other ? nil : value
        case (_, nil): return value
        default: throw wrongType(attribute, "\(value.kindName) is no version of it")
        }
    }
}
