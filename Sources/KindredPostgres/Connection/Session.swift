import CLibPQ
import DequeModule

/// One libpq connection in pipeline mode and what has been sent over it.
///
/// Lives inside a connection's mutex.
///
/// Requests are answered in the order in which they were sent. `receive` takes in what has arrived and returns the
/// requests that are complete; it never blocks.
struct Session {
    /// What the next result belongs to.
    private enum Expected {
        case prepare(StatementCache.Key)
        case statement(Int, StatementCache.Entry?)
        case description
        case deallocate
        case script
    }

    private struct InFlight {
        let request: Request
        var expected: Deque<Expected>
        var results: [QueryResult] = []
        var error: PostgresError?
        /// Why it was cancelled, if it was.
        var interruption: Interruption?
    }

    /// Why a request is being cancelled.
    enum Interruption {
        case task
        case deadline
    }

    typealias Completion = (request: Request, result: Result<[QueryResult], any Error>)

    let handle: OpaquePointer
    let types: TypeRegistry
    private var cache: StatementCache
    private var inFlight: Deque<InFlight> = []
    private(set) var isDead = false
    /// A cancel is on its way to the server: a statement that it hits by mistake is sent again.
    var isCancelling = false

    init(handle: OpaquePointer, types: TypeRegistry, cacheCapacity: Int) {
        self.handle = handle
        self.types = types
        cache = StatementCache(capacity: cacheCapacity)
    }

    var count: Int { inFlight.count }

    /// Whether the session can go back to the pool: nothing in flight, no transaction open.
    var isClean: Bool { !isDead && inFlight.isEmpty && !isCancelling && PQtransactionStatus(handle) == PQTRANS_IDLE }

    var isInTransaction: Bool {
        let status = PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    /// The earliest deadline of what is in flight.
    var nextDeadline: UInt64? {
        inFlight.lazy.filter { $0.interruption == nil }.map(\.request.deadline).min().flatMap { $0 == .max ? nil : $0 }
    }

    /// The requests whose time is over.
    func late(_ now: UInt64) -> [Request] {
        inFlight.lazy.filter { $0.interruption == nil && $0.request.deadline <= now }.map(\.request)
    }

    /// Marks a request as to be cancelled; true if the server is working on it now.
    mutating func interrupt(_ request: Request, _ why: Interruption) -> Bool {
        guard let position = inFlight.firstIndex(where: { $0.request === request }) else { return false }
        if inFlight[position].interruption == nil { inFlight[position].interruption = why }
        return position == 0
    }

    /// Whether the request that the server is working on was interrupted while it waited for its turn.
    var headIsInterrupted: Bool { inFlight.first?.interruption != nil }

    /// Queues a request and hands it to libpq.
    ///
    /// Throws if the connection is gone, and then nothing was sent.
    mutating func send(_ request: Request) throws(PostgresError) {
        guard !isDead, PQstatus(handle) == CONNECTION_OK else { throw Session.gone }
        var flight = InFlight(request: request, expected: [])
        switch request.content {
        case .statements(let statements):
            for (position, statement) in statements.enumerated() {
                try sendStatement(statement, position, &flight.expected)
            }
        case .describe(let text, let types):
            guard prepare("", text, types), PQsendDescribePrepared(handle, "") == 1 else { throw failedToSend() }
            flight.expected = [.deallocate, .description]
        case .script(let text):
            // The simple protocol is the only one that takes several statements; it needs the connection to itself.
            guard inFlight.isEmpty, PQexitPipelineMode(handle) == 1, PQsendQuery(handle, text) == 1 else {
                throw failedToSend()
            }
            flight.expected = [.script]
            inFlight.append(flight)
            return
        }
        guard PQpipelineSync(handle) == 1 else { throw failedToSend() }
        inFlight.append(flight)
    }

    /// Sends what libpq has buffered; true if something is left to be sent when there is room.
    mutating func flush() -> Bool {
        switch PQflush(handle) {
        case 0: return false
        case 1: return true
        default:
            // The answer that explains the failure may have arrived: reading finds out.
            return false
        }
    }

    private mutating func sendStatement(
        _ statement: Statement,
        _ position: Int,
        _ expected: inout Deque<Expected>
    ) throws(PostgresError) {
        let slots = statement.bindings.slots
        let key = StatementCache.Key(text: statement.text, types: slots.map(\.type))
        let format: Int32 = statement.resultFormat == .text ? 0 : 1
        var entry: StatementCache.Entry?
        if !cache.isOff {
            entry = cache.entry(key)
            if entry == nil {
                let (new, evicted) = cache.insert(key)
                if let evicted {
                    guard PQsendQueryParams(handle, "DEALLOCATE \(evicted)", 0, nil, nil, nil, nil, 0) == 1 else {
                        throw failedToSend()
                    }
                    expected.append(.deallocate)
                }
                guard prepare(new.name, statement.text, key.types) else { throw failedToSend() }
                expected.append(.prepare(key))
                entry = new
            }
        }
        let count = Int32(slots.count)
        let sent = statement.bindings.withCArrays { types, values, lengths, formats in
            if let entry {
                PQsendQueryPrepared(handle, entry.name, count, values, lengths, formats, format)
            } else {
                PQsendQueryParams(handle, statement.text.text, count, types, values, lengths, formats, format)
            }
        }
        guard sent == 1 else { throw failedToSend() }
        expected.append(.statement(position, entry))
    }

    private func prepare(_ name: String, _ text: StatementText, _ types: [PostgresDataType]) -> Bool {
        types.map(\.rawValue).withUnsafeBufferPointer {
            PQsendPrepare(handle, name, text.text, Int32($0.count), $0.baseAddress) == 1
        }
    }

    /// libpq refused a request: what it has buffered cannot be taken back, so the connection is given up.
    private mutating func failedToSend() -> PostgresError {
        isDead = true
        return PostgresError(
            .connectionLost,
            "The connection could not take the statement: \(LibPQ.firstLine(LibPQ.connectionMessage(handle)))"
        )
    }

    static var gone: PostgresError {
        PostgresError(.connectionLost, "The connection to the server is gone")
    }
}

extension Session {
    /// Takes in what has arrived; returns the requests that are complete now, or all of them if the connection ended.
    mutating func receive() -> [Completion] {
        guard !isDead else { return abandon(Session.gone) }
        var completions: [Completion] = []
        let isReadable = PQconsumeInput(handle) == 1
        var nulls = 0
        while !inFlight.isEmpty && nulls < 2 && PQisBusy(handle) == 0 {
            guard let result = PQgetResult(handle) else {
                nulls += 1
                if case .script? = inFlight[0].expected.first {
                    // The end of a script: back to pipeline mode.
                    if PQstatus(handle) == CONNECTION_OK { PQenterPipelineMode(handle) }
                    completions.append(complete())
                }
                continue
            }
            nulls = 0
            if PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                PQclear(result)
                completions.append(complete())
            } else {
                take(result)
            }
        }
        if !isReadable || PQstatus(handle) == CONNECTION_BAD || isDead {
            let text = LibPQ.firstLine(LibPQ.connectionMessage(handle))
            completions += abandon(PostgresError(.connectionLost, "The connection to the server ended: \(text)"))
        }
        return completions
    }

    private mutating func take(_ result: OpaquePointer) {
        let step = inFlight[0].expected.first
        if case .script? = step {} else { _ = inFlight[0].expected.popFirst() }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            switch step {
            case .statement(_, let entry):
                let query = QueryResult(taking: result, columns: entry?.columns, types: types)
                entry?.columns = query.columns
                inFlight[0].results.append(query)
                return
            case .description, .script:
                inFlight[0].results.append(QueryResult(taking: result, types: types))
                return
            case .prepare, .deallocate, nil:
                break
            }
        case PGRES_PIPELINE_ABORTED:
            if case .prepare(let key) = step { _ = cache.remove(key) }
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            isDead = true
            fail(PostgresError(.protocolViolation, "COPY cannot be run as a statement", statement: text(of: step)))
        default:
            fail(LibPQ.error(result, statement: text(of: step)))
            if case .prepare(let key) = step { _ = cache.remove(key) }
            heal(step)
        }
        PQclear(result)
    }

    /// Forgets prepared statements that the server no longer knows, or whose result has changed its shape.
    private mutating func heal(_ step: Expected?) {
        guard case .statement(let position, _?) = step, let state = inFlight[0].error?.sqlState,
            case .statements(let statements) = inFlight[0].request.content
        else { return }
        if state == .invalidStatementName || state == .featureNotSupported || state == .internalError {
            let statement = statements[position]
            let key = StatementCache.Key(text: statement.text, types: statement.bindings.slots.map(\.type))
            _ = cache.remove(key)
            if state == .invalidStatementName { cache.removeAll() }
        }
    }

    private func text(of step: Expected?) -> String? {
        switch step {
        case .statement(let position, _): inFlight[0].request.text(at: position)
        case .prepare(let key): key.text.text
        default: inFlight[0].request.text(at: 0)
        }
    }

    /// The first error of a request is its error; what follows is a consequence.
    private mutating func fail(_ error: PostgresError) {
        if inFlight[0].error == nil { inFlight[0].error = error }
    }

    private mutating func complete() -> Completion {
        let flight = inFlight.removeFirst()
        return (flight.request, result(of: flight))
    }

    private func result(of flight: InFlight) -> Result<[QueryResult], any Error> {
        guard let error = flight.error else { return .success(flight.results) }
        guard error.sqlState == .queryCanceled else { return .failure(error) }
        switch flight.interruption {
        case .task: return .failure(CancellationError())
        case .deadline:
            return .failure(
                PostgresError(
                    .timeout,
                    "The statement took longer than allowed and was cancelled",
                    sqlState: error.sqlState,
                    server: error.server,
                    statement: error.statement
                )
            )
        case nil: return .failure(error)
        }
    }

    /// Ends everything in flight: what the server said last counts for the first, the others were not answered.
    mutating func abandon(_ error: PostgresError) -> [Completion] {
        isDead = true
        let flights = inFlight
        inFlight = []
        return flights.map { flight in
            if flight.interruption == .task { return (flight.request, .failure(CancellationError())) }
            return (flight.request, .failure(flight.error ?? error.of(statement: flight.request.text(at: 0))))
        }
    }
}
