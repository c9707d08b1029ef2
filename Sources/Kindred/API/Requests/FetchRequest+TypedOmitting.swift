extension FetchRequest where Object: TypedObject {
    /// Reads the objects without some columns: `omitting(\.content, \.summary)`.
    ///
    /// As `omitting` with names. A property of such a column shows a neutral value, which is the program's
    /// mistake: `value(forKey:)` loads it. Throws `KindredError` `.unknownKey` for a property that is no column, `.invalidRequest`
    /// for a column that is always read. Sends nothing.
    public func omitting<each Value>(_ columns: repeat KeyPath<Object, each Value>) throws -> FetchRequest {
        try omitting(paths: Object.columnPaths(repeat each columns))
    }

    /// Reads the objects with some columns only, and the columns that are always read: `only(\.title, \.published)`.
    ///
    /// As `only` with names. A lazy column that is named is read. Sends nothing.
    public func only<each Value>(_ columns: repeat KeyPath<Object, each Value>) throws -> FetchRequest {
        try only(paths: Object.columnPaths(repeat each columns))
    }

    /// Loads relationships together with the objects, without some columns of the last relationship's objects:
    /// `prefetch(\.documents, omitting: \.content)`.
    ///
    /// One more query for each relationship of the path, for any number of objects. Throws as `omitting` does. Sends
    /// nothing itself.
    public func prefetch<Path: RelationshipPath, each Value>(
        _ path: KeyPath<Columns<Object>, Path>, omitting columns: repeat KeyPath<Path.Destination, each Value>
    ) throws -> FetchRequest {
        let keys = try Columns<Object>(of: .own)[keyPath: path].relationshipKeys
        let paths = try Path.Destination.columnPaths(repeat each columns)
        return try prefetch(paths: [keys]).omitting(paths: paths.map { keys + $0 })
    }

    /// Loads relationships together with the objects, with some columns only of the last relationship's objects:
    /// `prefetch(\.documents, only: \.title)`.
    ///
    /// One more query for each relationship of the path, for any number of objects. Throws as `only` does. Sends
    /// nothing itself.
    public func prefetch<Path: RelationshipPath, each Value>(
        _ path: KeyPath<Columns<Object>, Path>, only columns: repeat KeyPath<Path.Destination, each Value>
    ) throws -> FetchRequest {
        let keys = try Columns<Object>(of: .own)[keyPath: path].relationshipKeys
        let paths = try Path.Destination.columnPaths(repeat each columns)
        return try prefetch(paths: [keys]).only(paths: paths.map { keys + $0 })
    }
}

extension RelationshipPart where Member: TypedObject {
    /// Reads the members without some columns: `omitting(\.content)`.
    public func omitting<each Value>(_ columns: repeat KeyPath<Member, each Value>) -> RelationshipPart {
        changed { $0.leftOut.append(Omission(paths: try Member.columnPaths(repeat each columns))) }
    }

    /// Reads the members with some columns only, and the columns that are always read: `only(\.title)`.
    public func only<each Value>(_ columns: repeat KeyPath<Member, each Value>) -> RelationshipPart {
        changed { $0.leftOut.append(Omission(paths: try Member.columnPaths(repeat each columns), isOnly: true)) }
    }
}

extension TypedObject {
    /// The keys of some columns; throws `KindredError` `.unknownKey` for a property that is no column.
    fileprivate static func columnPaths<each Value>(_ columns: repeat KeyPath<Self, each Value>) throws -> [[String]] {
        var paths: [[String]] = []
        for column in repeat each columns {
            paths.append(try ColumnPath(.own).appending(column, of: Self.self).checkedKeys())
        }
        return paths
    }
}
