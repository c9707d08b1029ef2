import Dispatch

/// Runs short blocking work (files, the user database) on a Dispatch thread: it must not block Swift's cooperative pool.
func offCooperativePool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
}
