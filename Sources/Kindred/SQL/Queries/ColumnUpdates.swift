import KindredPostgres
import KindredSchema

/// What an update by condition sets: the same values for all rows, or values calculated for each.
struct ColumnUpdates {
    let entity: EntityRuntime
    let constants: ColumnValues
    let formulas: [Int: ConditionExpression]

    /// The columns that are set, in the entity's order.
    var columns: [Int] { (constants.columns + formulas.keys).sorted() }

    /// The expression for each column in the order of `columns`, with its parameters appended.
    func expressions(_ renderer: inout ConditionRenderer) throws -> [AssignedColumn] {
        try columns.map { column in
            if let formula = formulas[column] { return try renderer.assigned(formula, to: column, of: entity) }
            try entity.bind(constants[column] ?? nil, as: column, to: &renderer.bindings)
            return AssignedColumn(column: column, sql: renderer.lastParameter, isParameter: true)
        }
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
