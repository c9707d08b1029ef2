import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// The rows and columns that the query reads: they decide which rows it selects and in which order, or are selected.
    ///
    /// Throws `KindredError` as a request that is sent does.
    ///
    /// - Parameter isOfNumber: whether only the number of the rows is asked for.
    package func reads(in runtime: SchemaRuntime, isOfNumber: Bool = false) throws -> Reads {
        guard let own = runtime[entity.name] else {
            throw KindredError(
                .unknownEntity, "No entity is named \"\(entity.name)\"", entity: entity.name.description)
        }
        let isCut = limit != nil || offset != nil
        var reads = Reads(try places(in: runtime.schema), isCut: isCut || isOfNumber, in: runtime.schema)
        if isOfNumber { return reads }
        reads.show(ColumnSet(entity.attributes.indices).subtracting(leftOut ?? own.lazyColumns), of: own.index)
        if !isCut { reads.narrow(own.index, by: Reads.Equalities(self, of: own)) }
        return reads
    }
}

extension Reads.Equalities {
    /// nil for any other condition, and where only the server can compare the values.
    init?(_ query: SelectQuery, of entity: EntityRuntime) {
        guard let equalities = query.equalities else { return nil }
        var found: [Int: PostgresValue] = [:]
        func add(_ value: PostgresValue, _ column: Int) -> Bool {
            guard found[column] == nil, Self.isExact(entity.entity.attributes[column], value) else { return false }
            found[column] = value
            return true
        }
        for (path, expression) in equalities {
            guard path.count == 1 else { return nil }
            switch expression {
            case .value(let value?):
                guard let column = entity.attributeIndex(of: path[0]), add(value, column) else { return nil }
            case .object(let object):
                guard let relationship = entity.relationship(named: path[0]), relationship.holdsForeignKey,
                    relationship.destination.name == object.entityName, !relationship.isComparedByServer
                else { return nil }
                for (own, other) in zip(relationship.ownColumns, relationship.otherColumns) {
                    let name = relationship.destination.entity.attributes[other].name
                    guard let value = try? object.attributeValue(named: name), add(value, own) else { return nil }
                }
            default: return nil
            }
        }
        guard !found.isEmpty else { return nil }
        let columns = found.keys.sorted()
        self.init(columns: columns, values: ObjectKey(columns.compactMap { found[$0] }))
    }

    /// Whether memory tells if a column has a value, as the server would.
    private static func isExact(_ attribute: Attribute, _ value: PostgresValue) -> Bool {
        guard !attribute.isComparedByServer(with: attribute) else { return false }
        switch (value, attribute.baseType) {
        case (.integer, .int2), (.integer, .int4), (.integer, .int8), (.bool, .bool), (.uuid, .uuid), (.date, .date),
            (.numeric, .numeric), (.timestamp, .timestamp), (.timestampTZ, .timestamptz):
            return true
        case (.string, .text), (.string, .varchar): return true
        case (.string, _): return attribute.enumLabels != nil
        default: return false
        }
    }
}
