package import KindredPostgres

/// The model of a database: its entities with their attributes and relationships.
///
/// A value made from one snapshot of the catalog, and from nothing else.
public struct DatabaseSchema: Sendable {
    /// All entities, sorted by schema and name.
    public let entities: [Entity]
    /// The search path, in its order.
    public let searchPath: [String]
    /// Enums, domains and composite types, sorted by schema and name.
    public let types: [UserType]
    /// The parts that were not inferred, with the reasons, sorted by entity.
    public let diagnostics: [SchemaDiagnostic]

    /// Relations that the role may not read or that an annotation ignores.
    package let hidden: [QualifiedName: HiddenReason]
    /// The foreign keys that hold for single partitions only, sorted by the table that holds them.
    package let partitionKeys: [PartitionKey]
    /// The relationships of classes' properties, by entity and key, if a class was generated for another schema.
    package var propertyRelationships: [QualifiedName: [ServerText: String]] = [:]
    /// The filters of entities, once their conditions have been parsed.
    package var filters: [QualifiedName: EntityFilter] = [:]
    /// The errors of entities whose annotations do not fit, which each use of them throws.
    package var annotationErrors: [QualifiedName: SchemaError] = [:]
    /// The tables that overrides name.
    package var overridden: Set<QualifiedName> = []
    /// The name of the column that holds a row's tenant; nil where there are no tenants.
    package var tenantColumn: String?
    /// Whether statements run as another role than the role that has read the model: any policy may apply to that role.
    package var isOfOtherRole = false
    private let indexes: [QualifiedName: Int]
    /// The entities of names without a dot, by the search path.
    private let shortIndexes: [ServerText: Int]

    /// The column that tells whose a row of an entity is; nil where all tenants share the rows.
    package func tenantAttribute(of entity: Entity) -> Attribute? {
        entity.belongsToTenants ? tenantColumn.flatMap { entity.attribute(named: $0) } : nil
    }

    /// The model for statements that run as another role.
    package var ofOtherRole: DatabaseSchema {
        var schema = self
        schema.isOfOtherRole = true
        return schema
    }

    /// Whether policies of row-level security may hide rows of an entity from the role: foreign keys ignore policies,
    /// so that the role may not see the rows that they refer to.
    package func hidesRows(of entity: Entity) -> Bool {
        !entity.isView && entity.obstacles.contains(.policies) && (isOfOtherRole || entity.hasActivePolicies)
    }

    /// Whether a model that was read again says the same.
    package func hasSameContent(as other: DatabaseSchema) -> Bool {
        entities == other.entities && types == other.types && searchPath == other.searchPath
            && hidden == other.hidden && partitionKeys == other.partitionKeys
            && annotationErrors == other.annotationErrors
    }

    /// The reason why a relation is not an entity.
    package enum HiddenReason: Sendable, Hashable {
        case unreadable(role: String)
        case ignored
        case partition
    }

    package init(
        entities: [Entity],
        searchPath: [String],
        types: [UserType] = [],
        diagnostics: [SchemaDiagnostic] = [],
        hidden: [QualifiedName: HiddenReason] = [:],
        partitionKeys: [PartitionKey] = []
    ) {
        self.entities = entities
        self.searchPath = searchPath
        self.types = types
        self.diagnostics = diagnostics
        self.hidden = hidden
        self.partitionKeys = partitionKeys
        var indexes: [QualifiedName: Int] = [:]
        indexes.reserveCapacity(entities.count)
        for (index, entity) in entities.enumerated() { indexes[entity.name] = index }
        self.indexes = indexes
        shortIndexes = Self.shortIndexes(of: entities, searchPath: searchPath, hidden: hidden)
    }

    /// Resolves names without a dot: the first schema of the search path with a relation of the name decides, even if that
    /// relation is not an entity, as on the server.
    private static func shortIndexes(
        of entities: [Entity],
        searchPath: [String],
        hidden: [QualifiedName: HiddenReason]
    ) -> [ServerText: Int] {
        let ranks = Dictionary(searchPath.enumerated().map { (ServerText($1), $0) }) { first, _ in first }
        var best: [ServerText: (rank: Int, index: Int?)] = [:]
        func offer(_ name: QualifiedName, _ index: Int?) {
            guard let rank = ranks[name.schema], !name.name.utf8.contains(UInt8(ascii: ".")) else { return }
            if let known = best[name.name], known.rank <= rank { return }
            best[name.name] = (rank, index)
        }
        for (index, entity) in entities.enumerated() { offer(entity.name, index) }
        for (name, reason) in hidden where reason != .ignored { offer(name, nil) }
        return best.compactMapValues(\.index)
    }

    /// The entity of exactly this name, or nil.
    public subscript(name: QualifiedName) -> Entity? {
        indexes[name].map { entities[$0] }
    }

    /// Returns the entity that a name means: `public.person` exactly, `person` by the search path.
    ///
    /// Names are matched exactly, letter case included, and are written without quotes.
    ///
    /// - Throws: ``SchemaError`` with the code `unknownEntity` and the nearest names, if there is none.
    public func entity(named name: String) throws -> Entity {
        if let index = index(named: name) { return entities[index] }
        for meant in interpretations(of: name) {
            if let entity = self[meant] { return entity }
            if let reason = hidden[meant], reason != .ignored { break }
        }
        throw unknownEntity(name)
    }

    /// The relation of the name without its schema, by the search path; the named one if the path has none.
    package func following(_ name: QualifiedName) -> QualifiedName {
        for schema in searchPath {
            let meant = QualifiedName(schema: schema, name: name.name)
            if self[meant] != nil { return meant }
            if let reason = hidden[meant], reason != .ignored { return meant }
        }
        return name
    }

    /// The relationship of a name, an alias, or a property of the entity's class.
    package func relationship(named name: String, of entity: Entity) -> Relationship? {
        guard let key = name.propertyKey else { return entity.relationship(named: name) }
        return entity.relationship(named: propertyRelationships[entity.name]?[key] ?? key)
    }

    /// The path from an entity with property names replaced by relationship names.
    package func named(_ path: [String], from entity: Entity) -> [String] {
        guard path.contains(where: { $0.propertyKey != nil }) else { return path }
        var place: Entity? = entity
        return path.map { key in
            guard let here = place, let relationship = relationship(named: key, of: here) else { return key }
            place = self[relationship.destination]
            return relationship.name
        }
    }

    /// The index of the entity with an unqualified name; nil if it takes a longer search.
    package func index(named name: String) -> Int? {
        shortIndexes[name]
    }

    /// The readings of a name, best first: schema and name at each dot, then the whole name by the search path.
    package func interpretations(of name: String) -> [QualifiedName] {
        Self.interpretations(of: name, searchPath: searchPath)
    }

    package static func interpretations(of name: String, searchPath: [String]) -> [QualifiedName] {
        var meanings: [QualifiedName] = []
        // Bytes, because a combining mark after a dot would hide it.
        for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") {
            let schema = String(name[..<dot])
            let rest = String(name[name.utf8.index(after: dot)...])
            if !schema.isEmpty, !rest.isEmpty { meanings.append(QualifiedName(schema: schema, name: rest)) }
        }
        return meanings + searchPath.map { QualifiedName(schema: $0, name: name) }
    }

    private func unknownEntity(_ name: String) -> SchemaError {
        for meant in interpretations(of: name) {
            switch hidden[meant] {
            case .unreadable(let role):
                return SchemaError(
                    .unknownEntity,
                    "The role \(role) may not read \(meant): grant it SELECT on the table and USAGE on its schema",
                    entity: name
                )
            case .ignored:
                return SchemaError(.unknownEntity, "\(meant) is ignored by an annotation", entity: name)
            case .partition:
                return SchemaError(
                    .unknownEntity,
                    "\(meant) is a partition; its rows are reached through its parent",
                    entity: name
                )
            case nil: continue
            }
        }
        // Short names for entities on the search path, qualified names for the rest.
        var known: [String] = []
        for entity in entities {
            if searchPath.contains(entity.name.schema) { known.append(entity.name.name) }
            known.append(entity.name.description)
        }
        var suggestions = NearestNames.suggestions(for: name, among: known)
        for entity in entities where entity.name.name == name && !suggestions.contains(entity.name.description) {
            suggestions.insert(entity.name.description, at: 0)
        }
        let question = NearestNames.question(suggestions)
        return SchemaError(
            .unknownEntity,
            "There is no entity \"\(name)\"\(question)",
            entity: name,
            suggestions: suggestions
        )
    }
}

extension String {
    /// A key for a property of a class, marked by NUL, which no name in a database has.
    ///
    /// If the class was generated for another schema, it may mean another relationship than the relationship of that
    /// name.
    package var asPropertyKey: String { "\0\(self)" }

    /// The key, if it is one for a property.
    package var propertyKey: String? { utf8.first == 0 ? String(dropFirst()) : nil }
}
