/// A path of relationships of a typed class, such as `\.books.authors`.
public protocol RelationshipPath: Sendable {
    /// The keys of the path.
    ///
    /// Throws `KindredError` `.unknownKey` for a property that is no relationship.
    var relationshipKeys: [String] { get throws }
}

extension Columns: RelationshipPath {
    /// The keys that lead to these columns.
    public var relationshipKeys: [String] { get throws { try path.checkedKeys() } }
}

extension MemberColumns: RelationshipPath {
    /// The keys that lead to these members.
    public var relationshipKeys: [String] { get throws { try path.checkedKeys() } }
}

extension FetchRequest where Object: TypedObject {
    /// Loads relationships together with the objects: `prefetch(\.books.authors)`.
    ///
    /// One query more for each relationship of the path, whatever the number of objects. Sends nothing itself.
    public func prefetch<Path: RelationshipPath>(_ path: KeyPath<Columns<Object>, Path>) throws -> FetchRequest {
        try prefetch(paths: [try Columns<Object>()[keyPath: path].relationshipKeys])
    }
}
