import KindredPostgres
import KindredSchema

// Locks on rows of several tenants that Citus distributes: one statement can lock the rows of one tenant only.
extension SelectQuery {
    /// `SELECT key …`: the keys of the rows, in their order.
    func keysStatement(_ runtime: EntityRuntime, in schema: DatabaseSchema) throws -> Statement {
        try statement(in: schema, selecting: try runtime.texts.selectList(of: runtime.key, alias: "t0"), isSorted: true)
    }

    /// `SELECT key … FOR UPDATE`, or another lock: the given keys whose rows the condition still finds.
    func lockStatement(
        _ keys: [ObjectKey], of runtime: EntityRuntime, in schema: DatabaseSchema, lock: (RowLock, RowLock.Waiting)
    ) throws -> Statement {
        var query = self
        (query.limit, query.offset, query.lock, query.keys) = (nil, nil, nil, (runtime, keys))
        let list = try runtime.texts.selectList(of: runtime.key, alias: "t0")
        return try query.statement(in: schema, selecting: list, isSorted: false) {
            "\($0) \(lock.0.rawValue) OF t0\(lock.1.rawValue)"
        }
    }

    /// The query of rows that are known by their keys and locked, in the same order.
    func ofLocked(_ keys: [ObjectKey], of runtime: EntityRuntime) -> SelectQuery {
        var query = SelectQuery(entity: entity)
        (query.sort, query.memberOrder, query.pairLink) = (sort, memberOrder, pairLink)
        (query.leftOut, query.isFiltered, query.keys) = (leftOut, false, (runtime, keys))
        return query
    }

    /// Whether Citus distributes the rows, and the condition may find rows of several tenants.
    func isOfManyTenants(_ runtime: EntityRuntime, in schema: DatabaseSchema) throws -> Bool {
        guard let column = runtime.distributionColumn else { return false }
        let name = runtime.entity.attributes[column].name
        return try begin(in: schema).1?.givesValue(to: name) != true
    }

    /// Whether a write of the rows is split by tenant, since it selects them first, because of an order, a limit, a
    /// lock or joins.
    func isWrittenByTenant(_ runtime: EntityRuntime, in schema: DatabaseSchema) throws -> Bool {
        guard try isOfManyTenants(runtime, in: schema) else { return false }
        return try limit != nil || offset != nil || lock != nil || !begin(in: schema).0.joins[0].isEmpty
    }

    /// The condition that rows have one of the keys.
    static func condition(_ keys: KeySet) -> ConditionTerm {
        let attributes = keys.entity.entity.attributes
        func column(_ number: Int) -> ValueTerm {
            let attribute = attributes[number]
            return .column(RowColumn(alias: 0, name: attribute.name, comparedType: attribute.comparedType))
        }
        let columns = keys.columns.map(column)
        let arrays = keys.columns.enumerated().map { position, number in
            let attribute = attributes[number]
            let parameter = ValueTerm.parameter(Parameter(number: keys.first + position))
            guard attribute.baseType.arrayType == nil else { return parameter }
            return .cast(.cast(parameter, to: "text[]"), to: "\(attribute.comparedType ?? attribute.sqlType)[]")
        }
        let comparisons = keys.columns.map { ValueType(attributes[$0]).comparison(.equal) }
        var terms: [ConditionTerm] =
            columns.count == 1
            ? [.element(columns[0], comparisons[0], of: arrays[0])]
            : [.row(Array(zip(columns, comparisons)), among: arrays)]
        if let shard = keys.shard {
            let value = ValueTerm.parameter(shard.parameter)
            let type = attributes[shard.column].comparedType
            let comparison = ValueType(attributes[shard.column]).comparison(.equal)
            terms.append(.comparison(column(shard.column), comparison, type.map { .cast(value, to: $0) } ?? value))
        }
        return .all(terms)
    }
}

extension ConditionTerm {
    /// Whether it holds only for rows that have one given value in a column of their own.
    fileprivate func givesValue(to column: String) -> Bool {
        switch self {
        case .all(let terms): terms.contains { $0.givesValue(to: column) }
        case .comparison(.column(let row), let comparison, let value):
            comparison.symbol == .equal && row.alias == 0 && row.name == column && value.isGiven
        default: false
        }
    }
}

extension ValueTerm {
    /// Whether it is the same for all rows.
    fileprivate var isGiven: Bool {
        switch self {
        // The tenant of a context is no such value: it is read from a setting, where Citus sees no value.
        case .parameter: true
        case .cast(let value, _): value.isGiven
        default: false
        }
    }
}
