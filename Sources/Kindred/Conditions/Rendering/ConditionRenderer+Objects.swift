import KindredPostgres
import KindredSchema

extension ConditionRenderer {
    /// Whether two operands are the same object.
    mutating func sameRow(_ left: Operand, _ right: Operand) throws -> Rendered {
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
    mutating func isThere(_ row: Int, and condition: Rendered) throws -> Rendered {
        guard let link = places[row].link, places[row].isOptional,
            try link.relationship.destinationColumns.contains(where: { try keyColumn($0, of: row).mayBeNull })
        else { return condition }
        let isThere = negation(of: try isMissing(row))
        return Rendered(
            sql: "\(isThere.closed) AND \(condition.closed)",
            isTwoValued: condition.isTwoValued,
            isClosed: false
        )
    }

    /// Whether a to-one path leads to no row.
    private mutating func isMissing(_ row: Int) throws -> Rendered {
        guard let link = places[row].link, places[row].isOptional else { return .never }
        let columns = try link.relationship.destinationColumns.map { try keyColumn($0, of: row).sql }
        return Rendered(
            sql: columns.map { "\($0) IS NULL" }.joined(separator: " OR "),
            isTwoValued: true,
            isClosed: columns.count == 1
        )
    }

    private mutating func isSame(_ row: Int, _ object: any ObjectReference) throws -> Rendered {
        try check(object, for: row)
        let columns = try keyColumns(of: row, for: [object])
        var sql = ""
        var isNullable = false
        if let tables = places[row].entity.rowTables {
            // A foreign key leads to rows of one table alone.
            guard let table = try rowTable(of: object, tables), table == tables.own || !isReferenced(row) else {
                return .never
            }
            if !isReferenced(row) { sql = try isRow(row, of: table) }
        }
        for name in columns {
            // Nothing references an object without key values.
            guard let value = try object.attributeValue(named: name) else { return .never }
            let scalar = try keyColumn(name, of: row)
            if !sql.isEmpty { sql += " AND " }
            sql += "\(scalar.sql) = \(try bind(value, as: scalar))"
            isNullable = isNullable || scalar.mayBeNull
        }
        let isSingle = columns.count == 1 && places[row].entity.rowTables == nil
        return Rendered(sql: sql, isTwoValued: !isNullable, isClosed: isSingle)
    }

    private mutating func isSame(_ left: Int, _ right: Int) throws -> Rendered {
        guard places[left].entity.name == places[right].entity.name else {
            throw KindredError(
                .wrongType,
                "\(places[left].label) is an object of \(places[left].entity.name), "
                    + "and \(places[right].label) of \(places[right].entity.name)",
                key: places[left].label
            )
        }
        var sql = ""
        var isNullable = (left: false, right: false)
        for name in try primaryKey(of: left) {
            let first = try column(name, of: left)
            let second = try column(name, of: right)
            if !sql.isEmpty { sql += " AND " }
            sql += "\(first.sql) = \(second.sql)"
            isNullable = (isNullable.left || first.mayBeNull, isNullable.right || second.mayBeNull)
        }
        if let tables = places[left].entity.rowTables {
            switch (isReferenced(left), isReferenced(right)) {
            case (true, true): break
            case (false, true): sql += " AND \(try isRow(left, of: tables.own))"
            case (true, false): sql += " AND \(try isRow(right, of: tables.own))"
            case (false, false): sql += " AND \(try tableColumn(of: left).sql) = \(try tableColumn(of: right).sql)"
            }
        }
        guard isNullable.left && isNullable.right else {
            return Rendered(sql: sql, isTwoValued: !isNullable.left && !isNullable.right, isClosed: false)
        }
        let bothMissing = "\(try isMissing(left).closed) AND \(try isMissing(right).closed)"
        return Rendered(sql: "\(sql) OR \(bothMissing)", isClosed: false)
    }

    /// Whether a row is one of the given objects: one array parameter per key column, for any number of objects.
    mutating func row(_ element: Operand, among objects: [any ObjectReference]) throws -> Rendered {
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
            let sql = "\(columns[0].sql) = ANY(\(try bind(keys[0], asArrayOf: columns[0])))"
            return Rendered(sql: sql, isTwoValued: isTwoValued)
        }
        var arrays: [String] = []
        for (values, scalar) in zip(keys, columns) {
            let parameter = try bind(values, asArrayOf: scalar)
            // unnest does not determine the element type of an untyped array.
            arrays.append(scalar.type.type.arrayType == nil ? "\(parameter)::\(scalar.type.comparedName)[]" : parameter)
        }
        let list = columns.map(\.sql).joined(separator: ", ")
        return Rendered(
            sql: "(\(list)) IN (SELECT * FROM unnest(\(arrays.joined(separator: ", "))))",
            isTwoValued: isTwoValued
        )
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
