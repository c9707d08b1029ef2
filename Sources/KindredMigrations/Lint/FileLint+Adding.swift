import KindredPostgres
import KindredSchema

// ALTER TABLE … ADD.
extension FileLint {
    mutating func add(_ cursor: inout StatementCursor, _ table: WrittenName) {
        let line = cursor.line
        var name: String?
        if cursor.take("constraint") { name = cursor.identifier() }
        let isNotNull = cursor.isAt("not", "null")
        guard
            name != nil || isNotNull || cursor.isAt("check") || cursor.isAt("unique") || cursor.isAt("primary", "key")
                || cursor.isAt("foreign", "key") || cursor.isAt("exclude")
        else { return addColumn(&cursor, table, line: line) }
        addConstraint(name, &cursor, table)
    }

    // MARK: Constraints

    private mutating func addConstraint(_ name: String?, _ cursor: inout StatementCursor, _ table: WrittenName) {
        let line = cursor.line
        let isNotValid = cursor.contains("not", "valid")
        let isUsingIndex = cursor.contains("using", "index")
        let isMade = made.contains(table)
        let label = name.map { "The constraint \($0)" } ?? "The constraint"
        func reads(_ what: String) -> String { "\(label) \(what) \(table)." }
        var isExclusive = true
        if cursor.take("check") {
            let columns = cursor.parenthesized().map { ExpressionCondition(tokens: $0).requiredColumns } ?? []
            // The name that the server gives.
            let parts = columns.count == 1 ? [table.name] + columns.texts + ["check"] : [table.name, "check"]
            history.add(
                name ?? parts.joined(separator: "_"), columns: columns, isValid: !isNotValid, to: table)
            if !isNotValid, !isMade {
                note(
                    .checkNotValid, reads("lets nothing be read or written while it looks at every row of"), line: line,
                    on: table, object: name)
            }
        } else if cursor.take("not", "null") {
            guard let column = cursor.identifier() else { return }
            history.add(
                name ?? "\(table.name)_\(column)_not_null", columns: [ServerText(column)], isValid: !isNotValid,
                to: table)
            if !isNotValid, !isMade {
                note(
                    .setNotNull, reads("lets nothing be read or written while it looks at every row of"), line: line,
                    on: table, object: column)
            }
        } else if cursor.take("foreign", "key") {
            isExclusive = false
            _ = cursor.parenthesized()
            let target = cursor.take("references") ? cursor.name() : nil
            if !isNotValid, !isMade {
                let other = target.map { " and \($0)" } ?? ""
                note(
                    .foreignKeyNotValid,
                    "\(label) lets nothing be written to \(table)\(other) while it compares every row of \(table).",
                    line: line,
                    on: table, object: name)
            }
            if let target { lock(target, line: line, isExclusive: false) }
        } else if cursor.take("exclude") {
            if !isMade {
                note(
                    .exclusionConstraint, reads("lets nothing be read or written while it makes an index of"),
                    line: line,
                    on: table, object: name)
            }
        } else if !isUsingIndex, !isMade, cursor.isAt("unique") || cursor.isAt("primary", "key") {
            note(
                .uniqueWithoutIndex, reads("lets nothing be read or written while it makes an index of"), line: line,
                on: table, object: name)
        }
        lock(table, line: line, isExclusive: isExclusive)
    }

    // MARK: Columns

    private mutating func addColumn(_ cursor: inout StatementCursor, _ table: WrittenName, line: Int) {
        _ = cursor.take("column")
        _ = cursor.take("if", "not", "exists")
        guard let column = AddedColumn(cursor), !made.contains(table) else { return }
        let name = column.name
        if column.isRequired || column.isPrimaryKey, !column.hasValue {
            note(
                .requiredColumn,
                "The column \(name) is NOT NULL and has no default, which fails where \(table) has rows.",
                line: line, on: table, object: name)
        }
        if let reason = column.rewriting {
            note(
                .volatileDefault, "The column \(name) writes all of \(table) anew: \(reason).", line: line, on: table,
                object: name)
        }
        if column.hasCheck {
            note(
                .checkNotValid, "The CHECK of the column \(name) looks at every row of \(table) under a lock.",
                line: line,
                on: table, object: name)
        }
        if column.isUnique || column.isPrimaryKey {
            note(
                .uniqueWithoutIndex, "The key of the column \(name) makes an index of \(table) under a lock.",
                line: line,
                on: table, object: name)
        }
        if let target = column.target {
            // Without a value no row is compared.
            if column.hasValue {
                note(
                    .foreignKeyNotValid,
                    "The foreign key of the column \(name) compares every row of \(table) with \(target) under a lock.",
                    line: line, on: table, object: name)
            }
            lock(target, line: line, isExclusive: false)
        }
        lock(table, line: line)
    }
}
