/// A COPY, from the statement to the connection's return.
///
/// Its deinit stops an unfinished COPY and gives the connection back.
final class CopySession: Sendable {
    private let client: PostgresClient
    private let text: String
    private let place: CopyPlace
    private let operation: CopyOperation
    private let id = Request.nextID()
    private let timeout: Duration?
    private let start = MonotonicTime.now

    /// Sends the statement.
    ///
    /// - Parameter timeout: how long to wait for the server each time; nil takes the configuration's.
    static func begin(
        _ text: String, _ direction: CopyOperation.Direction, on client: PostgresClient, timeout: Duration?,
        after refusal: (any Error)? = nil
    ) async throws -> CopySession {
        try client.requireSettings()
        if !client.isInTransaction { try client.route.requireNoSettings() }
        let deadline = client.deadline(timeout)
        let place = try await CopyPlace.find(for: client, by: deadline)
        let session = CopySession(text, direction, on: client, at: place, timeout: timeout)
        // Until the end: the data may be shown before, and may be stored where the end is not known.
        session.question?.forget()
        session.send(by: deadline)
        do {
            try await session.wait(by: deadline) { $0.isOpen }
            guard session.operation.isOpen else {
                throw PostgresError(
                    .invalidParameter, "The COPY has neither STDIN nor STDOUT, so the client has no part in it")
            }
        } catch {
            let error = await session.end(with: session.named(error))
            // No data was sent.
            guard case .own = place, refusal == nil, client.route.mayMove(after: error) else { throw error }
            return try await begin(text, direction, on: client, timeout: timeout, after: error)
        }
        return session
    }

    /// Names the format, where the server refuses the statement for it.
    private func named(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError, text.lowercased().contains("binary") else { return error }
        return error.lacking(.binaryCopy)
    }

    private init(
        _ text: String, _ direction: CopyOperation.Direction, on client: PostgresClient, at place: CopyPlace,
        timeout: Duration?
    ) {
        self.client = client
        self.text = text
        self.place = place
        self.timeout = timeout ?? client.configuration.statementTimeout
        operation = CopyOperation(direction)
    }

    deinit {
        guard operation.result == nil else { return }
        // At once: the task's next request waits for the end instead of being refused.
        if !place.cancelWaiting(id) {
            place.connection.update { [id] driver, effects in driver.stop(id, reason: .cancelled, &effects) }
        }
        place.giveBack(after: operation)
    }

    private func send(by deadline: MonotonicTime) {
        let traits = Request.Traits(isInTransaction: place.isInTransaction)
        place.send(Request(id: id, statements: [], script: text, traits: traits, copy: operation), by: deadline)
    }

    private func stop() {
        if place.cancelWaiting(id) { return }
        place.connection.cancel(id)
    }

    /// Waits for the server; returns early at the COPY's end, and throws if it failed.
    private func wait(
        by deadline: MonotonicTime? = nil, until condition: @escaping @Sendable (CopyOperation.State) -> Bool
    ) async throws {
        setDeadline(deadline ?? timeout.map { MonotonicTime.now + $0 } ?? .never)
        await withTaskCancellationHandler {
            if Task.isCancelled { stop() }
            await operation.wait { $0.result != nil || condition($0) }
        } onCancel: {
            stop()
        }
        setDeadline(.never)
        if case .failure(let error)? = operation.result { throw error }
    }

    private func setDeadline(_ deadline: MonotonicTime) {
        place.connection.update { driver, effects in driver.state.setDeadline(of: id, to: deadline, &effects.state) }
    }

    // MARK: Data

    /// Waits for data; returns nil after the last.
    func read() async throws -> [[UInt8]]? {
        do {
            while true {
                let (taken, wasPaused) = operation.drain()
                if wasPaused { place.connection.update { [id] in $0.resumeCopy(id, &$1) } }
                switch taken {
                case .data(let chunks): return chunks
                case .nothing: try await wait { !$0.chunks.isEmpty }
                case .end(let result):
                    _ = try result.get()
                    _ = try await finish()
                    return nil
                }
            }
        } catch {
            throw await end(with: error)
        }
    }

    /// Writes data and waits until it has left the process; false if the server accepts no further data.
    func write(_ bytes: [UInt8]) async throws -> Bool {
        var count = 0
        while count < bytes.count {
            var taken: Int?
            place.connection.update { [id] driver, effects in
                taken = bytes.withBytes { driver.writeCopyData($0.part(count..<$0.count), of: id, &effects) }
            }
            guard let taken else { return false }
            count += taken
            try await wait { $0.isFlushed }
            if operation.result != nil { return false }
        }
        return operation.result == nil
    }

    /// Ends the data, with a reason if it is to be rolled back; returns the number of rows.
    func endData(failure: String? = nil) async throws -> Int {
        place.connection.update { [id] in $0.endCopyData(id, failure: failure, &$1) }
        do {
            try await wait { _ in false }
        } catch {
            throw await end(with: error)
        }
        return try await finish()
    }

    // MARK: End

    private var question: PositionQuestion? {
        place.question(of: client, mayWrite: StatementText.mayWrite(copy: text))
    }

    private func finish() async throws -> Int {
        let rows = try operation.result?.get().last?.affectedRows ?? 0
        observe(rows: [rows])
        if let question {
            question.ask(over: place.connection, by: client.deadline(timeout))
            await question.raise()
        }
        await place.giveBack()
        return rows
    }

    /// Gives the connection back after a failure; returns the caller's error.
    func end(with error: any Error) async -> any Error {
        if operation.result == nil {
            stop()
            await operation.wait { $0.result != nil }
        }
        var error = error
        if let gone = error as? ConnectionGone { error = gone.lost(text) }
        if let known = error as? PostgresError { error = known.of(statement: text) }
        error = place.failed(error, text)
        observe(error: error)
        await place.giveBack()
        return error
    }

    private func observe(rows: [Int] = [], error: (any Error)? = nil) {
        let statement = Statement(text: StatementText(oneTime: text, effect: .lasting))
        client.observe([statement], since: start, rows: rows, error: error, kind: .statement)
    }
}
