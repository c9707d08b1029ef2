import KindredSchema

/// The classes that are registered, by the entities that they were made for.
package struct TypedClasses: Sendable {
    /// Those that follow the search path, and those that do not.
    private var types: [Bool: [QualifiedName: any TypedObject.Type]] = [:]
    private var problems: [String] = []

    package init(_ types: [any TypedObject.Type] = []) {
        for type in types { insert(type) }
    }

    /// Adds a class; a second one for the same entity is noted as a problem.
    mutating func insert(_ type: any TypedObject.Type) {
        let mapping = type.mapping
        if let other = types[mapping.isQualified]?[mapping.entity], other != type {
            problems.append("\(other) and \(type) are both for \(mapping.entity)")
        } else {
            types[mapping.isQualified, default: [:]][mapping.entity] = type
        }
    }

    /// The classes, by the entities that each stands for in a database.
    func bound(to schema: DatabaseSchema) -> BoundClasses {
        BoundClasses(following: types[false] ?? [:], qualified: types[true] ?? [:], problems, schema)
    }
}

extension SchemaRuntime {
    /// The same, if every class fits.
    func checked() throws -> SchemaRuntime {
        guard !mismatches.isEmpty else { return self }
        throw KindredError(
            .classMismatch,
            "The classes do not fit the database: \(mismatches.joined(separator: "; ")). "
                + "Run `kindred generate` again, or change the database"
        )
    }
}

extension EntityRuntime {
    /// Objects of the entity as the class that was asked for.
    func typed<Object: DatabaseObject>(_ objects: [DatabaseObject]) throws -> [Object] {
        // A class has the same representation as its superclass, and contexts make every object of an entity as the
        // class registered for it.
        if Object.self == DatabaseObject.self || layout?.type is Object.Type {
            return unsafeBitCast(objects, to: [Object].self)
        }
        if objects.isEmpty { return [] }
        throw unregistered(Object.self)
    }

    func unregistered(_ type: DatabaseObject.Type) -> KindredError {
        KindredError(
            .classMismatch,
            "\(type) is not the class of \(name) in this context: give it to Database.connect(_:classes:), or to "
                + "register(_:) before the context is made",
            entity: name.description
        )
    }
}
