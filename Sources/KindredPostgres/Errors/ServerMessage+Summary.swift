extension ServerMessage {
    /// What may be shown to anybody: the message, unless errors of its kind quote values of rows or parameters.
    package var summary: String {
        switch sqlState?.class.rawValue {
        // Data exceptions and constraints quote values; errors raised by functions say whatever they like.
        case "22", "23", "P0", "44": "The server refused the statement with SQLSTATE \(sqlState?.rawValue ?? "")"
        default: message
        }
    }
}
