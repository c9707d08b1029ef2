public import Logging
import Synchronization

/// A pool of connections to a PostgreSQL database.
///
/// Statements of many tasks share connections: each is sent by the task that makes it, answered in turn, and has its own
/// fate. A transaction has a connection of its own and is bound to its task.
///
/// ```swift
/// let client = try await PostgresClient.connect(try PostgresConfiguration(uri: "postgres://localhost/shop"))
/// let rows = try await client.query("SELECT name FROM person WHERE id = \(id)")
/// ```
public final class PostgresClient: Sendable {
    /// What the client was made with.
    public let configuration: PostgresConfiguration
    let pool: ConnectionPool
    private let logger: Logger?
    /// In which format the results of raw statements can be read, by their text.
    private let formats = Mutex<[StatementText: PostgresFormat]>([:])

    private init(_ configuration: PostgresConfiguration, _ logger: Logger?) throws {
        self.configuration = configuration
        self.logger = logger
        pool = try ConnectionPool(configuration, logger: logger)
    }

    /// Opens a first connection, so that a wrong address or password is found out here.
    ///
    /// Throws `PostgresError` `.invalidConfiguration` before anything is sent, `.connectionFailed` with a reason for each
    /// address tried.
    public static func connect(
        _ configuration: PostgresConfiguration,
        logger: Logger? = nil
    ) async throws -> PostgresClient {
        let client = try PostgresClient(configuration, logger)
        try await client.pool.openFirst()
        return client
    }

    /// What the pool holds now, and what it has done so far.
    public var metrics: PoolMetrics { pool.metrics }

    /// What is known of the database's own types.
    package var types: TypeRegistry { pool.types }

    /// Takes no more work, lets running statements finish until the timeout, and closes every connection.
    public func close(timeout: Duration = .seconds(5)) async {
        await pool.close(timeout: timeout)
    }

    /// Runs a statement: in the task's transaction if there is one, else on a connection that others may share.
    ///
    /// - Parameter timeout: after which the statement is cancelled; nil is the configuration's.
    /// - Throws: `PostgresError`: `.server` with its SQLSTATE, `.timeout`, `.poolTimeout`, `.connectionLost`;
    ///   `CancellationError` if the task is cancelled, which stops the server's work too.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil) async throws -> QueryResult {
        try await execute(try sql.statement(), timeout: timeout)
    }

    /// Runs a statement.
    package func execute(_ statement: Statement, timeout: Duration? = nil) async throws -> QueryResult {
        try await executeBatch([statement], timeout: timeout)[0]
    }

    /// Runs statements under one Sync, in one round trip: outside a transaction they take effect together or not at all.
    ///
    /// Throws the first error.
    package func executeBatch(_ statements: [Statement], timeout: Duration? = nil) async throws -> [QueryResult] {
        guard !statements.isEmpty else { return [] }
        var statements = statements
        for index in statements.indices where statements[index].resultFormat == nil {
            statements[index].resultFormat = try await format(of: statements[index])
        }
        let start = monotonicNow()
        do {
            let results = try await run(.statements(statements), deadline: deadline(timeout))
            observe(statements, start, results.map { max($0.count, $0.affectedRows) }, nil)
            return results
        } catch {
            observe(statements, start, [], error)
            throw error
        }
    }

    /// Runs a script of several statements in the simple protocol, on a connection of its own.
    ///
    /// Nothing can be bound in it; for fixtures and installers, never with text that anybody else chose.
    package func runScript(_ text: String) async throws {
        try await withLease { connection in
            _ = try await connection.run(.script(text), deadline: .max)
        }
    }

    /// The task's own transaction on this client.
    var currentTransaction: PostgresTransaction? {
        var scope = PostgresTransaction.current
        while let found = scope {
            if found.client === self { return found }
            scope = found.outer
        }
        return nil
    }

    /// Whether the task is in a transaction of this client.
    package var isInTransaction: Bool { currentTransaction != nil }

    /// Runs requests where the task is: in its transaction, or on a shared connection.
    private func run(_ content: Request.Content, deadline: UInt64) async throws -> [QueryResult] {
        if let transaction = currentTransaction { return try await transaction.run(content, deadline: deadline) }
        if let lease = Lease.current, lease.client === self {
            return try await lease.connection.run(content, deadline: deadline)
        }
        var mayHeal = true
        while true {
            let connection = try await pool.acquire(.shared)
            defer { pool.releaseShared(connection) }
            do {
                return try await connection.run(content, deadline: deadline)
            } catch let error as PostgresError where mayHeal && error.isHealed {
                // The connection has forgotten the statement, and nothing was done: prepared anew it will work.
                mayHeal = false
            }
        }
    }

    private func deadline(_ timeout: Duration?) -> UInt64 {
        guard let limit = timeout ?? configuration.statementTimeout else { return .max }
        return monotonicNow() &+ limit.nanoseconds
    }

    /// Binary, or text if a column of the result is of a type without a codec; asked of the server once per text.
    private func format(of statement: Statement) async throws -> PostgresFormat {
        if let known = formats.withLock({ $0[statement.text] }) { return known }
        let content = Request.Content.describe(statement.text, types: statement.bindings.slots.map(\.type))
        do {
            let description = try await run(content, deadline: deadline(nil))
            let isKnown = description.first?.columns.allSatisfy { types.isKnown($0.dataType) } ?? true
            let format: PostgresFormat = isKnown ? .binary : .text
            formats.withLock { formats in
                if formats.count >= 1_000 { formats.removeAll() }
                formats[statement.text] = format
            }
            return format
        } catch {
            observe([statement], monotonicNow(), [], error)
            throw error
        }
    }

    func observe(
        _ statements: [Statement],
        _ start: UInt64,
        _ rows: [Int],
        _ error: (any Error)?,
        kind: StatementEvent.Kind = .statement
    ) {
        let recorder = StatementRecorder.current
        let isLogged = logger.map { $0.logLevel <= .trace } ?? false
        guard recorder != nil || isLogged else { return }
        let duration = Duration.nanoseconds(Int64(clamping: monotonicNow() - start))
        for (index, statement) in statements.enumerated() {
            let event = StatementEvent(
                sql: statement.text.text,
                kind: kind,
                duration: duration,
                rows: rows.indices.contains(index) ? rows[index] : nil,
                error: error as? PostgresError
            )
            recorder?.record(event)
            logger?.trace(
                "\(event.sql)",
                metadata: ["duration": "\(duration)", "rows": "\(event.rows.map(String.init) ?? "failed")"]
            )
        }
    }
}

extension PostgresError {
    /// Whether the statement failed only because the connection's idea of it was out of date, and would work if it were
    /// prepared anew: its name is gone, its result has another shape, or a type was made anew.
    var isHealed: Bool {
        switch sqlState {
        case .invalidStatementName?: true
        case .featureNotSupported?: server?.message.contains("cached plan") ?? false
        case .internalError?: server?.message.hasPrefix("cache lookup failed for type") ?? false
        default: false
        }
    }
}
