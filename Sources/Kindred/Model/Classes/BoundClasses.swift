import KindredPostgres
import KindredSchema

/// The typed classes bound to one database's entities; classes that follow the search path are bound to the entity it
/// finds.
struct BoundClasses: Sendable {
    private let schema: DatabaseSchema
    /// The classes by the entities that they were generated from.
    private let following: [QualifiedName: EntityClass]
    private let qualified: [QualifiedName: EntityClass]
    /// The classes by the entities that they are bound to.
    private var bound: [QualifiedName: EntityClass] = [:]
    /// Problems other than columns: classes without an entity, two classes for one.
    private(set) var problems: [String]
    /// Whether a class is bound to another entity than it was generated from.
    private var isAnyRebound = false

    init(
        following: [QualifiedName: EntityClass],
        qualified: [QualifiedName: EntityClass],
        _ problems: [String],
        _ schema: DatabaseSchema
    ) {
        self.schema = schema
        (self.following, self.qualified) = (following, qualified)
        self.problems = problems
        for (name, type) in (Array(qualified) + Array(following)).sorted(by: { $0.key < $1.key }) {
            let entity = entity(of: type.mapping)
            if entity != name { isAnyRebound = true }
            if let other = bound[entity] {
                self.problems.append(
                    "\(other) and \(type) are both for \(entity): the search path leads from \(name) to it")
                continue
            }
            bound[entity] = type
            guard schema[entity] == nil else { continue }
            let path = entity == name ? "" : ", to which the search path leads from \(name),"
            self.problems.append("\(entity)\(path) is missing, or may not be read")
        }
    }

    subscript(entity: QualifiedName) -> EntityClass? { bound[entity] }

    /// The entity that a class is bound to, whether it is registered or not.
    func entity(of mapping: EntityMapping) -> QualifiedName {
        let name = mapping.entity
        if mapping.isQualified { return name }
        let meant = schema.following(name)
        // With classes for both entities, each is bound to its own.
        return following[meant] == nil && qualified[meant] == nil ? meant : name
    }

    /// The relationship of a property, by its key in the database from which the class was generated.
    ///
    /// A stable key consists of the schema, table and name of the constraint behind it. The schema may differ here: the
    /// entity to which the constraint's table is bound decides it.
    func relationship(
        _ key: String, of entity: Entity, _ type: EntityClass
    ) -> Relationship? {
        guard isAnyRebound else { return entity.relationship(named: key) }
        let followed = entity.relationships.first { relationship in
            let holder =
                relationship.helper?.entity ?? (relationship.holdsForeignKey ? entity.name : relationship.destination)
            return ([relationship.name] + relationship.aliases).contains { alias in
                guard alias.hasPrefix("\(holder.schema)_") else { return false }
                let rest = alias.dropFirst(holder.schema.count)
                guard key.hasSuffix(rest) else { return false }
                let before = QualifiedName(schema: String(key.dropLast(rest.count)), name: holder.name)
                return place(before, of: entity, type) == holder
            }
        }
        return followed ?? entity.relationship(named: key)
    }

    /// The bound name of a constraint's table: a helper without a class moves with the class whose relationship it
    /// stores.
    private func place(_ table: QualifiedName, of entity: Entity, _ type: EntityClass) -> QualifiedName {
        if let type = following[table] ?? qualified[table] { return self.entity(of: type.mapping) }
        guard table.schema == type.mapping.entity.schema else { return table }
        return entity.name.sibling(table.name)
    }
}
