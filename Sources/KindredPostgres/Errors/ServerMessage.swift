/// What the server said: the fields of an error or a notice.
///
/// `detail` and sometimes `message` quote values of rows, so do not log them where those are private.
public struct ServerMessage: Sendable, Hashable {
    /// The severity in English, such as `ERROR`, `FATAL` or `NOTICE`.
    public let severity: String
    /// The error code.
    public let sqlState: SQLState?
    /// The one-line message.
    public let message: String
    /// More about the problem; often quotes the values concerned.
    public let detail: String?
    /// What to do about it.
    public let hint: String?
    /// The character of the statement where the problem is, counted from 1.
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
        constraint: String? = nil
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
    }
}
