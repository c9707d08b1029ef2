import KindredPostgres
import KindredSchema

/// The registered classes, by the entities that they were generated from.
package struct TypedClasses: Sendable {
    /// The qualified classes, and the classes that follow the search path.
    private var types: [Bool: [QualifiedName: EntityClass]] = [:]
    private var problems: [String] = []

    package init(_ types: [EntityClass] = []) {
        for type in types { insert(type) }
    }

    /// Adds a class; a second one for the same entity is recorded as a problem.
    mutating func insert(_ type: EntityClass) {
        let mapping = type.mapping
        if let other = types[mapping.isQualified]?[mapping.entity], other != type {
            problems.append("\(other) and \(type) are both for \(mapping.entity)")
        } else {
            types[mapping.isQualified, default: [:]][mapping.entity] = type
        }
    }

    /// The classes whose entities a schema has.
    func only(in schema: DatabaseSchema) -> TypedClasses {
        var found = self
        found.types = types.mapValues { classes in
            classes.filter { schema[$1.mapping.isQualified ? $0 : schema.following($0)] != nil }
        }
        return found
    }

    /// The classes bound to a database's entities.
    func bound(to schema: DatabaseSchema) -> BoundClasses {
        BoundClasses(following: types[false] ?? [:], qualified: types[true] ?? [:], problems, schema)
    }
}

extension SchemaRuntime {
    /// Returns the schema unchanged; throws if a class does not match it.
    func checked() throws -> SchemaRuntime {
        try requireUsable()
        guard !mismatches.isEmpty else { return self }
        throw KindredError(
            .classMismatch,
            "The classes do not fit the database: \(mismatches.joined(separator: "; ")). "
                + "Run `kindred generate` again, or change the database"
        )
    }

    /// Returns the schema unchanged; throws if a class does not match it, unless classes did not match the model that it was
    /// made from.
    func checked(asIn base: SchemaRuntime) throws -> SchemaRuntime { base.mismatches.isEmpty ? try checked() : self }

    /// The properties of an entity's class that do not fit the entity, each with the reason.
    package func mismatches(of entity: EntityRuntime) -> [String] {
        mismatches.filter { $0.hasPrefix("\(entity.name).") }
    }

    /// Throws if annotations of a class's entity do not fit.
    func requireUsable() throws {
        for entity in entities where classes[entity.name] != nil { _ = try entity.used }
    }
}
