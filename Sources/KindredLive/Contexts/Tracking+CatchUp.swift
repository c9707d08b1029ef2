public import Kindred
import Synchronization

extension Tracking {
    /// Returns when all changes that were committed before the call have reached every context and live request of the
    /// process.
    ///
    /// The next `next()` of a sequence gives it; a consumer that does not ask is not waited for. Returns at once where
    /// nothing follows changes. Throws `CancellationError`, or the error for which changes cannot be read. As long as
    /// changes do not reach a context with loaded objects, such as a context whose table has lost its key, it throws
    /// the error for which they do not.
    public func catchUp() async throws {
        guard let database else { return }
        try await database.changeReader.catchUp()
        for follower in database.live.contextFollowers.withLock({ $0.objects }) {
            if let failure = (follower as? ContextFollower)?.failure { throw failure }
        }
    }
}
