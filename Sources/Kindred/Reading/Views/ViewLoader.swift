import KindredPostgres

/// Makes views of objects: level by level, one query for each relationship that is not loaded.
struct ViewLoader: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The views of objects, in their order; the objects may be of several entities.
    ///
    /// - Parameters:
    ///   - objects: the objects.
    ///   - paths: the paths of keys that are shown.
    ///   - omitted: the paths that are not shown, although another path shows all attributes.
    ///   - keys: how the fields are named.
    ///   - parts: the relationships of an entity of which parts are shown.
    func views(
        of objects: [DatabaseObject], paths: [[String]], omitting omitted: [[String]] = [],
        keys: DatabaseObject.JSONKeys,
        parts: (EntityRuntime) throws -> PrefetchTree = { _ in PrefetchTree() }
    ) async throws -> [ObjectView] {
        var views: [ObjectIdentifier: ObjectView] = [:]
        for (entity, group) in Dictionary(grouping: objects, by: \.runtime).sorted(by: { $0.key < $1.key }) {
            let tree = try ViewTree(paths: paths, omitting: omitted, of: entity, keys, parts: try parts(entity))
            for (object, view) in zip(group, try await self.views(of: group, tree)) {
                views[ObjectIdentifier(object)] = view
            }
        }
        return objects.compactMap { views[ObjectIdentifier($0)] }
    }

    /// The views of objects of one entity, in their order: level by level, one query for each relationship at most.
    func views(of objects: [DatabaseObject], _ tree: ViewTree) async throws -> [ObjectView] {
        guard objects.allSatisfy({ $0.core === core }) else {
            throw KindredError(.foreignContext, "An object of the view belongs to another context")
        }
        try await ColumnLoader(core).load(tree.attributes, forAll: objects)
        var related: [Int: [ObjectIdentifier: [ObjectView]]] = [:]
        for (place, relationship) in tree.relationships {
            related[place] = try await views(of: relationship, tree.fields[place], from: objects)
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

    /// The views of a relationship's destinations, or of a part of them, by its owners.
    private func views(
        of relationship: RelationshipRuntime, _ field: ViewTree.Field, from owners: [DatabaseObject]
    ) async throws -> [ObjectIdentifier: [ObjectView]] {
        guard let tree = field.tree else { return [:] }
        let loaded = try await LoadedBranch(
            relationship, part: field.part, of: owners, leavingOut: tree.leftOut, in: core)
        var found: [ObjectIdentifier: [DatabaseObject]] = [:]
        var destinations: [DatabaseObject] = []
        var places: [ObjectIdentifier: Int] = [:]
        // A deleted object leads nowhere.
        for owner in owners where !owner.isGone && found[ObjectIdentifier(owner)] == nil {
            let objects = try await loaded.destinations(of: owner)
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
