import KindredPostgres
import Synchronization

// Work that waits for the end of a transaction, such as telling other processes of it.
extension TransactionJournal {
    /// Has something done after the end, however it comes; where a savepoint is kept, after the end of the scope around it.
    package func atEnd(_ body: @escaping @Sendable () async -> Void) { endings.withLock { $0.append(body) } }

    /// Runs the work that waits for the end.
    func runEndings() async {
        for body in takeEndings() { await body() }
    }

    func moveEndings(to outer: TransactionJournal) {
        let endings = takeEndings()
        outer.endings.withLock { $0 += endings }
    }

    private func takeEndings() -> [@Sendable () async -> Void] {
        endings.withLock { endings in
            defer { endings = [] }
            return endings
        }
    }
}
