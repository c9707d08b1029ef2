extension FetchRequest where Object: TypedObject {
    /// Reads the objects without some columns: `omitting(\.content, \.summary)`.
    ///
    /// As `omitting` with names. A property of such a column shows a neutral value, which is the program's
    /// mistake: `value(forKey:)` loads it. Throws `KindredError` `.unknownKey` for a property that is no column, `.invalidRequest`
    /// for a column that is always read. Sends nothing.
    public func omitting<each Value>(_ columns: repeat KeyPath<Object, each Value>) throws -> FetchRequest {
        var paths: [[String]] = []
        for column in repeat each columns {
            paths.append(try ColumnPath().appending(column, of: Object.self).checkedKeys())
        }
        return try omitting(paths: paths)
    }

    /// Reads the objects with some columns only, and those that are always read: `only(\.title, \.published)`.
    ///
    /// As `only` with names. A lazy column that is named is read. Sends nothing.
    public func only<each Value>(_ columns: repeat KeyPath<Object, each Value>) throws -> FetchRequest {
        var paths: [[String]] = []
        for column in repeat each columns {
            paths.append(try ColumnPath().appending(column, of: Object.self).checkedKeys())
        }
        return try only(paths: paths)
    }

    /// Loads relationships together with the objects, without some columns of the last one:
    /// `prefetch(\.documents, omitting: \.content)`.
    ///
    /// One more query for each relationship of the path, for any number of objects. Throws as `omitting` does. Sends
    /// nothing itself.
    public func prefetch<Path: RelationshipPath, each Value>(
        _ path: KeyPath<Columns<Object>, Path>, omitting columns: repeat KeyPath<Path.Destination, each Value>
    ) throws -> FetchRequest {
        let keys = try Columns<Object>()[keyPath: path].relationshipKeys
        var paths: [[String]] = []
        for column in repeat each columns {
            paths.append(keys + (try ColumnPath().appending(column, of: Path.Destination.self).checkedKeys()))
        }
        return try prefetch(paths: [keys]).omitting(paths: paths)
    }

    /// Loads relationships together with the objects, with some columns only of the last one:
    /// `prefetch(\.documents, only: \.title)`.
    ///
    /// One more query for each relationship of the path, for any number of objects. Throws as `only` does. Sends
    /// nothing itself.
    public func prefetch<Path: RelationshipPath, each Value>(
        _ path: KeyPath<Columns<Object>, Path>, only columns: repeat KeyPath<Path.Destination, each Value>
    ) throws -> FetchRequest {
        let keys = try Columns<Object>()[keyPath: path].relationshipKeys
        var paths: [[String]] = []
        for column in repeat each columns {
            paths.append(keys + (try ColumnPath().appending(column, of: Path.Destination.self).checkedKeys()))
        }
        return try prefetch(paths: [keys]).only(paths: paths)
    }
}

extension RelationshipPart where Member: TypedObject {
    /// Reads the members without some columns: `omitting(\.content)`.
    public func omitting<each Value>(_ columns: repeat KeyPath<Member, each Value>) -> RelationshipPart {
        changed { content in
            var paths: [[String]] = []
            for column in repeat each columns {
                paths.append(try ColumnPath().appending(column, of: Member.self).checkedKeys())
            }
            content.leftOut.append(LeavingOut(paths: paths))
        }
    }

    /// Reads the members with some columns only, and those that are always read: `only(\.title)`.
    public func only<each Value>(_ columns: repeat KeyPath<Member, each Value>) -> RelationshipPart {
        changed { content in
            var paths: [[String]] = []
            for column in repeat each columns {
                paths.append(try ColumnPath().appending(column, of: Member.self).checkedKeys())
            }
            content.leftOut.append(LeavingOut(paths: paths, isOnly: true))
        }
    }
}
