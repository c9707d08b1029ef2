import Synchronization

/// What a task and its children have sent; made by ``recordingStatements(_:)``.
public final class StatementRecorder: Sendable {
    @TaskLocal static var ofTask: StatementRecorder?

    /// Whether there has been a recorder in this process: most have none, and need not ask the task with each statement.
    private static let wasMade = Atomic(false)

    /// The task's recorder.
    static var current: StatementRecorder? { wasMade.load(ordering: .relaxed) ? ofTask : nil }

    private let events = Mutex<[StatementEvent]>([])
    private let outer: StatementRecorder?
    /// Where there is a limit nothing is kept.
    private let limit: StatementLimit?

    init(within outer: StatementRecorder?, limit: StatementLimit? = nil) {
        self.outer = outer
        self.limit = limit
        Self.wasMade.store(true, ordering: .relaxed)
    }

    /// Everything, in the order in which the answers came.
    public var all: [StatementEvent] { events.withLock { $0 } }

    /// The texts, without transaction control.
    public var statements: [String] { all.filter { $0.kind == .statement }.map(\.sql) }

    func record(_ event: StatementEvent) {
        if limit == nil { events.withLock { $0.append(event) } }
        outer?.record(event)
    }

    /// Throws if a limit around the task does not let it send these statements.
    func admit(_ statements: [Statement]) throws {
        try limit?.admit(statements)
        try outer?.admit(statements)
    }
}

/// Runs `body` and returns, beside its result, the statements that it and its child tasks have sent.
///
/// For tests and tools: `let (people, recorder) = try await recordingStatements { try await request.all() }`.
public func recordingStatements<T>(_ body: () async throws -> T) async rethrows -> (T, StatementRecorder) {
    let recorder = StatementRecorder(within: StatementRecorder.current)
    let result = try await StatementRecorder.$ofTask.withValue(recorder, operation: body)
    return (result, recorder)
}
