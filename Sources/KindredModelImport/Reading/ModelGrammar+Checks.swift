import KindredPostgres

extension ModelGrammar {
    /// Names are unique among the entities, and among the properties of each.
    func checkNames() throws(ModelImportError) {
        func check(_ names: [String], _ place: String) throws(ModelImportError) {
            var known: Set<[UInt8]> = []
            for name in names where !known.insert(Array(name.utf8)).inserted {
                throw ModelImportError(.inconsistent, "\(place) has two parts of the name \"\(name)\"")
            }
        }
        try check(entities.map(\.name), "The model")
        try check(composites.map(\.name), "The model")
        try check(configurations.map(\.name), "The model")
        for entity in entities {
            try check(entity.attributes.map(\.name) + entity.relationships.map(\.name), "The entity \(entity.name)")
        }
        for composite in composites { try check(composite.attributes.map(\.name), "The composite \(composite.name)") }
        try checkAncestors()
        try checkSizes()
    }

    /// Refuses sizes that no real model has, so that a hostile file costs little time.
    func checkSizes() throws(ModelImportError) {
        guard entities.count <= Self.maximumEntities, composites.count <= Self.maximumEntities else {
            throw ModelImportError(.inconsistent, "The model has more than \(Self.maximumEntities) entities")
        }
        for entity in entities {
            let counts = [
                entity.attributes.count + entity.relationships.count, entity.indexes.count,
                entity.uniquenessConstraints.count,
            ]
            guard counts.allSatisfy({ $0 <= Self.maximumParts }) else {
                throw ModelImportError(
                    .inconsistent, "The entity \(entity.name) has more than the \(Self.maximumParts) columns of a table"
                )
            }
        }
        for composite in composites where composite.attributes.count > Self.maximumParts {
            throw ModelImportError(
                .inconsistent, "The composite \(composite.name) has more than \(Self.maximumParts) fields")
        }
    }

    static let maximumEntities = 5_000
    static let maximumAncestors = 100
    /// As many columns as a table of PostgreSQL may have.
    static let maximumParts = 1_600

    /// No entity inherits from itself or from very many.
    func checkAncestors() throws(ModelImportError) {
        let parents = Dictionary(entities.map { ($0.name, $0.parent) }) { first, _ in first }
        for entity in entities {
            var next = entity.parent
            var count = 0
            while let name = next {
                guard name != entity.name else {
                    throw ModelImportError(.inconsistent, "The entity \(entity.name) is its own ancestor")
                }
                count += 1
                guard count <= Self.maximumAncestors else {
                    throw ModelImportError(
                        .inconsistent,
                        "The entity \(entity.name) has more than \(Self.maximumAncestors) ancestors, or one that is its own"
                    )
                }
                next = parents[name] ?? nil
            }
        }
    }
}
