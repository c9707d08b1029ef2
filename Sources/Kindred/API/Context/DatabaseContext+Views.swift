extension DatabaseContext {
    /// Objects as views, in their order, as `views(_:keys:)` gives them; they may be of several entities.
    ///
    /// One query for each entity and each relationship on the paths that is not loaded, and one where shown attributes are not.
    public func views(
        of objects: [DatabaseObject], _ keyPaths: String..., omitting omitted: [String] = [],
        keys: JSONKeys = .columns, fileID: String = #fileID, line: Int = #line
    ) async throws -> [ObjectView] {
        try await client.called(at: fileID, line) {
            try await ViewLoader(core).views(of: objects, keyPaths, omitting: omitted, keys: keys)
        }
    }
}

extension DatabaseObject {
    /// The object as a view, as `views(_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded, and one where shown attributes are not.
    public func view(
        _ keyPaths: String..., omitting omitted: [String] = [], keys: JSONKeys = .columns, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> ObjectView {
        try await called(at: fileID, line) { context in
            try await ViewLoader(context.core).views(of: [self], keyPaths, omitting: omitted, keys: keys)[0]
        }
    }
}
