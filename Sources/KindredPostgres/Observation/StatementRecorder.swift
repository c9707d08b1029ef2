import Synchronization

/// The statements of a task and its children; made by ``recordingStatements(_:)``.
public final class StatementRecorder: Sendable {
    @TaskLocal static var ofTask: StatementRecorder?

    /// Whether the process ever made a recorder; if not, statements skip the task-local look-up.
    private static let wasMade = Atomic(false)

    /// The task's recorder.
    static var current: StatementRecorder? { wasMade.load(ordering: .relaxed) ? ofTask : nil }

    private let events = RankedMutex<[StatementEvent]>([], .leaf)
    private let outer: StatementRecorder?
    /// A recorder for a limit keeps no events.
    private let limit: StatementLimit?

    init(within outer: StatementRecorder?, limit: StatementLimit? = nil) {
        self.outer = outer
        self.limit = limit
        Self.wasMade.store(true, ordering: .relaxed)
    }

    /// All events, in the order of the answers.
    public var all: [StatementEvent] { events.withLock { $0 } }

    /// The texts, without transaction control.
    public var statements: [String] { all.filter { $0.kind == .statement }.map(\.sql) }

    func record(_ event: StatementEvent) {
        if limit == nil { events.withLock { $0.append(event) } }
        outer?.record(event)
    }

    /// Throws past a limit around the task.
    func admit(_ statements: [Statement]) throws {
        try limit?.admit(statements)
        try outer?.admit(statements)
    }
}

/// Runs `body`; returns its result and the statements that it and its child tasks sent.
///
/// For tests and tools: `let (people, recorder) = try await recordingStatements { try await request.all() }`.
public func recordingStatements<T>(_ body: () async throws -> T) async rethrows -> (T, StatementRecorder) {
    let recorder = StatementRecorder(within: StatementRecorder.current)
    let result = try await StatementRecorder.$ofTask.withValue(recorder, operation: body)
    return (result, recorder)
}
