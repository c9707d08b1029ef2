import KindredPostgres
import KindredSchema

/// The new values of an update by condition: the same for all rows, or calculated for each.
struct RequestUpdate {
    private let entity: EntityRuntime
    private var constants: Assignments
    private var formulas: [Int: ConditionExpression] = [:]

    init(
        _ values: [String: (any PropertyValue)?],
        of entity: EntityRuntime,
        in context: DatabaseContext
    ) throws {
        self.entity = entity
        constants = Assignments(entity)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if let calculated = value as? any CalculatedValue {
                try take(try calculated.calculation, forKey: key)
            } else {
                try requireOwnColumns(key)
                try constants.assign(value, forKey: key, in: context)
            }
        }
        for column in columns { try entity.requireNoVersion(column, key: entity.entity.attributes[column].name) }
        for column in columns where entity.key.contains(column) {
            let name = entity.entity.attributes[column].name
            throw KindredError(
                .readOnly,
                "\(entity.name).\(name) identifies the objects; change it object by object",
                entity: entity.name.description,
                key: name
            )
        }
    }

    /// The columns that are set, in the entity's order.
    var columns: [Int] { (constants.columns + formulas.keys).sorted() }

    /// The expression for each column in the order of `columns`, with its parameters appended.
    func expressions(_ renderer: inout ConditionRenderer) throws -> [AssignedColumn] {
        try columns.map { column in
            if let formula = formulas[column] { return try renderer.assigned(formula, to: column, of: entity) }
            try entity.bind(constants.values[column] ?? nil, as: column, to: &renderer.bindings)
            return AssignedColumn(column: column, sql: renderer.lastParameter, isParameter: true)
        }
    }

    private mutating func take(_ formula: ConditionExpression, forKey key: String) throws {
        guard let column = entity.attributeIndex[key] else {
            if entity.relationship(named: key) == nil { throw entity.unknownKey(key) }
            throw KindredError(
                .wrongType,
                "\(entity.name).\(key.propertyKey ?? key) is a relationship and cannot be calculated",
                entity: entity.name.description,
                key: key
            )
        }
        try entity.requireWritable(entity.entity.attributes[column], key: key)
        formulas[column] = formula
    }

    /// Refuses a relationship whose foreign key shares columns with others, since those of the rows may differ.
    private func requireOwnColumns(_ key: String) throws {
        guard entity.attributeIndex[key] == nil, let relationship = entity.relationship(named: key),
            case .foreignKey(let columns, _) = relationship.link, entity.ownColumns(of: columns) != columns
        else { return }
        throw KindredError(
            .wrongType,
            """
            \(entity.name).\(relationship.model.name) shares a column with another key, so that not every row can refer to the same object; \
            set it object by object
            """,
            entity: entity.name.description,
            key: key
        )
    }
}

/// A column and what it is set to.
struct AssignedColumn {
    let column: Int
    let sql: String
    /// Whether that is a parameter, which takes its type from the column that it is assigned to.
    let isParameter: Bool
}

extension ConditionRenderer {
    /// A calculation as the value of a column.
    fileprivate mutating func assigned(
        _ expression: ConditionExpression,
        to column: Int,
        of entity: EntityRuntime
    ) throws -> AssignedColumn {
        let attribute = entity.entity.attributes[column]
        let type = ValueType(attribute)
        let target = Scalar(sql: "", type: type, mayBeNull: true, label: "\(entity.name).\(attribute.name)")
        let operand = try operand(expression)
        guard case .scalar(let value) = operand else {
            let sql = try scalar(operand, as: target, .equal).sql
            return AssignedColumn(column: column, sql: sql, isParameter: true)
        }
        guard value.type.isComparable(with: type) || value.type.type == type.type else {
            throw KindredError(
                .wrongType,
                "\(target.label) is of the type \(type.typeName) and cannot take a value of the type \(value.type.typeName)",
                entity: entity.name.description,
                key: attribute.name
            )
        }
        return AssignedColumn(column: column, sql: value.sql, isParameter: false)
    }
}
