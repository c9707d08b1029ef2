import KindredPostgres

// Statements about indexes, whole relations and rows.
extension FileLint {
    // MARK: Indexes

    mutating func createIndex(_ cursor: inout StatementCursor) {
        let isConcurrent = cursor.take("concurrently")
        _ = cursor.take("if", "not", "exists")
        let name = cursor.isAt("on") ? nil : cursor.name()
        guard cursor.take("on") else { return }
        // With ONLY, an index of a partitioned table has no rows.
        let isOnly = cursor.isAt("only")
        guard let table = cursor.name() else { return }
        let label = name.map { "index \($0.name)" } ?? "index"
        if isConcurrent {
            refuseInTransaction("CREATE INDEX CONCURRENTLY", on: table)
        } else if made.contains(table) {
            if let name { made.insert(WrittenName(schema: table.schema, name: name.name)) }
        } else if !isOnly {
            note(
                .indexNotConcurrent, "The \(label) on \(table) lets nothing be written to \(table) while it is made.",
                on: table, object: name?.name)
            lock(table, line: 0, isExclusive: false)
        }
    }

    mutating func reindex(_ cursor: inout StatementCursor) {
        var isConcurrent = false
        if let options = cursor.parenthesized() {
            var options = StatementCursor(options)
            while !options.isAtEnd {
                if options.take("concurrently") { isConcurrent = options.take(oneOf: ["false", "off", "0"]) == nil }
                options.skip()
            }
        }
        guard let kind = cursor.take(oneOf: ["index", "table", "schema", "database", "system"]) else { return }
        if cursor.take("concurrently") { isConcurrent = true }
        let name = cursor.name()
        let words = "REINDEX \(kind.uppercased())"
        if !["index", "table"].contains(kind) {
            refuseInTransaction(words)
            if file.isTransaction { return }
        } else if isConcurrent {
            refuseInTransaction("\(words) CONCURRENTLY", on: name)
        }
        if isConcurrent { return }
        if let name, made.contains(name) { return }
        let subject = name.map { " \($0)" } ?? ""
        note(
            .reindexNotConcurrent, "\(words)\(subject) lets nothing be written while the index is made anew.", on: name)
        if kind == "table", let name { lock(name, line: 0, isExclusive: false) }
    }

    // MARK: Relations

    mutating func drop(_ cursor: inout StatementCursor) {
        if cursor.take("index") { return dropIndex(&cursor) }
        if cursor.take("database") {
            refuseInTransaction("DROP DATABASE")
            return note(.dropTable, "DROP DATABASE removes all that is in it.")
        }
        if cursor.take("tablespace") { refuseInTransaction("DROP TABLESPACE") }
        let isSchema = cursor.take("schema")
        guard isSchema || cursor.take("table") || cursor.take("foreign", "table") else { return }
        _ = cursor.take("if", "exists")
        for name in cursor.names() {
            let isMade = made.contains(name)
            if !isSchema { history.drop(name) }
            if isMade, !isSchema { continue }
            note(
                .dropTable,
                isSchema
                    ? "The schema \(name) goes with all that is in it, and programs that still name that fail."
                    : "The table \(name) goes with its rows, and programs that still name it fail.",
                line: cursor.line, on: name)
            if !isSchema { lock(name, line: cursor.line) }
        }
    }

    private mutating func dropIndex(_ cursor: inout StatementCursor) {
        let isConcurrent = cursor.take("concurrently")
        _ = cursor.take("if", "exists")
        let names = cursor.names().filter { !made.contains($0) }
        guard let first = names.first else { return }
        if isConcurrent {
            refuseInTransaction("DROP INDEX CONCURRENTLY")
        } else {
            let list = names.map(\.name).joined(separator: ", ")
            note(
                .dropIndexNotConcurrent,
                "DROP INDEX \(list) waits for all statements on its table, and all later ones wait behind it.",
                object: first.name)
        }
    }

    mutating func truncate(_ cursor: inout StatementCursor) {
        _ = cursor.take("table")
        let names = cursor.names().filter { !made.contains($0) }
        let cascade = cursor.contains("cascade") ? ", and with CASCADE those of all tables that refer to it" : ""
        for name in names {
            note(.truncate, "TRUNCATE removes all rows of \(name)\(cascade).", on: name)
            lock(name, line: 0)
        }
    }

    mutating func refresh(_ cursor: inout StatementCursor) {
        guard cursor.take("materialized", "view") else { return }
        let isConcurrent = cursor.take("concurrently")
        guard let view = cursor.name(), !made.contains(view), !isConcurrent, !cursor.contains("with", "no", "data")
        else { return }
        note(.refreshNotConcurrent, "The view \(view) cannot be read while its query runs.", on: view)
        lock(view, line: 0)
    }

    /// CLUSTER, and VACUUM FULL, of a table or of all.
    mutating func rewrite(_ words: String, _ cursor: inout StatementCursor) {
        while cursor.take(oneOf: ["full", "freeze", "verbose", "analyze", "analyse"]) != nil {}
        _ = cursor.parenthesized()
        _ = cursor.take("verbose")
        let name = cursor.name()
        if let name, made.contains(name) { return }
        note(.tableRewrite, "\(words) writes \(name.map(\.description) ?? "every table") anew.", on: name)
        if let name { lock(name, line: 0) }
    }

    // MARK: Rows

    /// UPDATE and its like, which take as long as there are rows.
    mutating func lookAtRows(_ cursor: inout StatementCursor) {
        guard let verb = cursor.take(oneOf: ["insert", "update", "delete", "merge", "with", "select", "copy"]) else {
            return
        }
        if verb == "select" {
            // SELECT INTO makes a table.
            let parts = StatementCursor.split(cursor.tokens) { $0.isWord("into") }
            if parts.count > 1 {
                var target = StatementCursor(parts[1])
                while target.take(oneOf: ["temporary", "temp", "unlogged", "table"]) != nil {}
                if let name = target.name() { made.insert(name) }
            }
            locks.readSetting(cursor.tokens)
        }
        guard let held = locks.exclusive, !locks.isWorkFound else { return }
        // A row or a few are quick.
        if verb == "insert", !cursor.tokens.contains(where: { $0.isWord("select") }) { return }
        if verb == "select", !cursor.contains("from") { return }
        _ = cursor.take("into") || cursor.take("from")
        if verb == "update" || verb == "delete", let name = cursor.name(), made.contains(name) { return }
        locks.isWorkFound = true
        note(
            .workUnderLock,
            "\(verb.uppercased()) runs while the transaction holds the lock on \(held.name) of line \(held.line), so that nothing "
                + "can read \(held.name) until it ends.", on: held.name)
    }
}
