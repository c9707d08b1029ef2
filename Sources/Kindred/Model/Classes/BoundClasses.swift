import KindredSchema

/// The classes of entities in one database: those that follow the search path stand for what it leads to.
struct BoundClasses: Sendable {
    private let schema: DatabaseSchema
    /// The classes by the entities that they were made for.
    private let following: [QualifiedName: any TypedObject.Type]
    private let qualified: [QualifiedName: any TypedObject.Type]
    /// The classes by the entities that they stand for.
    private var bound: [QualifiedName: any TypedObject.Type] = [:]
    /// What has nothing to do with columns: classes of no entity, two classes of one.
    private(set) var problems: [String]
    /// Whether any class stands for another entity than it was made for.
    private var isAnyMoved = false

    init(
        following: [QualifiedName: any TypedObject.Type],
        qualified: [QualifiedName: any TypedObject.Type],
        _ problems: [String],
        _ schema: DatabaseSchema
    ) {
        self.schema = schema
        (self.following, self.qualified) = (following, qualified)
        self.problems = problems
        for (name, type) in (Array(qualified) + Array(following)).sorted(by: { $0.key < $1.key }) {
            let entity = entity(of: type)
            if entity != name { isAnyMoved = true }
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

    subscript(entity: QualifiedName) -> (any TypedObject.Type)? { bound[entity] }

    /// The entity that a class stands for, whether it is registered or not.
    func entity(of type: any TypedObject.Type) -> QualifiedName {
        let name = type.mapping.entity
        if type.mapping.isQualified { return name }
        let meant = schema.following(name)
        // Where there are classes for both, each stands for its own.
        return following[meant] == nil && qualified[meant] == nil ? meant : name
    }

    /// The relationship of a property, by the key that it had in the database that its class was made from.
    ///
    /// A key that lasts is made of the schema, table and name of the constraint behind it, of which the schema may be another
    /// one here: that of the entity that the constraint's table stands for.
    func relationship(
        _ key: String, of entity: Entity, _ type: any TypedObject.Type
    ) -> Relationship? {
        guard isAnyMoved else { return entity.relationship(named: key) }
        let followed = entity.relationships.first { relationship in
            let holder =
                relationship.helper?.entity ?? (relationship.holdsForeignKey ? entity.name : relationship.destination)
            return ([relationship.name] + relationship.aliases).contains { alias in
                guard alias.hasPrefix("\(holder.schema)_") else { return false }
                let rest = alias.dropFirst(holder.schema.count)
                guard key.hasSuffix(rest) else { return false }
                let before = QualifiedName(schema: String(key.dropLast(rest.count)), name: holder.name)
                return place(before, entity, type) == holder
            }
        }
        return followed ?? entity.relationship(named: key)
    }

    /// Where a constraint's table is now: a helper without a class of its own goes with the class whose relationship it makes.
    private func place(_ table: QualifiedName, _ entity: Entity, _ type: any TypedObject.Type) -> QualifiedName {
        if let type = following[table] ?? qualified[table] { return self.entity(of: type) }
        guard table.schema == type.mapping.entity.schema else { return table }
        return QualifiedName(schema: entity.name.schema, name: table.name)
    }
}
