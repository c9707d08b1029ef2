public import KindredPostgres

extension KindredError: CategorizedError {
    /// The class of the error, for a server's answer.
    ///
    /// Several problems are a conflict if each of them is one, and invalid otherwise.
    public var category: ErrorCategory {
        if code == .validationFailed {
            return details?.areConflicts == false ? .invalid : .conflict
        }
        return code == .constraintViolation ? underlying?.sqlState?.category ?? .conflict : code.category
    }

    /// Whether the failed action may have taken effect all the same, as the underlying error says; `false` is certain.
    public var mayHaveTakenEffect: Bool { underlying?.mayHaveTakenEffect ?? false }
}

extension KindredError.Code {
    fileprivate var category: ErrorCategory {
        switch self {
        case .notFound, .objectDeleted: .notFound
        case .staleObject, .deletionDenied, .consumerMoved: .conflict
        case .accessDenied: .forbidden
        case .contextBusy: .unavailable
        case .serverFailed, .objectDiscarded, .notUnique, .notStored, .foreignContext, .schemaChanged, .classMismatch,
            .faultingForbidden, .missingSettings:
            .failure
        default: .invalid
        }
    }
}
