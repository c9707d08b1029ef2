extension DatabaseContext {
    /// Objects as views, in their order, as `views(_:keys:)` gives them; they may be of several entities.
    ///
    /// One query for each entity and each relationship on the paths that is not loaded, and one where shown attributes are not.
    ///
    /// - Parameters:
    ///   - objects: the objects.
    ///   - keyPaths: the attributes and relationships that are shown.
    ///   - omitted: the attributes and relationships that are not shown, although a path names all.
    ///   - keys: how the fields are named.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - parts: the relationships of which parts are shown: `{ $0.prefetch("tasks") { $0.where("done == NO").limit(5) } }`.
    public func views(
        of objects: [DatabaseObject], _ keyPaths: String..., omitting omitted: [String] = [],
        keys: DatabaseObject.JSONKeys = .columns, fileID: String = #fileID, line: Int = #line,
        parts: (RelationshipPart<DatabaseObject>) throws -> RelationshipPart<DatabaseObject> = { $0 }
    ) async throws -> [ObjectView] {
        let parts = try parts(RelationshipPart<DatabaseObject>()).content
        return try await client.called(at: fileID, line) {
            try await ViewLoader(core).views(
                of: objects, paths: keyPaths.map(\.keys), omitting: omitted.map(\.keys), keys: keys
            ) { entity in
                try parts.treeAlone(of: entity, in: schema)
            }
        }
    }
}

extension DatabaseObject {
    /// The object as a view, as `views(_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded, and one where shown attributes are not.
    ///
    /// - Parameters:
    ///   - keyPaths: the attributes and relationships that are shown.
    ///   - omitted: the attributes and relationships that are not shown, although a path names all.
    ///   - keys: how the fields are named.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - parts: the relationships of which parts are shown: `{ $0.prefetch("tasks") { $0.where("done == NO").limit(5) } }`.
    public func view(
        _ keyPaths: String..., omitting omitted: [String] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID,
        line: Int = #line, parts: (RelationshipPart<DatabaseObject>) throws -> RelationshipPart<DatabaseObject> = { $0 }
    ) async throws -> ObjectView {
        let parts = try parts(RelationshipPart<DatabaseObject>()).content
        return try await called(at: fileID, line) { core in
            let views = try await ViewLoader(core).views(
                of: [self], paths: keyPaths.map(\.keys), omitting: omitted.map(\.keys), keys: keys
            ) { entity in
                try parts.treeAlone(of: entity, in: core.runtime.schema)
            }
            return views[0]
        }
    }
}
