import KindredPostgres

/// One statement of a change of schemas, and its consequences for a database that is in use.
public struct SchemaStatement: Sendable, Hashable {
    /// The statement, without a semicolon.
    public let sql: String
    /// The strongest lock that it takes on existing objects, with the object: `ACCESS EXCLUSIVE on public.person`; nil
    /// for none.
    public let lock: String?
    /// Whether it writes every row of a table anew.
    public let rewritesTable: Bool
    /// Whether rows or values can be lost.
    public let canLoseData: Bool
    /// A remark, such as when the statement fails.
    public let note: String?

    package init(
        _ sql: String, lock: String? = nil, rewrites: Bool = false, canLoseData: Bool = false, note: String? = nil
    ) {
        self.sql = sql
        self.lock = lock
        self.rewritesTable = rewrites
        self.canLoseData = canLoseData
        self.note = note
    }

    /// Lock, rewriting and loss in a few words.
    public var remarks: String {
        var parts = [lock.map { "\($0)" } ?? "no lock on what is in use"]
        if rewritesTable { parts.append("rewrites the table") }
        if canLoseData { parts.append("CAN LOSE DATA") }
        if let note { parts.append(note) }
        return parts.joined(separator: "; ")
    }
}

/// Statements that run together.
public struct SchemaStep: Sendable, Hashable {
    /// Whether the statements are one transaction; if not, each runs by itself, and none may stand in a transaction.
    public let isTransaction: Bool
    /// The statements, in their order.
    public let statements: [SchemaStatement]

    package init(isTransaction: Bool, statements: [SchemaStatement]) {
        self.isTransaction = isTransaction
        self.statements = statements
    }
}
