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

    /// The object does not exist, or is gone: 404.
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
    /// A client's input is never one: the calls that take a client's names throw ``invalid`` for them.
    public static let mistake = Self("mistake", 500)
    /// A failure of the program's surroundings: 500.
    public static let failure = Self("failure", 500)
}

/// An error that knows its class; all errors of the library do.
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
        case .server: isRaised ? .invalid : sqlState?.category ?? .failure
        default: .failure
        }
    }

    /// Whether the database's own code refused a value, by RAISE without a code that has another meaning.
    package var isRaised: Bool {
        guard let sqlState else { return false }
        // The function of PL/pgSQL that reports it; extensions report their failures with codes of their own, too.
        return sqlState == .raisedException
            || server?.routine == "exec_stmt_raise"
                && !SQLState.classesOfServer.contains(Substring(sqlState.class.rawValue))
    }
}

extension SQLState {
    /// The classes of codes that PostgreSQL itself uses.
    fileprivate static let classesOfServer = """
        00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 \
        F0 HV P0 XX
        """.split(separator: " ")

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
        case "22", "23", "44": .invalid
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
