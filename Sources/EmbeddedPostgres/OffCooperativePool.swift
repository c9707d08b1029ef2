import Dispatch

/// Runs short blocking work (files, the user database) on a thread of Dispatch instead of Swift's few.
func offCooperativePool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
}
