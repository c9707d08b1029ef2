import KindredPostgres
import KindredSchema

extension Reads {
    /// The rows that a request reads, which become objects or are counted.
    ///
    /// - Parameter isCut: whether a limit or an offset lets other rows come into the answer, or go, with a changed row.
    init(_ places: ReadPlaces, isCut: Bool, in schema: DatabaseSchema) {
        if let own = schema.position(of: places.places[0].entity) { add(own: own, reach: isCut ? .everything : .rows) }
        add(places, in: schema, linkRows: nil)
    }

    /// The rows that a part of a relationship reads: its members and their links, and the rows of its condition and order.
    init(_ places: ReadPlaces, partOf relationship: RelationshipRuntime, in schema: DatabaseSchema) {
        self.init(membersOf: relationship)
        add(places, in: schema, linkRows: relationship.linkRows.index)
    }

    /// Adds the reads of a condition and an order: of the first place, whose rows are read already, and of the further
    /// places.
    ///
    /// - Parameter linkRows: the entity whose rows store the relationship that the rows are members of.
    private mutating func add(_ places: ReadPlaces, in schema: DatabaseSchema, linkRows: Int?) {
        for (number, place) in places.places.enumerated() {
            let isKnown = number == 0 || place.isPair && schema.position(of: place.entity) == linkRows
            add(place.columns, of: place.entity, isKnown: isKnown, in: schema)
            guard let helper = place.link?.relationship.helper?.entity else { continue }
            add(place.helperColumns, of: helper, isKnown: false, in: schema)
        }
    }

    private mutating func add(_ names: [String], of name: QualifiedName, isKnown: Bool, in schema: DatabaseSchema) {
        guard let position = schema.position(of: name) else {
            if !names.isEmpty { add(other: name) }
            return
        }
        let entity = schema.entities[position]
        if !names.isEmpty, entity.isView { add(other: name) }
        var columns = ColumnSet()
        for name in names {
            if let column = entity.attributeIndex(of: name) { columns.insert(column) } else { add(other: entity.name) }
        }
        // The scope of a row is read together with it.
        if let tenant = schema.tenantAttribute(of: entity), isKnown || !names.isEmpty,
            let column = entity.attributeIndex(of: tenant.name)
        {
            columns.insert(column)
        }
        if isKnown { note(columns, of: position) } else { add(position, columns) }
    }
}

extension DatabaseSchema {
    /// The position of an entity; nil for a table that is no entity.
    fileprivate func position(of name: QualifiedName) -> Int? {
        guard let entity = self[name] else { return nil }
        return entities.firstIndex { $0 === entity }
    }
}
