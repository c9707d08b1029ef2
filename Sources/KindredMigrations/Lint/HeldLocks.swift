import KindredPostgres

/// The locks that a transaction holds on tables that it did not make, and how long it waits for them.
struct HeldLocks: Sendable {
    struct Lock: Sendable {
        let name: WrittenName
        /// The line in the file.
        let line: Int
        /// The place of the statement that took it.
        let place: Int
        /// Whether it keeps other sessions from reading, too.
        let isExclusive: Bool
    }

    private var held: [Lock] = []
    /// Whether the wait for a lock has a limit.
    private(set) var hasTimeout = false
    /// Whether it was said that there is no timeout, that there are several locks, or that rows are changed under a
    /// lock: once in a file is enough.
    var isTimeoutMissed = false
    var areSeveral = false
    var isWorkFound = false

    /// The lock that keeps other sessions from reading.
    var exclusive: Lock? { held.first(where: \.isExclusive) }

    /// The lock on a table, which an earlier statement or action took.
    func lock(on name: WrittenName) -> Lock? { held.first { $0.name.mayBe(name) } }

    /// The lock of an earlier statement on another table, if there is no lock on this table yet.
    func other(than name: WrittenName, before place: Int) -> Lock? {
        guard lock(on: name) == nil else { return nil }
        return held.first { $0.place < place }
    }

    mutating func add(_ lock: Lock) {
        // One lock of each kind is enough.
        guard !held.contains(where: { $0.name.mayBe(lock.name) && ($0.isExclusive || !lock.isExclusive) }) else {
            return
        }
        held.append(lock)
    }

    mutating func end() { held = [] }

    /// Reads SET and RESET of `lock_timeout`.
    mutating func readSetting(_ cursor: inout StatementCursor, isSet: Bool, isTransaction: Bool) {
        let scope = cursor.take(oneOf: ["session", "local"])
        if cursor.take("all") { return hasTimeout = false }
        guard cursor.take("lock_timeout") else { return }
        // Outside of a transaction LOCAL sets nothing.
        if scope == "local", !isTransaction { return }
        guard isSet, cursor.take("to") || cursor.take(sign: "=") else { return hasTimeout = false }
        hasTimeout = !["0", "default"].contains(cursor.tokens.first?.text ?? "")
    }

    /// Reads a call of `set_config`.
    mutating func readSetting(_ tokens: ArraySlice<SQLToken>) {
        let isCall = zip(tokens, tokens.dropFirst(2)).contains { call, name in
            call.isWord("set_config") && name.kind == .text && name.text == "lock_timeout"
        }
        if isCall { hasTimeout = true }
    }
}
