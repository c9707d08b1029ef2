import KindredPostgres

/// The paths that a view of a typed class's objects can show: its columns, and columns of related objects: `\.title`,
/// `\.category.name`, `\.authors.name`.
///
/// A path that ends at a relationship shows all attributes of its objects, and `\.self` all attributes of the object itself.
@dynamicMemberLookup
public struct ViewPaths<Root: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath = ColumnPath(.own)) {
        self.path = path
    }

    /// A column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> ViewPath {
        ViewPath(path: path.appending(keyPath, of: Root.self))
    }

    /// The object at the other end of a to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target>>) -> ViewPaths<Target> {
        ViewPaths<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The object at the other end of an optional to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target?>>) -> ViewPaths<Target> {
        ViewPaths<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The members of a to-many relationship.
    public subscript<Member: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToMany<Member>>) -> ViewPaths<Member> {
        ViewPaths<Member>(path.appending(keyPath, of: Root.self))
    }
}

/// A column in a view of typed objects.
public struct ViewPath: Sendable {
    let path: ColumnPath
}

/// A path in a view.
private protocol ViewEnd {
    var path: ColumnPath { get }
}

extension ViewPath: ViewEnd {}
extension ViewPaths: ViewEnd {}

extension ViewPaths {
    /// The keys of paths.
    ///
    /// Throws `.unknownKey` for a property that is neither a column nor a relationship.
    static func keys(of paths: [PartialKeyPath<ViewPaths>]) throws -> [[String]] {
        try paths.map { path in
            if path == \ViewPaths<Root>.self { return ["*"] }
            let keys = try (ViewPaths()[keyPath: path] as? any ViewEnd)?.path.checkedKeys() ?? []
            guard !keys.isEmpty else {
                throw KindredError(
                    .unknownKey, "\(path) is neither a column nor a relationship of \(Root.mapping.entity)")
            }
            return keys
        }
    }
}

extension FetchRequest where Object: TypedObject {
    /// The objects of the request as views of some of their properties: `views(\.title, \.category.name, \.authors.name)`.
    ///
    /// One query, and one more for each relationship on the paths, whatever the number of objects. Throws as `all()` does, and
    /// `.unknownKey` for a property that is neither a column nor a relationship, before anything is sent.
    public func views(
        _ path: PartialKeyPath<ViewPaths<Object>>, _ others: PartialKeyPath<ViewPaths<Object>>...,
        omitting omitted: [PartialKeyPath<ViewPaths<Object>>] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [ObjectView] {
        try await views(
            paths: try ViewPaths.keys(of: [path] + others), omitting: try ViewPaths.keys(of: omitted), keys: keys,
            fileID: fileID, line: line)
    }
}

extension Page where Object: TypedObject {
    /// The objects of the page as views, as `FetchRequest.views(_:_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded.
    public func views(
        _ path: PartialKeyPath<ViewPaths<Object>>, _ others: PartialKeyPath<ViewPaths<Object>>...,
        omitting omitted: [PartialKeyPath<ViewPaths<Object>>] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [ObjectView] {
        try await views(
            paths: try ViewPaths.keys(of: [path] + others), omitting: try ViewPaths.keys(of: omitted), keys: keys,
            fileID: fileID, line: line)
    }
}

extension DatabaseContext {
    /// Objects of a typed class as views of some of their properties, in their order.
    ///
    /// One query for each relationship on the paths that is not loaded, and one where shown attributes are not. `parts` names the
    /// relationships of which parts are shown: `{ $0.prefetch(\.tasks) { $0.where { !$0.done }.limit(5) } }`.
    public func views<Object: TypedObject>(
        of objects: [Object], _ path: PartialKeyPath<ViewPaths<Object>>, _ others: PartialKeyPath<ViewPaths<Object>>...,
        omitting omitted: [PartialKeyPath<ViewPaths<Object>>] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID, line: Int = #line,
        parts: (RelationshipPart<Object>) throws -> RelationshipPart<Object> = { $0 }
    ) async throws -> [ObjectView] {
        let (paths, omitted) = (try ViewPaths.keys(of: [path] + others), try ViewPaths.keys(of: omitted))
        let parts = try parts(RelationshipPart<Object>()).content
        return try await client.called(at: fileID, line) {
            try await ViewLoader(core).views(of: objects, paths: paths, omitting: omitted, keys: keys) { entity in
                try parts.treeAlone(of: entity, in: schema)
            }
        }
    }
}

extension TypedObject {
    /// The object as a view of some of its properties: `view(\.title, \.category.name)`.
    ///
    /// One query for each relationship on the paths that is not loaded, and one where shown attributes are not. `parts` names the
    /// relationships of which parts are shown: `{ $0.prefetch(\.tasks) { $0.where { !$0.done }.limit(5) } }`.
    public func view(
        _ path: PartialKeyPath<ViewPaths<Self>>, _ others: PartialKeyPath<ViewPaths<Self>>...,
        omitting omitted: [PartialKeyPath<ViewPaths<Self>>] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID, line: Int = #line,
        parts: (RelationshipPart<Self>) throws -> RelationshipPart<Self> = { $0 }
    ) async throws -> ObjectView {
        let (paths, omitted) = (try ViewPaths.keys(of: [path] + others), try ViewPaths.keys(of: omitted))
        let parts = try parts(RelationshipPart<Self>()).content
        return try await called(at: fileID, line) { core in
            let views = try await ViewLoader(core).views(
                of: [self], paths: paths, omitting: omitted, keys: keys
            ) { entity in
                try parts.treeAlone(of: entity, in: core.runtime.schema)
            }
            return views[0]
        }
    }
}
