#if DEBUG
    import Synchronization

    /// A mutex that ends the process if a thread takes it out of order, which a test would notice only if another thread
    /// happened to take the same locks at the same moment.
    ///
    /// In release builds it is the standard library's `Mutex`.
    package struct RankedMutex<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: Mutex<Value>
        private let rank: LockRank

        package init(_ value: consuming sending Value, _ rank: LockRank) {
            mutex = Mutex(value)
            self.rank = rank
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            let held = HeldRanks.ofThread
            assert(held.allow(rank), "\(rank.name) was locked while locks of the ranks \(held.orders) were held")
            HeldRanks.setOfThread(held.adding(rank))
            defer { HeldRanks.setOfThread(held) }
            return try mutex.withLock(body)
        }

        /// Never waits, so that its place in the order does not matter; the place of locks taken meanwhile does.
        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            let held = HeldRanks.ofThread
            HeldRanks.setOfThread(held.adding(rank))
            defer { HeldRanks.setOfThread(held) }
            return try mutex.withLockIfAvailable(body)
        }

        /// For the `deinit` of the mutex's owner, which may run under any lock: no other thread can hold the mutex.
        package borrowing func withLockInDeinit<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }

    extension HeldRanks {
        /// nil if the process has no key left; the order is not checked then.
        private static let threads = ThreadBits()

        /// The ranks of the locks that the calling thread holds.
        fileprivate static var ofThread: HeldRanks { HeldRanks(bits: threads?.bits ?? 0) }

        fileprivate static func setOfThread(_ ranks: HeldRanks) { threads?.bits = ranks.bits }
    }
#else
    public import Synchronization

    package typealias RankedMutex<Value: ~Copyable> = Mutex<Value>

    extension Mutex where Value: ~Copyable {
        @inlinable
        package init(_ value: consuming sending Value, _ rank: LockRank) { self.init(value) }

        @inlinable
        package borrowing func withLockInDeinit<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try withLock(body)
        }
    }
#endif
