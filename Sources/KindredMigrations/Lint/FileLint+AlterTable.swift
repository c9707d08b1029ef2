import KindredPostgres

// ALTER, above all of tables.
extension FileLint {
    mutating func alter(_ cursor: inout StatementCursor) {
        if cursor.take("system") { return refuseInTransaction("ALTER SYSTEM") }
        if cursor.take("domain") { return alterDomain(&cursor) }
        let isTable = cursor.take("table") || cursor.take("foreign", "table")
        let isView = !isTable && (cursor.take("materialized", "view") || cursor.take("view"))
        let isType = !isTable && !isView && cursor.take("type")
        guard isTable || isView || isType else { return }
        _ = cursor.take("if", "exists")
        // ALTER TABLE ALL IN TABLESPACE names none.
        guard !cursor.isAt("all", "in"), let name = cursor.name() else { return }
        if cursor.take("rename") {
            let line = cursor.line
            rename(name, &cursor)
            return isType ? () : lock(name, line: line)
        }
        if cursor.take("set", "schema"), let schema = cursor.identifier() {
            if made.contains(name) { return made.insert(WrittenName(schema: schema, name: name.name)) }
            note(.rename, "Programs that run look for \(name) where it is now, and not in \(schema).", on: name)
            return isType ? () : lock(name, line: cursor.line)
        }
        guard isTable || isView else { return }
        for part in cursor.parts { alter(name, part) }
    }

    private mutating func rename(_ name: WrittenName, _ cursor: inout StatementCursor) {
        let line = cursor.line
        if cursor.take("constraint") { return }
        if cursor.take("to") {
            guard let new = cursor.identifier() else { return }
            history.rename(name, to: new)
            if made.contains(name) { return made.insert(name.renamed(to: new)) }
            return note(.rename, "Programs that run still name \(name), which becomes \(new).", line: line, on: name)
        }
        let isValue = cursor.take("value")
        _ = cursor.take("column") || cursor.take("attribute")
        let old = isValue ? cursor.tokens.first?.text : cursor.identifier()
        guard let old, !made.contains(name) else { return }
        note(
            .rename, "Programs that run still name \(isValue ? "the value '\(old)'" : old) of \(name).", line: line,
            on: name, object: old)
    }

    private mutating func alterDomain(_ cursor: inout StatementCursor) {
        guard let name = cursor.name(), !made.contains(name) else { return }
        let line = cursor.line
        if cursor.take("set", "not", "null") {
            note(.setNotNull, "Every row of all tables with \(name) is looked at.", line: line, on: name)
        } else if cursor.take("add"), !cursor.contains("not", "valid") {
            note(.checkNotValid, "Every row of all tables with \(name) is looked at.", line: line, on: name)
        }
    }

    // MARK: The actions of ALTER TABLE

    /// One of several actions between commas.
    private mutating func alter(_ table: WrittenName, _ action: StatementCursor) {
        var cursor = action
        let line = action.line
        let isMade = made.contains(table)
        if cursor.take("validate", "constraint") { return validate(&cursor, table) }
        if cursor.take("add") { return add(&cursor, table) }
        if cursor.take("drop") { return drop(&cursor, of: table) }
        if isMade { return }
        if cursor.take("alter") {
            _ = cursor.take("column")
            if let column = cursor.identifier() { alter(column, of: table, &cursor) }
        } else if cursor.take("attach", "partition") {
            guard let partition = cursor.name(), !made.contains(partition) else { return }
            if !history.hasValidCheck(partition) {
                note(
                    .attachPartition,
                    "Every row of \(partition) is read under a lock, unless a valid CHECK has the partition's bounds.",
                    line: line, on: table, object: partition.description)
            }
            lock(partition, line: line)
        } else if cursor.take("detach", "partition") {
            detach(&cursor, table)
        } else if cursor.isAt("set", "logged") || cursor.isAt("set", "unlogged") || cursor.isAt("set", "tablespace")
            || cursor.isAt("set", "access")
        {
            let words = cursor.tokens.prefix(2).map { $0.text.uppercased() }.joined(separator: " ")
            note(.tableRewrite, "\(words) writes all of \(table) anew.", line: line, on: table)
            lock(table, line: line)
        } else if !cursor.isAt("cluster"), !cursor.isAt("set"), !cursor.isAt("reset") {
            // The other actions set how rows are stored, and lock out neither readers nor writers.
            lock(table, line: line, isExclusive: !cursor.contains("trigger"))
        }
    }

    private mutating func detach(_ cursor: inout StatementCursor, _ table: WrittenName) {
        let line = cursor.line
        guard let partition = cursor.name(), !cursor.isAt("finalize") else { return }
        if cursor.isAt("concurrently") {
            refuseInTransaction("DETACH PARTITION CONCURRENTLY", line: line, on: table)
        } else {
            note(
                .detachNotConcurrent,
                "DETACH PARTITION \(partition) waits for all statements on \(table), and all later ones wait behind it.",
                line: line, on: table, object: partition.description)
            lock(table, line: line)
        }
    }

    private mutating func validate(_ cursor: inout StatementCursor, _ table: WrittenName) {
        guard let constraint = cursor.identifier() else { return }
        history.validate(constraint, of: table)
        guard let held = locks.lock(on: table) else { return }
        note(
            .validatedUnderLock,
            "VALIDATE CONSTRAINT \(constraint) reads every row of \(table) under the lock of line \(held.line).",
            line: cursor.line, on: table, object: constraint)
    }

    private mutating func drop(_ cursor: inout StatementCursor, of table: WrittenName) {
        let line = cursor.line
        if cursor.take("constraint") {
            _ = cursor.take("if", "exists")
            if let name = cursor.identifier() { history.drop(name, of: table) }
            return lock(table, line: line)
        }
        _ = cursor.take("column")
        _ = cursor.take("if", "exists")
        guard let column = cursor.identifier(), !made.contains(table) else { return }
        note(
            .dropColumn, "The column \(column) of \(table) goes with its values, and programs that still name it fail.",
            line: line, on: table, object: column)
        lock(table, line: line)
    }

    private mutating func alter(_ column: String, of table: WrittenName, _ cursor: inout StatementCursor) {
        let line = cursor.line
        // SET STATISTICS lets other sessions read and write.
        if cursor.isAt("set", "statistics") { return }
        if cursor.take("set", "not", "null") {
            if !history.isNeverNull(column, of: table) {
                note(
                    .setNotNull,
                    "SET NOT NULL looks at every row of \(table), as no validated CHECK says that \(column) is never NULL.",
                    line: line, on: table, object: column)
            }
        } else if cursor.take("drop", "not", "null") {
            note(
                .dropNotNull, "Programs that run may read a NULL in \(column) of \(table) from now on.", line: line,
                on: table, object: column)
        } else if cursor.take("type") || cursor.take("set", "data", "type") {
            let limited = ["varchar", "character", "numeric", "decimal", "varbit"].contains { cursor.isAt($0) }
            let type =
                cursor.isAt("text") ? ", unless it was varchar" : limited ? ", unless it only gets a wider limit" : ""
            note(
                .typeChange, "The new type of \(column) writes all of \(table) and its indexes anew\(type).",
                line: line,
                on: table, object: column)
        } else if cursor.take("set", "expression") {
            note(
                .tableRewrite, "The new expression of \(column) writes all of \(table) anew.", line: line, on: table,
                object: column)
        }
        lock(table, line: line)
    }
}
