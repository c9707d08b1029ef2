/// A server's five-character error code; see the appendix on error codes of the PostgreSQL manual.
///
/// The named members are the codes that programs usually handle; make others with `SQLState(rawValue:)`.
public struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The five characters, such as `23505`.
    public let rawValue: String

    /// Creates a code from its five characters.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The five characters.
    public var description: String { rawValue }

    /// The first two characters: the error's class.
    public var `class`: Class { Class(rawValue: String(rawValue.prefix(2))) }

    // MARK: Constraints

    /// 23505: a unique constraint or index refused the row.
    public static let uniqueViolation = SQLState("23505")
    /// 23503: a foreign key refused the change.
    public static let foreignKeyViolation = SQLState("23503")
    /// 23001: a foreign key with RESTRICT refused the change.
    public static let restrictViolation = SQLState("23001")
    /// 23514: a check constraint refused the row.
    public static let checkViolation = SQLState("23514")
    /// 23P01: an exclusion constraint refused the row.
    public static let exclusionViolation = SQLState("23P01")
    /// 23502: a column that must have a value got NULL.
    public static let notNullViolation = SQLState("23502")

    /// 44000: the CHECK OPTION of a view refused the row.
    public static let withCheckOptionViolation = SQLState("44000")
    /// P0001: the database's own code refused the change by RAISE, without a code of its own.
    public static let raisedException = SQLState("P0001")

    // MARK: Transactions

    /// 40001: the transaction conflicts with a concurrent one; running it again may succeed.
    public static let serializationFailure = SQLState("40001")
    /// 40P01: the transaction was chosen to end a deadlock; running it again may succeed.
    public static let deadlockDetected = SQLState("40P01")
    /// 25001: the statement cannot run inside a transaction.
    public static let activeTransaction = SQLState("25001")
    /// 25006: the transaction or the server is read-only.
    public static let readOnlyTransaction = SQLState("25006")
    /// 25P01: there is no transaction in progress.
    public static let noActiveTransaction = SQLState("25P01")
    /// 25P02: an earlier error failed the transaction; it can only be rolled back.
    public static let inFailedTransaction = SQLState("25P02")
    /// 25P03: the server ended the session because its transaction was idle for too long.
    public static let idleInTransactionTimeout = SQLState("25P03")

    // MARK: Statements

    /// 57014: the statement was cancelled, by a request or by a timeout.
    public static let queryCanceled = SQLState("57014")
    /// 55P03: a lock was not available in the time allowed.
    public static let lockNotAvailable = SQLState("55P03")
    /// 42601: the statement is not valid SQL.
    public static let syntaxError = SQLState("42601")
    /// 42501: the role may not do this.
    public static let insufficientPrivilege = SQLState("42501")
    /// 42P01: there is no such table.
    public static let undefinedTable = SQLState("42P01")
    /// 42703: there is no such column.
    public static let undefinedColumn = SQLState("42703")
    /// 42704: there is no such type or other object.
    public static let undefinedObject = SQLState("42704")
    /// 3F000: there is no such schema.
    public static let invalidSchemaName = SQLState("3F000")
    /// 42883: there is no such function or operator.
    public static let undefinedFunction = SQLState("42883")
    /// 22012: division by zero.
    public static let divisionByZero = SQLState("22012")
    /// 22001: the text is too long for its column.
    public static let stringDataRightTruncation = SQLState("22001")
    /// 22003: the number does not fit its type.
    public static let numericValueOutOfRange = SQLState("22003")
    /// 42804: a value is of another type than its column.
    public static let datatypeMismatch = SQLState("42804")
    /// 22P02: the text is not a value of the type.
    public static let invalidTextRepresentation = SQLState("22P02")
    /// 0A000: the server does not support this; also a stale prepared statement.
    public static let featureNotSupported = SQLState("0A000")
    /// 26000: the prepared statement does not exist.
    public static let invalidStatementName = SQLState("26000")
    /// 42P05: a prepared statement of that name exists already.
    public static let duplicatePreparedStatement = SQLState("42P05")
    /// XX000: an internal error of the server.
    public static let internalError = SQLState("XX000")

    // MARK: Sessions

    /// 28P01: the password is wrong.
    public static let invalidPassword = SQLState("28P01")
    /// 28000: the server rejects the role.
    public static let invalidAuthorization = SQLState("28000")
    /// 3D000: there is no such database.
    public static let invalidCatalogName = SQLState("3D000")
    /// 53300: the server is out of connections.
    public static let tooManyConnections = SQLState("53300")
    /// 57P01: an administrator ended the session, or the server is being stopped.
    public static let adminShutdown = SQLState("57P01")
    /// 57P02: the server is restarting after the crash of a session.
    public static let crashShutdown = SQLState("57P02")
    /// 57P03: the server is starting or stopping.
    public static let cannotConnectNow = SQLState("57P03")
    /// 57P05: the server ended the session because it was idle for too long.
    public static let idleSessionTimeout = SQLState("57P05")
}

extension SQLState {
    /// The error's class: the first two characters of the code.
    public struct Class: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The two characters.
        public let rawValue: String

        /// Creates a class from its two characters.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The two characters.
        public var description: String { rawValue }

        /// 08: the connection failed.
        public static let connectionException = Class(rawValue: "08")
        /// 22: a value is wrong.
        public static let dataException = Class(rawValue: "22")
        /// 23: a constraint refused the change.
        public static let integrityConstraintViolation = Class(rawValue: "23")
        /// 25: the statement does not fit the transaction's state.
        public static let invalidTransactionState = Class(rawValue: "25")
        /// 28: the server rejects the role.
        public static let invalidAuthorizationSpecification = Class(rawValue: "28")
        /// 40: the transaction was rolled back.
        public static let transactionRollback = Class(rawValue: "40")
        /// 42: the statement is invalid or not permitted.
        public static let syntaxErrorOrAccessRuleViolation = Class(rawValue: "42")
        /// 53: the server lacks memory, disk space or connections.
        public static let insufficientResources = Class(rawValue: "53")
        /// 57: an operator or the server itself intervened.
        public static let operatorIntervention = Class(rawValue: "57")
    }

    /// Whether a foreign key refused the change.
    ///
    /// A refused deletion has one of two codes, depending on the server's version and the key's action.
    public var isForeignKeyViolation: Bool {
        self == .foreignKeyViolation || self == .restrictViolation
    }
}
