import KindredPostgres
import KindredSchema

/// Values of which a column must have one, so that a condition can be true: a row with another value is none of its
/// rows, whatever its other columns are.
struct EqualityConstant: Sendable, Hashable {
    /// The column of the request's own rows.
    let column: String
    /// The values as they are decoded from rows, nil for NULL; without any, no row fulfils the condition.
    let values: [PostgresValue?]
}

extension ResolvedCondition {
    /// The values that columns of the request's own rows must have, from the conjunction's terms `column = constant`,
    /// `column IN constants`, and the same with objects, whose keys are those that they have now.
    ///
    /// Each alone is necessary for the condition. Columns are left out where equal values may differ as they are decoded,
    /// such as texts that ignore case, fractions, and timestamps in another time zone.
    func constants() throws -> [EqualityConstant] {
        var constants: [EqualityConstant] = []
        let finder = ConstantFinder(entity: resolver.places[0].entity, schema: resolver.schema)
        for condition in conjuncts { try finder.find(in: condition.node, &constants) }
        return constants
    }
}

/// Finds the constants of a condition before they become parameters.
private struct ConstantFinder {
    let entity: Entity
    let schema: DatabaseSchema

    /// A column of the request's own rows, with the one that the compared value has: another for a foreign key.
    private typealias Pair = (column: String, referenced: String)

    func find(in node: ConditionNode, _ constants: inout [EqualityConstant]) throws {
        switch node {
        case .all(let nodes): for node in nodes { try find(in: node, &constants) }
        case .comparison(let comparison) where comparison.quantifier == nil && !comparison.ignoresCase:
            switch (comparison.operation, comparison.left, comparison.right) {
            case (.equal, .path(let path), .value(let value)), (.equal, .value(let value), .path(let path)):
                constants += constant(path, [value]).map { [$0] } ?? []
            case (.equal, .path(let path), .object(let object)), (.equal, .object(let object), .path(let path)):
                constants += try self.constants(path, [object])
            case (.isIn, .path(let path), .objects(let objects)): constants += try self.constants(path, objects)
            case (.isIn, .path(let path), let list):
                constants += Self.values(list).flatMap { constant(path, $0) }.map { [$0] } ?? []
            default: break
            }
        default: break
        }
    }

    /// The values of a list; nil for a list of other things.
    private static func values(_ list: ConditionExpression) -> [PostgresValue?]? {
        switch list {
        case .values(let values): return values
        case .value(.array(let array)?): return array.elements
        case .list(let expressions):
            var values: [PostgresValue?] = []
            for expression in expressions {
                guard case .value(let value) = expression else { return nil }
                values.append(value)
            }
            return values
        default: return nil
        }
    }

    private func constant(_ path: [String], _ values: [PostgresValue?]) -> EqualityConstant? {
        guard let attribute = attribute(at: path) else { return nil }
        return constant(attribute.column, values, isOwn: attribute.isOwn)
    }

    private func constant(_ column: Attribute, _ values: [PostgresValue?], isOwn: Bool) -> EqualityConstant? {
        var plain: [PostgresValue?] = []
        for value in values {
            guard let value else {
                // A row may be missing at the end of a path, although the foreign key has a value.
                guard isOwn else { return nil }
                plain.append(nil)
                continue
            }
            guard let value = column.plain(value) else { return nil }
            plain.append(value)
        }
        return EqualityConstant(column: column.name, values: plain)
    }

    /// The entity's own column at a path; one of a foreign key for a path to the column that it references.
    private func attribute(at path: [String]) -> (column: Attribute, isOwn: Bool)? {
        guard let first = path.first else { return nil }
        if let attribute = entity.attribute(named: first) { return path.count == 1 ? (attribute, true) : nil }
        guard path.count == 2, let relationship = schema.relationship(named: first, of: entity),
            let referenced = schema[relationship.destination]?.attribute(named: path[1]),
            let pair = Self.pairs(relationship).first(where: { $0.referenced == referenced.name }),
            let column = entity.attribute(named: pair.column), !column.isComparedByServer(with: referenced)
        else { return nil }
        return (column, false)
    }

    /// The columns of a relationship's foreign key, if the entity's rows hold it.
    private static func pairs(_ relationship: Relationship) -> [Pair] {
        guard relationship.holdsForeignKey, relationship.helper == nil else { return [] }
        return zip(relationship.columns, relationship.destinationColumns).map { ($0, $1) }
    }

    /// The constants of a comparison with objects, one for each column of their key.
    private func constants(_ path: [String], _ objects: [any ObjectReference]) throws -> [EqualityConstant] {
        let pairs: [Pair]
        let destination: Entity?
        if path.isEmpty {
            pairs = entity.primaryKey.map { ($0, $0) }
            destination = entity
        } else {
            guard path.count == 1, entity.attribute(named: path[0]) == nil,
                let relationship = schema.relationship(named: path[0], of: entity), !relationship.isToMany
            else { return [] }
            pairs = Self.pairs(relationship)
            destination = schema[relationship.destination]
        }
        return try pairs.compactMap { pair in
            guard let column = entity.attribute(named: pair.column),
                let referenced = destination?.attribute(named: pair.referenced),
                !column.isComparedByServer(with: referenced),
                objects.allSatisfy({ $0.hasAttributes([pair.referenced]) })
            else { return nil }
            // Nothing references an object without key values.
            let values = try objects.compactMap { try $0.attributeValue(named: pair.referenced) }
            return constant(column, values, isOwn: false)
        }
    }
}

extension Attribute {
    /// A constant as the column's values are decoded; nil if equal values may be decoded otherwise.
    fileprivate func plain(_ value: PostgresValue) -> PostgresValue? {
        guard comparedType == nil, !isComparedByServer(with: self) else { return nil }
        return switch (baseType, value) {
        case (.int2, .integer), (.int4, .integer), (.int8, .integer): value
        case (.int2, .double(let number)), (.int4, .double(let number)), (.int8, .double(let number)):
            Int64(exactly: number).map { .integer($0) }
        case (.bool, .bool), (.uuid, .uuid), (.text, .string), (.varchar, .string), (.date, .date): value
        case (_, .string) where enumLabels != nil && elementType == nil: value
        default: nil
        }
    }
}
