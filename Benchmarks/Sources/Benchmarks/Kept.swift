import Synchronization

/// A value that a run needs or leaves, made or let go between runs, where it is neither measured nor counted.
final class Kept<Value: Sendable>: Sendable {
    private let kept = Mutex<Value?>(nil)

    var value: Value? { kept.withLock { $0 } }

    func keep(_ value: Value) { kept.withLock { $0 = value } }

    func take() -> Value? { kept.withLock { $0.take() } }
}
