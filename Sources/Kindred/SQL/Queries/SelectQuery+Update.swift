import KindredPostgres
import KindredSchema
import Synchronization

extension SelectQuery {
    /// `UPDATE … WHERE`, or `WITH … FOR UPDATE) UPDATE … FROM` if order, limit, joins or a lock matter: the selection
    /// is materialized before anything is written, so that no plan repeats it for each row and skips rows that it has
    /// written.
    func updateStatement(
        _ update: ColumnUpdates,
        of runtime: EntityRuntime,
        in schema: DatabaseSchema,
        returnsRows: Bool
    ) throws -> Statement {
        let (start, condition) = try begin(in: schema)
        var resolver = start
        let values = try update.expressions(&resolver)
        let sorting = try resolver.order(sort)
        let text: String
        if resolver.joins[0].isEmpty, limit == nil, offset == nil, lock == nil {
            text = try runtime.texts.update(
                ofRequest: condition,
                set: try values.map { "\(try runtime.texts.quoted($0.column)) = \(try $0.value.sql)" },
                returning: returnsRows ? try runtime.texts.selectList(alias: "t0") : nil)
        } else {
            let names = try runtime.key.map { (name: try runtime.texts.quoted($0), alias: "k\($0)") }
            var columns = names.map { "t0.\($0.name) AS \($0.alias)" }
            // A parameter stays in the outer statement, where its column gives it a type.
            columns += try values.filter { !$0.isParameter }.map { "\(try $0.value.sql) AS v\($0.column)" }
            var selection = "SELECT \(columns.joined(separator: ", ")) FROM "
            try writeRows(resolver, condition, to: &selection)
            selection += try (sort.isEmpty ? try order(&resolver) : sorting).sql
            if keys == nil { selection += try orderToLock(runtime) }
            if let limit { selection += " LIMIT \(try resolver.parameters.bind(limit, named: "limit", of: entity))" }
            if let offset {
                selection += " OFFSET \(try resolver.parameters.bind(offset, named: "offset", of: entity))"
            }
            let (strength, waiting) = lock ?? (.forNoKeyUpdate, .wait)
            if keys == nil { selection += " \(strength.rawValue) OF t0\(waiting.rawValue)" }
            let set = try values.map { value in
                "\(try runtime.texts.quoted(value.column)) = \(value.isParameter ? try value.value.sql : "s.v\(value.column)")"
            }
            let same = try runtime.texts.same("t", as: "s")
            let change = try runtime.all(as: .row, .all).update(
                set: set, from: "s", where: same,
                returning: returnsRows ? try runtime.texts.selectList(alias: "t") : nil)
            text = "WITH s AS MATERIALIZED (\(selection)) \(change)"
        }
        return resolver.parameters.statement(StatementText(text))
    }

    /// The query that locks its rows in the order of their keys before they are written, where it can.
    ///
    /// In which order a plan finds rows is the server's choice. So requests that write an entity's rows lock them first once a
    /// write of its rows has ended in a deadlock, for as long as the model is used: a second pass over them is the price.
    func lockingInOrder(_ strength: RowLock, _ runtime: EntityRuntime) -> SelectQuery {
        guard runtime.hasDeadlocked.load(ordering: .relaxed), lock == nil, runtime.locksFound else { return self }
        var query = self
        query.lock = (strength, .wait)
        return query
    }

    /// The order in which rows are locked; empty if the query has an order of its own, a limit or an offset.
    func orderToLock(_ runtime: EntityRuntime) throws -> String {
        sort.isEmpty && memberOrder == nil && limit == nil && offset == nil ? try runtime.texts.orderToLock("t0") : ""
    }
}

/// The assignments of an update by condition: the same values for all rows, or values calculated for each.
struct ColumnUpdates {
    let entity: EntityRuntime
    let constants: ColumnValues
    let formulas: [Int: ConditionExpression]
    /// Whether the rows are marked as deleted.
    var marksRows = false

    /// The columns that are set, in the entity's order.
    var columns: [Int] {
        let mark = marksRows ? entity.deletionMark : nil
        return (constants.columns + formulas.keys + [mark].compactMap(\.self)).sorted()
    }

    /// The expression for each column in the order of `columns`, with its parameters appended.
    func expressions(_ resolver: inout ConditionResolver) throws -> [AssignedColumn] {
        try columns.map { column in
            if marksRows, column == entity.deletionMark { return resolver.mark(column, of: entity) }
            if let formula = formulas[column] { return try resolver.assigned(formula, to: column, of: entity) }
            let parameter = try resolver.parameters.value(constants[column] ?? nil, as: column, of: entity)
            return AssignedColumn(column: column, value: .parameter(parameter), isParameter: true)
        }
    }
}

/// A column and its new value.
struct AssignedColumn {
    let column: Int
    let value: ValueTerm
    /// Whether the value is a parameter, which takes its type from the assigned column.
    let isParameter: Bool
}

extension ConditionResolver {
    /// The moment of its deletion as the value of the column that marks a row.
    fileprivate func mark(_ column: Int, of entity: EntityRuntime) -> AssignedColumn {
        let name = entity.entity.attributes[column].name
        let mark = RowColumn(alias: 0, name: name, comparedType: nil)
        return AssignedColumn(column: column, value: .mark(mark, type: entity.texts.markType), isParameter: false)
    }

    /// A calculation as the value of a column.
    fileprivate mutating func assigned(
        _ expression: ConditionExpression,
        to column: Int,
        of entity: EntityRuntime
    ) throws -> AssignedColumn {
        let attribute = entity.entity.attributes[column]
        let type = ValueType(attribute)
        let target = Scalar(value: .absent, type: type, mayBeNull: true, label: "\(entity.name).\(attribute.name)")
        let operand = try operand(expression)
        if case .value(let value) = operand {
            let parameter = try parameters.value(value, as: column, of: entity)
            return AssignedColumn(column: column, value: .parameter(parameter), isParameter: true)
        }
        guard case .scalar(let value) = operand else {
            let value = try scalar(operand, as: target, .equal).value
            return AssignedColumn(column: column, value: value, isParameter: true)
        }
        guard value.type.isComparable(with: type) || value.type.type == type.type else {
            throw KindredError(
                .wrongType,
                "\(target.label) is of the type \(type.typeName) and cannot take a value of the type \(value.type.typeName)",
                entity: entity.name.description,
                key: attribute.name
            )
        }
        return AssignedColumn(column: column, value: value.value, isParameter: false)
    }
}
