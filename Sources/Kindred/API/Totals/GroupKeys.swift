/// The columns by which rows of a typed class are grouped, each with the type of its values: `{ $0.assignee.fullName }`.
///
/// A path over an optional relationship has optional values, since NULL is the key of a group too.
@dynamicMemberLookup
public struct GroupKeys<Root: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath) {
        self.path = path
    }

    /// A column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> GroupKey<Value> {
        GroupKey(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of a to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target>>) -> GroupKeys<Target> {
        GroupKeys<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of an optional to-one relationship.
    public subscript<Target: TypedObject>(
        dynamicMember keyPath: KeyPath<Root, ToOne<Target?>>
    ) -> OptionalGroupKeys<Target> {
        OptionalGroupKeys<Target>(path.appending(keyPath, of: Root.self))
    }
}

/// The columns of an object that may be missing, by which rows are grouped.
@dynamicMemberLookup
public struct OptionalGroupKeys<Root: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath) {
        self.path = path
    }

    /// A column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> GroupKey<Value?> {
        GroupKey(path.appending(keyPath, of: Root.self))
    }

    /// A column whose values may be NULL.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value?>) -> GroupKey<Value?> {
        GroupKey(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of a to-one relationship.
    public subscript<Target: TypedObject>(
        dynamicMember keyPath: KeyPath<Root, ToOne<Target>>
    ) -> OptionalGroupKeys<Target> {
        OptionalGroupKeys<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of an optional to-one relationship.
    public subscript<Target: TypedObject>(
        dynamicMember keyPath: KeyPath<Root, ToOne<Target?>>
    ) -> OptionalGroupKeys<Target> {
        OptionalGroupKeys<Target>(path.appending(keyPath, of: Root.self))
    }
}

/// A column by which rows are grouped, with the type of its values.
public struct GroupKey<Value>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath) {
        self.path = path
    }
}
