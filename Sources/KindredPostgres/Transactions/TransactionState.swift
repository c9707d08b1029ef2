import DequeModule

/// What a transaction's scope knows of itself; guarded by its mutex.
struct TransactionState {
    /// Somebody who waits until a sibling's savepoint ends.
    enum Waiting: Sendable {
        case request(Request, timeout: Duration?)
        case savepoint(Request.ID, CheckedContinuation<Void, any Error>)

        var id: Request.ID {
            switch self {
            case .request(let request, _): request.id
            case .savepoint(let id, _): id
            }
        }

        func refuse(_ error: any Error) {
            switch self {
            case .request(let request, _): request.refuse(error)
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

    mutating func admit(_ request: Request, _ timeout: Duration?) -> Admission {
        if isOver || brokenBy != nil { return .refuse }
        guard isHeldUp else { return .send }
        waiting.append(.request(request, timeout: timeout))
        return .wait
    }

    mutating func admitSavepoint(_ id: Request.ID, _ turn: CheckedContinuation<Void, any Error>) -> Admission {
        if isOver || brokenBy != nil { return .refuse }
        guard isHeldUp else {
            hasSavepoint = true
            return .send
        }
        waiting.append(.savepoint(id, turn))
        return .wait
    }

    /// Takes all out of the queue.
    mutating func takeWaiting() -> Deque<Waiting> {
        defer { waiting = [] }
        return waiting
    }

    /// Takes somebody out of the queue; returns how to tell him.
    mutating func removeWaiting(_ id: Request.ID) -> (@Sendable () -> Void)? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        let removed = waiting.remove(at: index)
        return { removed.refuse(CancellationError()) }
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
