import KindredPostgres

extension FetchRequest {
    /// The objects of the request as views, which `JSONEncoder` writes: the attributes and relationships of the key paths.
    ///
    /// A path that ends at a relationship shows all attributes of its objects, as `*` does where it stands; none at all
    /// shows all attributes. Lazy attributes are shown where they are named. Columns, relationships and properties of
    /// the class are found by their names. Key paths in `omitting` are taken out, as in `views("*", "comments.*",
    /// omitting: ["comments.body"])`, and not read. If the request prefetches a part of a relationship, its view shows
    /// that part; two parts of one relationship are an error.
    ///
    /// One query, and one more for each relationship on the paths, whatever the number of objects. Throws as `all()` does,
    /// and `.unknownKey` with the nearest keys before anything is sent.
    public func views(
        _ keyPaths: String..., omitting omitted: [String] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [ObjectView] {
        try await views(
            paths: keyPaths.map(\.keys), omitting: omitted.map(\.keys), keys: keys, fileID: fileID, line: line)
    }

    func views(
        paths: [[String]], omitting omitted: [[String]], keys: DatabaseObject.JSONKeys, fileID: String, line: Int
    ) async throws -> [ObjectView] {
        try await context.core.client.called(at: fileID, line) {
            var request = self
            var parts = prefetched
            parts.leftOut = query.leftOut
            let tree = try ViewTree(paths: paths, omitting: omitted, of: entity, keys, parts: parts)
            request.query.leftOut = tree.leftOut
            tree.leaveOut(of: &request.prefetched)
            return try await ViewLoader(context.core).views(of: try await request.all(fileID: fileID, line: line), tree)
        }
    }
}

extension Page {
    /// The objects of the page as views, as `FetchRequest.views(_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded.
    public func views(
        _ keyPaths: String..., omitting omitted: [String] = [], keys: DatabaseObject.JSONKeys = .columns,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [ObjectView] {
        try await views(
            paths: keyPaths.map(\.keys), omitting: omitted.map(\.keys), keys: keys, fileID: fileID, line: line)
    }

    func views(
        paths: [[String]], omitting omitted: [[String]], keys: DatabaseObject.JSONKeys, fileID: String, line: Int
    ) async throws -> [ObjectView] {
        guard let first = objects.first else { return [] }
        return try await first.called(at: fileID, line) { core in
            try await ViewLoader(core).views(
                of: objects, paths: paths, omitting: omitted, keys: keys
            ) { _ in prefetched }
        }
    }
}
