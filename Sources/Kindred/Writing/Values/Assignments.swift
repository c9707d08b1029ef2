import KindredPostgres
import KindredSchema

/// New values for columns of one entity, checked before anything is sent.
struct Assignments {
    private let entity: EntityRuntime
    /// The object that is changed; nil for a new row.
    private let object: DatabaseObject?
    private(set) var written: ColumnValues

    init(_ entity: EntityRuntime, for object: DatabaseObject? = nil) {
        self.entity = entity
        self.object = object
        written = ColumnValues(entity)
    }

    /// Adds the value for a key: an attribute, or a to-one relationship whose foreign key the entity holds.
    mutating func assign(_ value: (any PropertyValue)?, forKey key: String, in core: ContextCore) throws {
        if let attribute = entity.attributeIndex(of: key) {
            try assign(try entity.attributeValue(value, at: attribute), toColumn: attribute, key: key)
            return
        }
        guard let relationship = entity.relationship(named: key) else { throw entity.unknownKey(key) }
        guard relationship.holdsForeignKey else {
            throw KindredError(
                .wrongType,
                "\(entity.name).\(relationship.model.name) is stored in other rows than the object's own; set it separately with setValue",
                entity: entity.name.description,
                key: key
            )
        }
        if case .objectID(let id)? = try value?.propertyContent,
            case .values(let values) = try RelationshipValues(core).identified(id, for: relationship)
        {
            let (columns, key) = (relationship.ownColumns, relationship.model.name)
            for (column, value) in zip(columns, values) {
                try core.requireTenant(value, in: column, of: entity, key: key)
            }
            return try assign(values, to: columns, key: key)
        }
        let object = try RelationshipValues(core).member(value, of: relationship)
        try assign(object, to: relationship)
    }

    /// Adds an object's key values, or NULL, for a relationship's foreign key.
    mutating func assign(_ object: DatabaseObject?, to relationship: RelationshipRuntime) throws {
        let (key, columns) = (relationship.model.name, relationship.ownColumns)
        guard let object else {
            guard let leaving = entity.leavingColumns(of: columns) else {
                throw entity.requiredRelationship(key, entity.ownColumns(of: columns))
            }
            for column in leaving { try assign(nil, toColumn: column, key: key) }
            return
        }
        guard !object.isInserted else { throw object.notStored }
        try assign(try object.referencedValues(relationship.otherColumns, key), to: columns, key: key)
    }

    /// Adds the values of a foreign key.
    private mutating func assign(_ values: [PostgresValue], to columns: [Int], key: String) throws {
        let written = entity.writtenColumns(of: columns, isNew: object == nil)
        for (column, value) in zip(columns, values) {
            if written.contains(column) {
                try assign(value, toColumn: column, key: key)
            } else if let changed = object, try changed.storedRow[column] != value {
                // A column shared with another key, such as a tenant's, must already agree.
                throw changed.disagrees(column, key)
            }
        }
    }

    /// Throws if a value was given for a column that a link to a new object will set.
    func requireNone(of relationship: RelationshipRuntime) throws {
        let key = relationship.model.name
        for column in entity.ownColumns(of: relationship.ownColumns) where written[column] != nil {
            throw twoValues(column, key)
        }
    }

    private func twoValues(_ column: Int, _ key: String) -> KindredError {
        KindredError(
            .wrongType,
            "Two keys give \(entity.name).\(entity.entity.attributes[column].name) different values",
            entity: entity.name.description,
            key: key
        )
    }

    private mutating func assign(_ value: PostgresValue?, toColumn column: Int, key: String) throws {
        let attribute = entity.entity.attributes[column]
        try entity.requireWritable(attribute, key: key)
        if object != nil { try entity.requireNoVersion(column, key: key) }
        if let earlier = written[column], earlier != value { throw twoValues(column, key) }
        if value == nil && attribute.isNotNull {
            throw KindredError(
                .missingValue,
                "\(entity.name).\(entity.label(of: column)) is required and cannot be NULL",
                entity: entity.name.description,
                key: key
            )
        }
        if let value { try requireRoom(for: value, in: column) }
        written[column] = .some(value)
    }

    /// Throws for a value that is longer or larger than its column takes.
    ///
    /// Whether an enum has a label is left to the server, since labels can be added.
    private func requireRoom(for value: PostgresValue, in column: Int) throws {
        guard let problem = entity.misfit(value, at: column), problem.code == .valueTooLarge else { return }
        let key = entity.entity.attributes[column].name
        let name = entity.name.description
        let owner = object.map { "\($0)" } ?? name
        let message = "\(owner).\(entity.label(of: column)) cannot have the value: \(problem.reason)"
        throw KindredError(
            .valueTooLarge, message, entity: name, key: key,
            problems: [KindredError.Problem(.valueTooLarge, message, object: object, entity: name, key: key)])
    }

    /// Throws if a new row lacks values that only the program can give.
    func requireComplete() throws {
        let missing = entity.givenColumns.filter { written[$0] == nil }
        guard missing.isEmpty || entity.mayFillNewRows else {
            throw KindredError(
                .missingValue,
                "A new row of \(entity.name) needs a value for \(missing.map(entity.label).joined(separator: ", "))",
                entity: entity.name.description,
                key: entity.entity.attributes[missing[0]].name
            )
        }
    }

    /// Gives a new row the tenant of its context.
    mutating func assignTenant(of core: ContextCore) {
        guard let column = entity.tenantColumn, let tenant = core.tenant else { return }
        written[column] = .some(tenant.value)
    }

    /// Gives a new row its first version, unless it or the database sets one.
    mutating func assignInitialVersion() throws {
        guard let version = entity.version, let value = version.initialValue, written[version.position] == nil
        else { return }
        try assign(value, toColumn: version.position, key: entity.entity.attributes[version.position].name)
    }
}
