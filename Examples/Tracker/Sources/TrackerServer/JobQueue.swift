public import Kindred
import KindredLive
public import Logging
public import ServiceLifecycle
public import TrackerModels

/// Jobs of the table `job`, each done once, by any number of workers in any number of processes.
///
/// A worker takes a job by locking its row, and does it in the same transaction: its writes and the end of the job are committed
/// together. If the worker dies, the server rolls back, and another worker takes the job. A job that fails waits longer each time,
/// and stays in the table with its problem after five attempts.
public struct JobQueue: Service {
    /// Does a job of a kind; what it writes by the context is committed with the job's end.
    public typealias Handler = @Sendable (_ job: Job, _ context: DatabaseContext) async throws -> Void

    private static let maximumAttempts = 5

    let database: Database
    let handlers: [String: Handler]
    let logger: Logger

    /// - Parameters:
    ///   - database: a database without required settings, whose changes of `job` are recorded: `kindred enable job`.
    ///   - handlers: what is done, by the jobs' kinds.
    public init(database: Database, handlers: [String: Handler], logger: Logger) {
        (self.database, self.handlers, self.logger) = (database, handlers, logger)
    }

    /// Does jobs as they come, until the task is cancelled or the program shuts down.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            // A look at once, at each change, and every five seconds for the jobs that wait.
            let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        for try await _ in try await database.makeContext().changes(of: Job.self) { look.yield() }
                    } catch {
                        logger.warning("New jobs wait for the next look", metadata: ["error": "\(error)"])
                    }
                }
                group.addTask {
                    while !Task.isCancelled {
                        look.yield()
                        try? await Task.sleep(for: .seconds(5))
                    }
                }
                for await _ in looks { await workUntilNothingIsDue() }
                group.cancelAll()
            }
        }
    }

    private func workUntilNothingIsDue() async {
        do {
            while try await work() {}
        } catch {
            logger.warning("A job could not be taken or ended", metadata: ["error": "\(error)"])
        }
    }

    /// Does one job that is due; returns whether there was one.
    func work() async throws -> Bool {
        try await database.withContext { context in
            try await context.transaction {
                let due = try context.fetch(Job.self)
                    .where { $0.runAt <= .now && $0.attempts < Self.maximumAttempts }
                    .sorted { $0.runAt }.limit(1).lock(.forUpdate, .skipLocked)
                guard let job = try await due.all().first else { return false }
                do {
                    guard let handler = handlers[job.kind] else { throw NoHandler(kind: job.kind) }
                    // A savepoint: what a job that fails has written goes, and its attempt stays.
                    try await context.transaction { try await handler(job, context) }
                    try await context.delete(job)
                } catch {
                    try Task.checkCancellation()
                    job.attempts += 1
                    job.problem = "\(error)"
                    let pause = PostgresInterval(microseconds: 1_000_000 << Int64(min(job.attempts, 20)))
                    job.runAt = PostgresTimestamp.now.adding(pause) ?? .infinity
                    try await context.save()
                }
                return true
            }
        }
    }
}

/// A job of a kind that this version of the program does not know; a later one may.
struct NoHandler: Error {
    let kind: String
}
