import KindredPostgres

/// Looks at the statements of one file, in their order.
struct FileLint {
    let file: MigrationFile
    var history: LintHistory
    private(set) var findings: [MigrationFinding] = []
    private(set) var skipped: [MigrationLint.Skip] = []
    /// The relations, indexes, types and domains that the file makes itself.
    var made = WrittenNames()
    /// The locks of the present transaction.
    var locks = HeldLocks()
    /// The line at which the present statement begins.
    private(set) var start = 1
    /// The place of the present statement.
    private(set) var place = 0

    init(_ file: MigrationFile, _ history: LintHistory) {
        self.file = file
        self.history = history
    }

    mutating func run() {
        for problem in file.problems {
            start = problem.line ?? 1
            note(.invalidFile, problem.message.withoutPlace(file.name, problem.line))
        }
        for (place, statement) in file.statements.enumerated() {
            (self.place, start) = (place, statement.line)
            if !file.isTransaction { locks.end() }
            look(at: statement.text)
        }
    }

    /// Adds a finding.
    ///
    /// - Parameter line: The line within the statement.
    mutating func note(
        _ rule: MigrationRule, _ message: String, line: Int = 0, on entity: WrittenName? = nil, object: String? = nil
    ) {
        findings.append(
            MigrationFinding(
                rule: rule, file: file.name, line: start + line, entity: entity?.description, object: object,
                message: message))
    }

    private mutating func skip(_ reason: String) {
        skipped.append(MigrationLint.Skip(file: file.name, line: start, reason: reason))
    }

    // MARK: Statements

    private mutating func look(at text: String) {
        guard let first = SQLScanner.tokens(of: text, limit: 1).first, first.kind == .word else { return }
        switch first.text {
        case "insert", "update", "delete", "merge", "with", "select", "copy":
            // A SELECT may set the timeout or make a table; the other statements are of interest under a lock alone.
            // Values may be many.
            guard first.text == "select" || locks.exclusive != nil else { return }
            var cursor = StatementCursor(SQLScanner.tokens(of: text, limit: 2_000)[...])
            lookAtRows(&cursor)
        case "do": skip("The statements inside of a DO block are not looked at.")
        case "call": skip("The statements inside of a procedure are not looked at.")
        case "create", "alter", "drop", "truncate", "reindex", "refresh", "cluster", "vacuum", "set", "reset", "lock":
            var cursor = StatementCursor(SQLScanner.tokens(of: text)[...])
            cursor.skip()
            lookAtDefinition(first.text, &cursor)
        default: break
        }
    }

    private mutating func lookAtDefinition(_ verb: String, _ cursor: inout StatementCursor) {
        switch verb {
        case "create": create(&cursor)
        case "alter": alter(&cursor)
        case "drop": drop(&cursor)
        case "truncate": truncate(&cursor)
        case "reindex": reindex(&cursor)
        case "refresh": refresh(&cursor)
        case "cluster": rewrite("CLUSTER", &cursor)
        case "vacuum":
            refuseInTransaction("VACUUM")
            if cursor.tokens.contains(where: { $0.isWord("full") }) { rewrite("VACUUM FULL", &cursor) }
        case "lock":
            _ = cursor.take("table")
            let names = cursor.names()
            // Without a mode it is the strongest one.
            let isExclusive = !cursor.isAt("in") || cursor.isAt("in", "access", "exclusive")
            for name in names where !cursor.isAt("in", "access", "share") {
                lock(name, line: cursor.line, isExclusive: isExclusive)
            }
        case "set", "reset": locks.readSetting(&cursor, isSet: verb == "set", isTransaction: file.isTransaction)
        default: break
        }
    }

    private mutating func create(_ cursor: inout StatementCursor) {
        let isReplacement = cursor.take("or", "replace")
        while cursor.take(oneOf: ["global", "local", "temporary", "temp", "unlogged", "recursive", "constraint"]) != nil
        {}
        if cursor.take("unique", "index") || cursor.take("index") { return createIndex(&cursor) }
        if cursor.take("table") { return createTable(&cursor) }
        if cursor.take("function") || cursor.take("procedure") {
            return skip("The statements inside of a function are not looked at.")
        }
        if cursor.take("database") { return refuseInTransaction("CREATE DATABASE") }
        if cursor.take("tablespace") { return refuseInTransaction("CREATE TABLESPACE") }
        if let kind = cursor.take(oneOf: ["trigger", "policy", "rule"]) {
            // A rule is ON an event TO a table.
            while !cursor.isAtEnd, !cursor.take(kind == "rule" ? "to" : "on") { cursor.skip() }
            if let table = cursor.name() { lock(table, line: cursor.line, isExclusive: kind != "trigger") }
            return
        }
        let isMade =
            cursor.take("materialized", "view") || cursor.take("view") || cursor.take("domain") || cursor.take("type")
            || cursor.take("foreign", "table")
        guard isMade, !isReplacement else { return }
        _ = cursor.take("if", "not", "exists")
        if let name = cursor.name() { made.insert(name) }
    }

    private mutating func createTable(_ cursor: inout StatementCursor) {
        _ = cursor.take("if", "not", "exists")
        guard let name = cursor.name() else { return }
        made.insert(name)
        if cursor.take("partition", "of"), let parent = cursor.name() { lock(parent, line: cursor.line) }
    }

    // MARK: Locks

    /// Notes a lock that lasts until the transaction ends, and its consequences.
    ///
    /// - Parameter isExclusive: Whether it keeps other sessions from reading, too.
    mutating func lock(_ name: WrittenName, line: Int, isExclusive: Bool = true) {
        guard !made.contains(name) else { return }
        if !locks.hasTimeout, !locks.isTimeoutMissed {
            locks.isTimeoutMissed = true
            note(
                .noLockTimeout,
                "The lock on \(name) is waited for without a lock_timeout, and all later statements on \(name) wait behind it.",
                line: line, on: name)
        }
        if file.isTransaction, !locks.areSeveral, let other = locks.other(than: name, before: place) {
            locks.areSeveral = true
            note(
                .severalLocks,
                "The lock on \(name) is waited for while that on \(other.name) of line \(other.line) is held.",
                line: line,
                on: name)
        }
        locks.add(.init(name: name, line: start + line, place: place, isExclusive: isExclusive))
    }

    /// Notes that the server refuses the statement in a transaction, if the file is one.
    mutating func refuseInTransaction(_ words: String, line: Int = 0, on name: WrittenName? = nil) {
        guard file.isTransaction else { return }
        note(.notInTransaction, "\(words) cannot run in a transaction, and this file is one.", line: line, on: name)
    }
}

extension String {
    /// A problem's message without the place before it, which the finding has.
    fileprivate func withoutPlace(_ file: String, _ line: Int?) -> String {
        let place = file + (line.map { ":\($0)" } ?? "") + ": "
        return hasPrefix(place) ? String(dropFirst(place.count)) : self
    }
}
