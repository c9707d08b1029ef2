public import KindredPostgres

extension KindredError: CategorizedError {
    /// The class of the error, for a server's answer.
    ///
    /// Several problems are the program's mistake if one of them is, a conflict if each of them is one, and invalid
    /// otherwise.
    public var category: ErrorCategory {
        if isInput { return .invalid }
        return switch code {
        case .validationFailed: details?.category ?? .invalid
        case .constraintViolation: underlying?.category ?? .conflict
        // The server refused a value, such as a division by zero.
        case .invalidCondition: underlying?.category ?? .mistake
        default: code.category
        }
    }

    /// Whether the failed action may have taken effect all the same, as the underlying error says; `false` is certain.
    public var mayHaveTakenEffect: Bool { underlying?.mayHaveTakenEffect ?? false }
}

extension KindredError.Code {
    /// The class of an error with this code.
    var category: ErrorCategory {
        switch self {
        case .notFound, .objectDeleted, .otherTenant: .notFound
        case .staleObject, .deletionDenied, .consumerMoved: .conflict
        case .accessDenied: .forbidden
        case .contextBusy, .replicaConflict, .readOnlyTransaction: .unavailable
        case .unknownEntity, .unknownKey, .invalidCondition, .invalidRequest, .notStored, .foreignContext,
            .objectDiscarded, .loadingForbidden, .missingSettings, .notLoaded:
            .mistake
        case .serverFailed, .unsupported, .notUnique, .schemaChanged, .classMismatch, .keysChanged,
            .trackingNotInstalled, .trackingVersion, .trackingNotEnabled, .trackingOnStandby, .untrackable:
            .failure
        default: .invalid
        }
    }
}

extension KindredError: SQLStateError {
    /// The SQLSTATE of the server's error, if there is one below it: a transaction may run again after it.
    package var sqlState: SQLState? { underlying?.sqlState }
}
