import KindredPostgres
import KindredSchema

extension ConditionResolver {
    /// Whether two operands are the same object.
    mutating func sameRow(_ left: Operand, _ right: Operand) throws -> ResolvedTerm {
        switch (left, right) {
        case (.row(let row), .value(nil)), (.value(nil), .row(let row)): return try isMissing(row)
        case (.row(let row), .object(let object)), (.object(let object), .row(let row)):
            return try isSame(row, object)
        case (.row(let left), .row(let right)): return try isSame(left, right)
        case (.object, .value(nil)), (.value(nil), .object): return .never
        case (.row(let row), _), (_, .row(let row)):
            throw KindredError(
                .wrongType,
                "\(places[row].label) is an object of \(places[row].entity.name) and is compared with objects only",
                key: places[row].label
            )
        case (.scalar(let scalar), _), (_, .scalar(let scalar)):
            throw KindredError(
                .wrongType,
                "\(scalar.label) is of the type \(scalar.type.typeName) and cannot be compared with an object",
                key: scalar.label
            )
        default: throw KindredError(.invalidCondition, "An object is compared with SELF or with a path to objects")
        }
    }

    /// A condition together with the existence of a row at a to-one path; the condition alone if the row always exists.
    mutating func isThere(_ row: Int, and condition: ResolvedTerm) throws -> ResolvedTerm {
        guard let link = places[row].link, places[row].isOptional,
            try link.relationship.destinationColumns.contains(where: { try keyColumn($0, of: row).mayBeNull })
        else { return condition }
        let isThere = try isMissing(row).negation
        return ResolvedTerm(term: .all([isThere.term, condition.term]), isTwoValued: condition.isTwoValued)
    }

    /// Whether a to-one path leads to no row.
    private mutating func isMissing(_ row: Int) throws -> ResolvedTerm {
        guard let link = places[row].link, places[row].isOptional else { return .never }
        let columns = try link.relationship.destinationColumns.map {
            ConditionTerm.isNull(try keyColumn($0, of: row).value, isRow: false)
        }
        return ResolvedTerm(term: columns.count == 1 ? columns[0] : .any(columns), isTwoValued: true)
    }

    private mutating func isSame(_ row: Int, _ object: any ObjectReference) throws -> ResolvedTerm {
        try check(object, for: row)
        let columns = try keyColumns(of: row, for: [object])
        var terms: [ConditionTerm] = []
        var isNullable = false
        if let tables = places[row].entity.rowTables {
            // A foreign key leads to rows of one table alone.
            guard let table = try rowTable(of: object, tables), table == tables.own || !isReferenced(row) else {
                return .never
            }
            if !isReferenced(row) { terms.append(try isRow(row, of: table)) }
        }
        for name in columns {
            // Nothing references an object without key values.
            guard let value = try object.attributeValue(named: name) else { return .never }
            let scalar = try keyColumn(name, of: row)
            terms.append(.comparison(scalar.value, scalar.type.comparison(.equal), try bind(value, as: scalar)))
            isNullable = isNullable || scalar.mayBeNull
        }
        let isSingle = columns.count == 1 && places[row].entity.rowTables == nil
        return ResolvedTerm(term: isSingle ? terms[0] : .all(terms), isTwoValued: !isNullable)
    }

    private mutating func isSame(_ left: Int, _ right: Int) throws -> ResolvedTerm {
        guard places[left].entity.name == places[right].entity.name else {
            throw KindredError(
                .wrongType,
                "\(places[left].label) is an object of \(places[left].entity.name), "
                    + "and \(places[right].label) of \(places[right].entity.name)",
                key: places[left].label
            )
        }
        var terms: [ConditionTerm] = []
        var isNullable = (left: false, right: false)
        for name in try primaryKey(of: left) {
            let first = try column(name, of: left)
            let second = try column(name, of: right)
            terms.append(
                .comparison(first.value, first.type.comparison(.equal, with: second.type), second.value))
            isNullable = (isNullable.left || first.mayBeNull, isNullable.right || second.mayBeNull)
        }
        if let tables = places[left].entity.rowTables {
            switch (isReferenced(left), isReferenced(right)) {
            case (true, true): break
            case (false, true): terms.append(try isRow(left, of: tables.own))
            case (true, false): terms.append(try isRow(right, of: tables.own))
            case (false, false):
                let (own, other) = (try tableColumn(of: left), try tableColumn(of: right))
                terms.append(.comparison(own.value, own.type.comparison(.equal), other.value))
            }
        }
        guard isNullable.left && isNullable.right else {
            return ResolvedTerm(term: .all(terms), isTwoValued: !isNullable.left && !isNullable.right)
        }
        let missing = [try isMissing(left).term, try isMissing(right).term]
        return ResolvedTerm(term: .sameRow(terms, orMissing: missing))
    }

    /// Whether a row is one of the given objects: one array parameter per key column, for any number of objects.
    mutating func row(_ element: Operand, among objects: [any ObjectReference]) throws -> ResolvedTerm {
        guard case .row(let row) = element else { return .never }
        for object in objects { try check(object, for: row) }
        let names = try keyColumns(of: row, for: objects)
        var columns = try names.map { try keyColumn($0, of: row) }
        let tables = places[row].entity.rowTables
        if tables != nil, !isReferenced(row) { columns.append(try tableColumn(of: row)) }
        var keys: [[PostgresValue]] = Array(repeating: [], count: columns.count)
        for object in objects {
            var values = try names.compactMap { try object.attributeValue(named: $0) }
            if let tables {
                guard let table = try rowTable(of: object, tables) else { continue }
                if !isReferenced(row) { values.append(.integer(Int64(table))) } else if table != tables.own { continue }
            }
            guard values.count == columns.count else { continue }
            for (position, value) in values.enumerated() { keys[position].append(value) }
        }
        let isTwoValued = !columns.contains(where: \.mayBeNull)
        if columns.count == 1 {
            let list = try bind(keys[0], asArrayOf: columns[0])
            return ResolvedTerm(
                term: .element(columns[0].value, columns[0].type.comparison(.equal), of: list), isTwoValued: isTwoValued
            )
        }
        var arrays: [ValueTerm] = []
        for (values, scalar) in zip(keys, columns) {
            let parameter = try bind(values, asArrayOf: scalar)
            // unnest does not determine the element type of an untyped array.
            arrays.append(
                scalar.type.type.arrayType == nil
                    ? .cast(parameter, to: "\(scalar.type.comparedName)[]") : parameter)
        }
        return ResolvedTerm(
            term: .row(columns.map { ($0.value, $0.type.comparison(.equal)) }, among: arrays), isTwoValued: isTwoValued)
    }

    private func check(_ object: any ObjectReference, for row: Int) throws {
        guard object.entityName == places[row].entity.name else {
            throw KindredError(
                .wrongType,
                "\(places[row].label) is an object of \(places[row].entity.name); one of \(object.entityName) was given",
                entity: places[row].entity.name.description,
                key: places[row].label
            )
        }
    }

    /// The columns by which a row is compared with objects: a foreign key's columns that need no join, or the primary
    /// key.
    private func keyColumns(of row: Int, for objects: [any ObjectReference]) throws -> [String] {
        if let link = places[row].link, !places[row].known.isEmpty,
            case let columns = link.relationship.destinationColumns, objects.allSatisfy({ $0.hasAttributes(columns) })
        {
            return columns
        }
        return try primaryKey(of: row)
    }

    private func primaryKey(of row: Int) throws -> [String] {
        let entity = places[row].entity
        if !entity.primaryKey.isEmpty { return entity.primaryKey }
        throw KindredError(
            .invalidCondition,
            "\(entity.name) has no key, so its objects cannot be compared",
            entity: entity.name.description
        )
    }
}
