/// An error or notice of the server, with its fields.
///
/// `detail`, and sometimes `message`, quotes values of rows: do not log them where the values are private.
public struct ServerMessage: Sendable, Hashable {
    /// The severity in English, such as `ERROR`, `FATAL` or `NOTICE`.
    public let severity: String
    /// The error code.
    public let sqlState: SQLState?
    /// The one-line message.
    public let message: String
    /// More about the problem; often quotes values.
    public let detail: String?
    /// Advice.
    public let hint: String?
    /// The position in the statement, in characters from 1.
    public let position: Int?
    /// The call stack of the server's functions.
    public let context: String?
    /// The schema of the table or type concerned.
    public let schema: String?
    /// The table concerned.
    public let table: String?
    /// The column concerned.
    public let column: String?
    /// The data type concerned.
    public let dataType: String?
    /// The constraint that refused the change.
    public let constraint: String?
    /// The function of the server's source that reported it.
    package let routine: String?

    package init(
        severity: String,
        sqlState: SQLState?,
        message: String,
        detail: String? = nil,
        hint: String? = nil,
        position: Int? = nil,
        context: String? = nil,
        schema: String? = nil,
        table: String? = nil,
        column: String? = nil,
        dataType: String? = nil,
        constraint: String? = nil,
        routine: String? = nil
    ) {
        self.severity = severity
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position
        self.context = context
        self.schema = schema
        self.table = table
        self.column = column
        self.dataType = dataType
        self.constraint = constraint
        self.routine = routine
    }
}

extension ServerMessage {
    /// The message without its detail.
    var withoutDetail: ServerMessage {
        ServerMessage(
            severity: severity, sqlState: sqlState, message: message, hint: hint, position: position, context: context,
            schema: schema, table: table, column: column, dataType: dataType, constraint: constraint, routine: routine)
    }

    /// Whether the server ends the session after this message.
    var isFatal: Bool {
        severity == "FATAL" || severity == "PANIC"
    }

    /// A text safe to log: the message, unless errors of its class may quote values of rows or parameters.
    package var summary: String {
        switch sqlState?.class.rawValue {
        case "0A", "25", "26", "28", "34", "3D", "3F", "40", "42", "53", "55", "57": message
        case "22": sqlState?.dataException ?? "A value is invalid"
        case "23": sqlState?.refusal ?? "A constraint refused the change"
        case "P0": "A function or trigger of the database raised an exception"
        case "58", "F0", "XX":
            "The server failed by itself, with SQLSTATE \(sqlState?.rawValue ?? "unknown"): debugDescription has its message and the statement"
        default: "The server refused the statement with SQLSTATE \(sqlState?.rawValue ?? "unknown")"
        }
    }
}

extension SQLState {
    fileprivate var dataException: String {
        switch self {
        case .divisionByZero: "Division by zero"
        case .stringDataRightTruncation: "A text is too long for its type"
        case .numericValueOutOfRange: "A number is out of its type's range"
        case .invalidTextRepresentation: "A text is not a value of the type it should have"
        default: "A value is invalid; debugDescription has the server's message"
        }
    }

    fileprivate var refusal: String {
        switch self {
        case .uniqueViolation: "A unique constraint refused the change"
        case .foreignKeyViolation, .restrictViolation: "A foreign key refused the change"
        case .checkViolation: "A check constraint refused the change"
        case .exclusionViolation: "An exclusion constraint refused the change"
        case .notNullViolation: "A NOT NULL column got NULL"
        default: "A constraint refused the change"
        }
    }
}
