import DequeModule

/// What a transaction's scope knows of itself; guarded by its mutex.
struct TransactionState {
    /// Somebody who waits until a sibling's savepoint ends.
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
    /// How far BEGIN or SAVEPOINT is.
    enum Opening {
        case unsent
        /// It is on its way with a request, whose cancellation may undo it: until then no other statement is sent, which
        /// would otherwise be executed outside.
        case sent
        case done
    }

    var opening = Opening.unsent
    /// Whether a savepoint is open inside.
    var hasSavepoint = false
    var waiting: Deque<Waiting> = []
    /// What failed the transaction.
    private(set) var firstError: PostgresError?

    static var ended: PostgresError {
        PostgresError(.transactionEnded, "The transaction has ended; a task that outlives it cannot use it any more")
    }

    /// Why there is no transaction any more; nothing is sent then, as it would take effect by itself.
    var brokenBy: PostgresError? { firstError?.code == .transactionBroken ? firstError : nil }

    /// Whether requests have to wait, for the opening or for a savepoint's end.
    var isHeldUp: Bool { hasSavepoint || opening == .sent }

    /// What happens to a request that comes now.
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

    /// Takes all out of the queue.
    mutating func takeWaiting() -> Deque<Waiting> {
        defer { waiting = [] }
        return waiting
    }

    /// Takes one out of the queue; nil if it is not there.
    mutating func removeWaiting(_ id: Request.ID) -> Waiting? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
    }

    /// Notes the failure of a statement; returns what its caller gets.
    ///
    /// The first error is the transaction's; that later statements are refused is its consequence.
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
            // The first of them names the statement.
            if brokenBy == nil { firstError = error }
            return error
        }
        guard error.sqlState == .inFailedTransaction, let firstError else {
            // Of requests that were sent together the second may be heard of before the first.
            let isFirst = firstError == nil || firstError?.sqlState == .inFailedTransaction
            if isFirst, error.code != .transactionEnded, error.code != .invalidParameter {
                firstError = error
            }
            return error
        }
        return PostgresError(
            .transactionAborted, "The transaction has failed already: \(firstError.message)",
            sqlState: error.sqlState, server: error.server, statement: error.statement,
            underlying: firstError.asCause)
    }
}

extension PostgresError {
    /// The error and its statement, for the error of what failed because of it.
    var asCause: [String] { [description] + (statement.map { ["of the statement \($0)"] } ?? []) }
}
