import HarmlessText
import Logging
import Synchronization

/// The plans of slow statements: each text once, one after the other.
final class SlowStatementPlans: Sendable {
    private struct State {
        /// The texts that were planned, or wait for it.
        var known: Set<ServerText> = []
        var waiting: [String] = []
        var isAtWork = false
    }

    /// Programs that write values into their texts have no end of them.
    private static let maximumTexts = 1_000

    /// Whether the task's statements make a plan: they are not logged themselves.
    @TaskLocal static var isPlanning = false

    private let state = RankedMutex(State(), .leaf)
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Plans a statement in a task of its own, or after the plan that is made now.
    ///
    /// - Parameter plan: asks the server; nil once the client is gone.
    func take(_ sql: String, _ plan: @escaping @Sendable (String) async throws -> String?) {
        let isFirst = state.withLock { state in
            guard state.known.count < Self.maximumTexts, Self.isPlanned(sql),
                state.known.insert(ServerText(sql)).inserted
            else { return false }
            state.waiting.append(sql)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard isFirst else { return }
        // Detached: it has no part in the transaction and the limits of the task whose statement was slow.
        Task.detached { [self] in
            while let sql = next() { await Self.$isPlanning.withValue(true) { await log(sql, plan) } }
        }
    }

    private func next() -> String? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isAtWork = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Whether EXPLAIN takes a text.
    private static func isPlanned(_ sql: String) -> Bool {
        let first = sql.drop { $0.isWhitespace || $0 == "(" }.prefix { !$0.isWhitespace }.uppercased()
        return ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES"].contains(first)
    }

    private func log(_ sql: String, _ plan: (String) async throws -> String?) async {
        var metadata: Logger.Metadata = ["statement": "\(sql.harmlessLines())"]
        do {
            guard let plan = try await plan(sql) else { return }
            metadata["plan"] = "\(plan.harmlessLines())"
            logger.warning("The plan of a statement that took long", metadata: metadata)
        } catch {
            // A text by itself may leave the types of its values open.
            let reason = (error as? PostgresError)?.message ?? "\(error)"
            metadata["reason"] = "\(reason.harmlessLines())"
            logger.info("A statement that took long cannot be planned without its values", metadata: metadata)
        }
    }
}
