import KindredSchema

/// The registered classes, by the entities that they were generated from.
package struct TypedClasses: Sendable {
    /// The classes that follow the search path, and the qualified ones.
    private var types: [Bool: [QualifiedName: any TypedObject.Type]] = [:]
    private var problems: [String] = []

    package init(_ types: [any TypedObject.Type] = []) {
        for type in types { insert(type) }
    }

    /// Adds a class; a second one for the same entity is recorded as a problem.
    mutating func insert(_ type: any TypedObject.Type) {
        let mapping = type.mapping
        if let other = types[mapping.isQualified]?[mapping.entity], other != type {
            problems.append("\(other) and \(type) are both for \(mapping.entity)")
        } else {
            types[mapping.isQualified, default: [:]][mapping.entity] = type
        }
    }

    /// The classes bound to a database's entities.
    func bound(to schema: DatabaseSchema) -> BoundClasses {
        BoundClasses(following: types[false] ?? [:], qualified: types[true] ?? [:], problems, schema)
    }
}

extension SchemaRuntime {
    /// Returns the schema unchanged; throws if a class does not match it.
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
    /// The entity's objects as the requested class.
    func typed<Object: DatabaseObject>(_ objects: [DatabaseObject]) throws -> [Object] {
        // The cast is safe: a class has its superclass's representation, and contexts create every object of an entity
        // as the class registered for it.
        if Object.self == DatabaseObject.self || layout?.type is Object.Type {
            return unsafe unsafeBitCast(objects, to: [Object].self)
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
