import KindredSchema

extension FetchRequest {
    /// Loads relationships together with the objects: `prefetch("books", "books.tags")`.
    ///
    /// One query more for each relationship on the paths, whatever the number of objects; the first access to them sends
    /// nothing then. A path's earlier relationships need not be named on their own. Throws `KindredError` `.unknownKey`
    /// for a key that is no relationship. Sends nothing itself.
    public func prefetch(_ keyPaths: String...) throws -> FetchRequest {
        try prefetch(paths: keyPaths.map(\.keys))
    }

    func prefetch(paths: [[String]]) throws -> FetchRequest {
        var request = self
        for keys in paths {
            var place = entity
            var path: [RelationshipRuntime] = []
            for key in keys {
                guard let relationship = place.relationship(named: key) else {
                    guard place.attributeIndex(of: key) != nil else { throw place.unknownKey(key) }
                    throw KindredError(
                        .unknownKey,
                        "\(place.name).\(key) is an attribute; only relationships are prefetched",
                        entity: place.name.description,
                        key: key
                    )
                }
                path.append(relationship)
                place = context.runtime.entities[relationship.destination]
            }
            request.prefetched.add(path[...])
        }
        return request
    }
}
