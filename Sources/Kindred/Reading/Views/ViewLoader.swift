/// Makes views of objects: level by level, one query for each relationship that is not loaded.
struct ViewLoader: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The views of objects, in their order; the objects may be of several entities.
    func views(of objects: [DatabaseObject], _ keyPaths: [String], keys: JSONKeys) async throws -> [ObjectView] {
        try await views(of: objects, paths: keyPaths.map(\.keys), keys: keys)
    }

    /// The views of objects by paths of keys, in their order; the objects may be of several entities.
    func views(of objects: [DatabaseObject], paths: [[String]], keys: JSONKeys) async throws -> [ObjectView] {
        var views: [ObjectIdentifier: ObjectView] = [:]
        for (entity, group) in Dictionary(grouping: objects, by: \.runtime).sorted(by: { $0.key < $1.key }) {
            let tree = try ViewTree(paths: paths, of: entity, keys)
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
        try await Loader(core).load(relationship, forAll: owners)
        var found: [ObjectIdentifier: [DatabaseObject]] = [:]
        var destinations: [DatabaseObject] = []
        var places: [ObjectIdentifier: Int] = [:]
        // A deleted object leads nowhere.
        for owner in owners where !owner.isGone && found[ObjectIdentifier(owner)] == nil {
            let objects =
                relationship.isToMany
                ? try await Loader(core).members(of: relationship, owner: owner)
                : try await Loader(core).destination(of: relationship, from: owner).map { [$0] } ?? []
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
