import KindredPostgres

// In the order in which a thread takes the locks; the connection layer's locks come behind.
extension LockRank {
    static var fetchGroup: LockRank { LockRank(1, "FetchGroup") }
    static var stagedChanges: LockRank { LockRank(2, "ContextCore.staged") }
    static var identityMap: LockRank { LockRank(3, "ContextCore.map") }
    /// From a savepoint's journal to the journal of the scope around it.
    static var transactionJournal: LockRank { LockRank(4, "TransactionJournal", isChained: true) }
    static var runningJournals: LockRank { LockRank(5, "RunningJournals") }
    static var objectState: LockRank { LockRank(6, "an object's state") }

    // Taken under any other: an object is asked for its context, and an object's `deinit` may run anywhere.
    static var heldContext: LockRank { LockRank(25, "ContextCore.held") }
    static var mistakeLog: LockRank { LockRank(26, "MistakeLog") }
    static var objectReferences: LockRank { LockRank(27, "ObjectReferences") }
}
