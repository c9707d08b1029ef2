public import KindredPostgres

extension FetchRequest where Object: TypedObject {
    /// Keeps the objects that fulfil a condition: `where { $0.surname == "Smith" && $0.emails.contains { … } }`.
    ///
    /// Values are always bound. Sends nothing. Throws `KindredError` `.unknownKey` for a property that is not a column,
    /// `.wrongType` for values that cannot be compared.
    public func `where`(_ condition: (Columns<Object>) throws -> Condition) throws -> FetchRequest {
        try self.where(try Columns.condition(condition))
    }

    /// Sorts by a column or a path over to-one relationships, after earlier sort keys: `sorted { $0.surname }`, or by another where it is
    /// NULL: `sorted { $0.shortName ?? $0.name }`.
    ///
    /// NULL comes last, and first when descending, unless `nulls` says otherwise. A to-many relationship has no value to
    /// sort by, but its number of members: `sorted { $0.emails.count }`. Sends nothing.
    public func sorted<Value: PostgresEncodable>(
        ascending: Bool = true,
        nulls: NullOrder = .standard,
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest {
        try sorted(try Columns.sortTerm(ascending: ascending, nulls: nulls, column))
    }

    /// Sorts by a value of one member of a to-many relationship, after earlier sort keys; where there is none, as by NULL:
    /// `sorted(by: \.readers, where: { $0.user == me }) { $0.isMuted }`.
    ///
    /// Sends nothing. Throws `KindredError` `.invalidRequest` for a condition that may leave several members: it must compare
    /// the columns of a unique key with `==`, except the columns that the relationship itself fixes. Of several members take the
    /// smallest or greatest value: `sorted { $0.readers.where { … }.minimum { $0.readAt } }`.
    public func sorted<Member, Value: PostgresEncodable>(
        by members: KeyPath<Columns<Object>, MemberColumns<Member>>,
        where condition: (Columns<Member>) throws -> Condition,
        ascending: Bool = true,
        nulls: NullOrder = .standard,
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest {
        try sorted(ascending: ascending, nulls: nulls) { try $0[keyPath: members].where(condition).only(column) }
    }

    /// Not available: many objects have no order among them.
    @available(*, unavailable, message: "a request is sorted by a column, or by the count of a to-many relationship")
    public func sorted<Member>(
        ascending: Bool = true,
        _ members: (Columns<Object>) throws -> MemberColumns<Member>
    ) throws -> FetchRequest { self }

    /// Not available: an object has no order, but its columns have.
    @available(*, unavailable, message: "a request is sorted by a column: name one of the object at the other end")
    public func sorted<Target>(
        ascending: Bool = true,
        _ object: (Columns<Object>) throws -> Columns<Target>
    ) throws -> FetchRequest { self }

    /// Sorts by a property's column; NULL sorts as in PostgreSQL, or before every value.
    package func sorted(keyPath: AnyKeyPath, ascending: Bool, nullsAreLowest: Bool) throws -> FetchRequest {
        let keys = try ColumnPath(.own).appending(keyPath, of: Object.self).checkedKeys()
        let mayBeNull = keys.first.flatMap { entity.entity.attribute(named: $0) }.map { !$0.isNotNull }
        let nulls: NullOrder = nullsAreLowest && mayBeNull == true ? (ascending ? .first : .last) : .standard
        return try sorted(path: keys, ascending: ascending, nulls: nulls)
    }
}

/// A path of relationships of a typed class, such as `\.books.authors`.
public protocol RelationshipPath: Sendable {
    /// The class of the objects at the end of the path.
    associatedtype Destination: TypedObject

    /// The keys of the path.
    ///
    /// Throws `KindredError` `.unknownKey` for a property that is not a relationship.
    var relationshipKeys: [String] { get throws }
}

extension Columns: RelationshipPath {
    /// The class of the objects that have the columns.
    public typealias Destination = Root

    /// The keys that lead to these columns.
    public var relationshipKeys: [String] { get throws { try path.checkedKeys() } }
}

extension MemberColumns: RelationshipPath {
    /// The class of the members.
    public typealias Destination = Member

    /// The keys that lead to these members.
    public var relationshipKeys: [String] { get throws { try path.checkedKeys() } }
}

extension FetchRequest where Object: TypedObject {
    /// Loads relationships together with the objects: `prefetch(\.books.authors)`.
    ///
    /// One more query for each relationship of the path, for any number of objects. Sends nothing itself.
    public func prefetch<Path: RelationshipPath>(_ path: KeyPath<Columns<Object>, Path>) throws -> FetchRequest {
        try prefetch(paths: [try Columns<Object>(of: .own)[keyPath: path].relationshipKeys])
    }
}
