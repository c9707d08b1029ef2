extension ServerMessage {
    /// Whether the server ends the session after this message.
    var isFatal: Bool {
        severity == "FATAL" || severity == "PANIC"
    }

    /// What may be shown to anybody: the message, unless errors of its kind may quote values of rows or parameters.
    package var summary: String {
        switch sqlState?.class.rawValue {
        case "0A", "25", "26", "28", "34", "3D", "3F", "40", "42", "53", "55", "57": message
        case "22": sqlState?.dataException ?? "A value does not fit"
        case "23": sqlState?.refusal ?? "A constraint refused the change"
        case "P0": "A function or trigger of the database raised an exception"
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
        default: "A value does not fit; debugDescription has the server's message"
        }
    }

    fileprivate var refusal: String {
        switch self {
        case .uniqueViolation: "A unique constraint refused the change"
        case .foreignKeyViolation, .restrictViolation: "A foreign key refused the change"
        case .checkViolation: "A check constraint refused the change"
        case .exclusionViolation: "An exclusion constraint refused the change"
        case .notNullViolation: "A column that must have a value got none"
        default: "A constraint refused the change"
        }
    }
}
