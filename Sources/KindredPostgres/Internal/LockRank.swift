/// The place of a lock in the order in which a thread takes locks: while it holds a lock, it takes only locks of higher
/// ranks.
///
/// Two threads that take two locks in different orders can wait for each other forever. ARCHITECTURE.md says which
/// locks there are; the ranks of locks that are held together stand here, and in `LockRank+Kindred.swift`.
@usableFromInline
package struct LockRank: Sendable {
    /// Below 32: the ranks that a thread holds are the bits of a word.
    @usableFromInline package let order: Int
    @usableFromInline package let name: StaticString
    /// Whether several locks of this rank are held together: locks of a chain of objects, always taken from its one end
    /// to the other.
    @usableFromInline package let isChained: Bool

    @inlinable
    package init(_ order: Int, _ name: StaticString, isChained: Bool = false) {
        self.order = order
        self.name = name
        self.isChained = isChained
    }
}

extension LockRank {
    static var leaseGate: LockRank { LockRank(12, "LeaseGate") }
    /// From a savepoint's scope to the scope around it.
    static var transactionScope: LockRank { LockRank(13, "PostgresTransaction", isChained: true) }
    static var connectionState: LockRank { LockRank(14, "PooledConnection.driver") }
    static var connectionInbox: LockRank { LockRank(15, "PooledConnection.inbox") }
    static var poller: LockRank { LockRank(16, "Poller") }
    /// Under it a listener's queues get the kept notifications, so that later notifications cannot overtake it.
    static var notificationGate: LockRank { LockRank(17, "NotificationGate") }
    /// The rank of locks under which only a text's lock is taken.
    @inlinable package static var leaf: LockRank { LockRank(24, "a leaf") }
    /// The lock of the queue of tasks, which is taken to resume a task.
    static var executor: LockRank { LockRank(30, "PostgresExecutor") }
    /// The rank of locks on texts that are rendered once, which may be needed under every other lock.
    @inlinable package static var text: LockRank { LockRank(29, "a text") }
}

/// The ranks of the locks that a thread holds.
package struct HeldRanks {
    package private(set) var bits: UInt

    package init(bits: UInt = 0) {
        self.bits = bits
    }

    /// Whether a lock may be taken, without waiting for a thread that may wait for the present thread.
    package func allow(_ rank: LockRank) -> Bool {
        bits >> (rank.isChained ? rank.order + 1 : rank.order) == 0
    }

    /// The ranks, for messages.
    var orders: [Int] {
        (0..<UInt.bitWidth).filter { bits >> $0 & 1 == 1 }
    }

    /// These ranks with a further rank.
    package func adding(_ rank: LockRank) -> HeldRanks {
        HeldRanks(bits: bits | 1 << rank.order)
    }
}
