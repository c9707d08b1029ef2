import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// The objects of the request as views, which `JSONEncoder` writes: the attributes and relationships of the key paths.
    ///
    /// A path that ends at a relationship shows all attributes of its objects, as `*` does where it stands; none at all shows
    /// all attributes. Columns, relationships and properties of the class are found by their names.
    ///
    /// One query, and one more for each relationship on the paths, whatever the number of objects. Throws as `all()` does,
    /// and `.unknownKey` with the nearest keys before anything is sent.
    public func views(
        _ keyPaths: String..., keys: JSONKeys = .columns, fileID: String = #fileID, line: Int = #line
    ) async throws -> [ObjectView] {
        try await context.client.called(at: fileID, line) {
            let tree = try ViewTree(keyPaths, of: entity, keys)
            return try await context.views(of: try await all(fileID: fileID, line: line), tree)
        }
    }
}

extension Page {
    /// The objects of the page as views, as `FetchRequest.views(_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded.
    public func views(
        _ keyPaths: String..., keys: JSONKeys = .columns, fileID: String = #fileID, line: Int = #line
    ) async throws -> [ObjectView] {
        guard let first = objects.first else { return [] }
        return try await first.context.views(of: objects, keyPaths, keys, fileID: fileID, line: line)
    }
}

extension DatabaseObject {
    /// The object as a view, as `views(_:keys:)` gives them.
    ///
    /// One query for each relationship on the paths that is not loaded.
    public func view(
        _ keyPaths: String..., keys: JSONKeys = .columns, fileID: String = #fileID, line: Int = #line
    ) async throws -> ObjectView {
        try await context.views(of: [self], keyPaths, keys, fileID: fileID, line: line)[0]
    }
}

extension DatabaseContext {
    /// Objects as views, in their order, as `views(_:keys:)` gives them; they may be of several entities.
    ///
    /// One query for each entity and each relationship on the paths that is not loaded.
    public func views(
        of objects: [DatabaseObject], _ keyPaths: String..., keys: JSONKeys = .columns, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [ObjectView] {
        try await views(of: objects, keyPaths, keys, fileID: fileID, line: line)
    }

    func views(
        of objects: [DatabaseObject], _ keyPaths: [String], _ keys: JSONKeys, fileID: String, line: Int
    ) async throws -> [ObjectView] {
        try await client.called(at: fileID, line) {
            var views: [ObjectIdentifier: ObjectView] = [:]
            for (entity, group) in Dictionary(grouping: objects, by: \.runtime).sorted(by: { $0.key < $1.key }) {
                let tree = try ViewTree(keyPaths, of: entity, keys)
                for (object, view) in zip(group, try await self.views(of: group, tree)) {
                    views[ObjectIdentifier(object)] = view
                }
            }
            return objects.compactMap { views[ObjectIdentifier($0)] }
        }
    }

    /// The views of objects of one entity, in their order: level by level, one query for each relationship at most.
    func views(of objects: [DatabaseObject], _ tree: ViewTree) async throws -> [ObjectView] {
        guard objects.allSatisfy({ $0.core === core }) else {
            throw KindredError(.foreignContext, "An object of the view belongs to another context")
        }
        var related: [Int: [ObjectIdentifier: [ObjectView]]] = [:]
        for (place, relationship, deeper) in tree.relationships {
            related[place] = try await views(of: relationship, from: objects, deeper)
        }
        return objects.map { object in
            let row = object.row
            let fields = tree.fields.enumerated().map { place, field -> (String, ObjectView.Content) in
                switch field.field {
                case .attribute(let position): return (field.name, .value(row.valueOrRaw(at: position)))
                case .relationship(let relationship):
                    let views = related[place]?[ObjectIdentifier(object)] ?? []
                    return (field.name, relationship.isToMany ? .objects(views) : .object(views.first))
                }
            }
            return ObjectView(fields: fields)
        }
    }

    /// The views of a relationship's destinations, by its owners.
    private func views(
        of relationship: RelationshipRuntime, from owners: [DatabaseObject], _ tree: ViewTree
    ) async throws -> [ObjectIdentifier: [ObjectView]] {
        try await load(relationship, forAll: owners)
        var found: [ObjectIdentifier: [DatabaseObject]] = [:]
        var destinations: [DatabaseObject] = []
        var places: [ObjectIdentifier: Int] = [:]
        // A deleted object leads nowhere.
        for owner in owners where !owner.isGone && found[ObjectIdentifier(owner)] == nil {
            let objects =
                relationship.isToMany
                ? try await members(of: relationship, owner: owner)
                : try await destination(of: relationship, from: owner).map { [$0] } ?? []
            found[ObjectIdentifier(owner)] = objects
            for object in objects where places[ObjectIdentifier(object)] == nil {
                places[ObjectIdentifier(object)] = destinations.count
                destinations.append(object)
            }
        }
        let views = try await views(of: destinations, tree)
        return found.mapValues { objects in objects.compactMap { places[ObjectIdentifier($0)].map { views[$0] } } }
    }
}
