import Synchronization

// The settings that a transaction runs with: the settings of the first context that sends in it, for all of its
// statements. A savepoint that may have settings of its own is like a transaction in this.
//
// They are made behind the BEGIN or the SAVEPOINT of the scope that sends next, and while its opening is in flight
// other statements wait anyway. Settings that a savepoint has made stay when it is released; its rollback takes them
// back, so that the next statement of the scope around it makes them again.
extension PostgresTransaction {
    /// The scope whose settings hold here: the transaction itself, or a savepoint that may have its own.
    private var root: PostgresTransaction { isRoot ? self : outer?.root ?? self }

    private var isRoot: Bool { depth == 0 || mayHaveOwnSettings }

    /// Has the transaction run with settings, from its next statement on.
    ///
    /// Throws `PostgresError` `.settingsDiffer` if it runs with other settings.
    func adopt(_ settings: SessionSettings) throws {
        let root = root
        let known = root.state.withLock { state in
            if state.settings == nil { state.settings = settings }
            return state.settings
        }
        guard known == settings else { throw PostgresError.settingsDiffer }
        if settings.statement != nil { root.hasSettings.store(true, ordering: .releasing) }
    }

    /// The statements that make the transaction's settings; none if it has none, or if they are made in this scope or around it.
    ///
    /// - Parameter state: the scope's own, whose lock is held.
    func takeSettings(_ state: inout TransactionState) -> [Statement] {
        guard state.making == .unsent else { return [] }
        let root = root
        guard root.hasSettings.load(ordering: .acquiring) else { return [] }
        // Lock order: from the inner scope to the outer one.
        if !isRoot, outer?.hasMadeSettings == true {
            state.making = .done
            return []
        }
        state.making = .sent
        return (root === self ? state.settings : root.state.withLock { $0.settings })?.statements ?? []
    }

    /// How many statements make the settings.
    var settingStatementCount: Int { root.state.withLock { $0.settings }?.statements.count ?? 0 }

    /// Whether the settings are made in this scope, or around it.
    private var hasMadeSettings: Bool {
        state.withLock { $0.making == .done } || !isRoot && outer?.hasMadeSettings == true
    }

    /// Notes that a savepoint inside was released: the settings that it has made stay.
    func keepSettings(of savepoint: PostgresTransaction) {
        guard root.hasSettings.load(ordering: .acquiring), savepoint.hasMadeSettings else { return }
        state.withLock { $0.making = .done }
    }
}
