import DequeModule

/// The state of a transaction's scope; guarded by its mutex.
struct TransactionState {
    /// A task that waits until a sibling's savepoint ends.
    enum Waiting: Sendable {
        case request(Request, MonotonicTime, Alarm?)
        case savepoint(Request.ID, CheckedContinuation<Void, any Error>)

        var id: Request.ID {
            switch self {
            case .request(let request, _, _): request.id
            case .savepoint(let id, _): id
            }
        }

        func refuse(_ error: any Error) {
            switch self {
            case .request(let request, _, let alarm):
                alarm?.callOff()
                request.refuse(error)
            case .savepoint(_, let turn): turn.resume(throwing: error)
            }
        }
    }

    enum Admission {
        case send, wait, refuse
    }

    var isOver = false
    /// The progress of BEGIN or SAVEPOINT, or of settings.
    enum Opening {
        case unsent
        /// In flight with a request whose cancellation may undo it. Until the answer no other statement is sent: it could run
        /// outside of the scope.
        case sent
        case done
    }

    var opening = Opening.unsent
    /// The progress of the settings that the transaction runs with, in this scope: `done` if they are made in it or around it.
    var making = Opening.unsent
    /// The settings of the transaction: the first settings that a statement has asked for; in the outermost scope, and
    /// in savepoints that may have their own.
    var settings: SessionSettings?
    /// Whether a savepoint is open inside.
    var hasSavepoint = false
    var waiting: Deque<Waiting> = []
    /// The error that aborted the transaction.
    private(set) var firstError: PostgresError?
    /// The place in the program of the statement that failed the transaction, if known.
    private var firstPlace: SourcePlace?

    static var ended: PostgresError {
        PostgresError(.transactionEnded, "The transaction has ended; a task that outlives it cannot use it")
    }

    /// The reason why the transaction is over; nothing is sent then, as it would be committed at once.
    var brokenBy: PostgresError? { firstError?.code == .transactionBroken ? firstError : nil }

    /// Whether requests wait, for the opening, the settings or a savepoint's end.
    var isHeldUp: Bool { hasSavepoint || opening == .sent || making == .sent }

    /// The answer to a new request: refuse it, let it wait, or send it.
    var admission: Admission { isOver || brokenBy != nil ? .refuse : isHeldUp ? .wait : .send }

    mutating func admitSavepoint(_ id: Request.ID, _ turn: CheckedContinuation<Void, any Error>) -> Admission {
        let admission = admission
        switch admission {
        case .send: hasSavepoint = true
        case .wait: waiting.append(.savepoint(id, turn))
        case .refuse: break
        }
        return admission
    }

    /// Empties the queue.
    mutating func takeWaiting() -> Deque<Waiting> {
        defer { waiting = [] }
        return waiting
    }

    /// Removes one from the queue; nil if it is not queued.
    mutating func removeWaiting(_ id: Request.ID) -> Waiting? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
    }

    /// Notes a statement's failure; returns the caller's error.
    ///
    /// The first error is the cause; later refusals only follow from it.
    mutating func failed(_ error: any Error, _ statement: String?) -> any Error {
        if let gone = error as? ConnectionGone {
            let lost = gone.lost(statement)
            if firstError == nil { firstError = lost }
            return lost
        }
        guard let error = error as? PostgresError else {
            if firstError == nil {
                firstError = PostgresError(
                    .server, "A statement was cancelled", sqlState: .queryCanceled, statement: statement)
            }
            return error
        }
        if error.code == .transactionBroken {
            // The first one names the statement.
            if brokenBy == nil { firstError = error }
            return error
        }
        guard error.sqlState == .inFailedTransaction, let firstError else {
            // The second of two requests sent together may be reported first.
            let isFirst = firstError == nil || firstError?.sqlState == .inFailedTransaction
            if isFirst, error.code != .transactionEnded, error.code != .invalidParameter {
                firstError = error
                firstPlace = SourcePlace.current
            }
            return error
        }
        let place = firstPlace.map { " at \($0)" } ?? ""
        let constraint = firstError.server?.constraint.map { " by the constraint \"\($0)\"" } ?? ""
        return PostgresError(
            .transactionAborted,
            """
            The transaction has failed before this statement\(place)\(constraint): \(firstError.message); let the error leave \
            the transaction's closure, or put what may fail into a nested transaction
            """,
            sqlState: error.sqlState, server: error.server, statement: error.statement,
            underlying: firstError.asCause)
    }
}

extension PostgresError {
    /// The error and its statement, for the error of a statement that failed because of it.
    var asCause: [String] { [description] + (statement.map { ["of the statement \($0)"] } ?? []) }
}
