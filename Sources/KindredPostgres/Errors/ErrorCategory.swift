/// The meaning of an error for the caller of a service: one of the few classes that a server maps its answers from.
///
/// A status of 500 is for the log: the caller can do nothing about it, and its message is about the program.
///
/// ```swift
/// catch let error as any CategorizedError {
///     return Response(status: .init(code: error.category.httpStatus))
/// }
/// ```
public struct ErrorCategory: Sendable, Hashable, CustomStringConvertible {
    /// The category's stable name, such as `conflict`.
    public let description: String
    /// The status that HTTP has for it: 404, 409, 422, 403, 503 or 500.
    public let httpStatus: Int

    private init(_ description: String, _ httpStatus: Int) {
        self.description = description
        self.httpStatus = httpStatus
    }

    /// The object is not there, or not any more: 404.
    public static let notFound = Self("notFound", 404)
    /// The stored rows forbid it: another version, a unique value, rows that refer to it: 409.
    public static let conflict = Self("conflict", 409)
    /// The given values are wrong; trying again with them cannot help: 422.
    public static let invalid = Self("invalid", 422)
    /// The role or a policy does not allow it: 403.
    public static let forbidden = Self("forbidden", 403)
    /// The database cannot be used just now; the same may succeed later: 503.
    public static let unavailable = Self("unavailable", 503)
    /// A mistake in the program itself, such as a key, a path or an order that it wrote and the database does not have: 500.
    ///
    /// What a client gave is never one: the calls that take a client's names throw ``invalid`` for them.
    public static let mistake = Self("mistake", 500)
    /// A failure of the program's surroundings: 500.
    public static let failure = Self("failure", 500)
}

/// An error that says of which class it is; all errors of the library do.
public protocol CategorizedError: Error {
    /// The class of the error.
    var category: ErrorCategory { get }
    /// Whether the failed action may have taken effect all the same, wholly or in part; `false` is certain.
    var mayHaveTakenEffect: Bool { get }
}

extension PostgresError: CategorizedError {
    /// The class of the error, by its code, and by the SQLSTATE where the server refused a statement.
    public var category: ErrorCategory {
        switch code {
        case .connectionFailed, .tooManyOpenFiles, .passwordUnavailable, .connectionLost, .timeout, .poolTimeout,
            .poolOverloaded, .closed, .commitUnknown, .outcomeUnknown, .transactionBroken, .twoPrimaries:
            .unavailable
        case .invalidParameter: .invalid
        case .server: sqlState?.category ?? .failure
        default: .failure
        }
    }
}

extension SQLState {
    /// The class of an error with this state.
    package var category: ErrorCategory {
        switch self {
        case .uniqueViolation, .foreignKeyViolation, .restrictViolation, .exclusionViolation, .serializationFailure,
            .deadlockDetected:
            return .conflict
        case .insufficientPrivilege: return .forbidden
        default: break
        }
        return switch rawValue.prefix(2) {
        case "22", "23": .invalid
        // Connections, resources, an operator, a lock that is not to be had, a server that takes no writes.
        case "08", "53", "55", "57", "58", "25": .unavailable
        default: .failure
        }
    }
}

extension PostgresError {
    /// Whether retrying is useless until the configuration or the server changes.
    var isPermanent: Bool {
        code == .invalidConfiguration || sqlState?.class == .invalidAuthorizationSpecification
            || sqlState == .invalidCatalogName
    }
}
