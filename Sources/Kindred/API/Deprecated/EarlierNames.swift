// Names that were replaced before 1.0: each does what the new one does.

public import KindredPostgres

/// The effect of the first access to an object's relationship, under its earlier name.
@available(*, deprecated, renamed: "RelationshipLoading")
public typealias FaultingMode = RelationshipLoading

extension RelationshipLoading {
    /// Loads a relationship for one object alone, under its earlier name.
    @available(*, deprecated, renamed: "single")
    public static var off: RelationshipLoading { .single }
}

extension KindredError.Code {
    /// The context forbids loading, under its earlier name.
    @available(*, deprecated, renamed: "loadingForbidden")
    public static var faultingForbidden: KindredError.Code { .loadingForbidden }
}

extension DatabaseContext {
    /// The effect of the first access to an object's relationship, under its earlier name.
    @available(*, deprecated, renamed: "loading")
    public var faulting: RelationshipLoading { loading }

    /// Whether anything is staged, under its earlier name.
    @available(*, deprecated, renamed: "hasStagedChanges")
    public var hasChanges: Bool { hasStagedChanges }

    /// The object of an ID, under its earlier name.
    @available(*, deprecated, renamed: "get(_:)")
    public func object(with id: ObjectID, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        try await get(id, fileID: fileID, line: line)
    }

    /// The object of an ID in its URI form, under its earlier name.
    @available(*, deprecated, renamed: "get(uri:)")
    public func object(with uri: String, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        try await get(uri: uri, fileID: fileID, line: line)
    }
}

extension DatabaseObject {
    /// Whether anything is staged on the object, under its earlier name.
    @available(*, deprecated, renamed: "hasStagedChanges")
    public var hasChanges: Bool { hasStagedChanges }

    /// The staged attributes by name, under its earlier name.
    @available(*, deprecated, renamed: "stagedValues")
    public var changedValues: [String: PostgresValue?] { stagedValues }
}
