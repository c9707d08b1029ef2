/// The settings of a session that the server reports, as of the last check.
///
/// libpq keeps the values but does not announce changes.
struct ReportedParameters {
    private static let names = [
        "DateStyle", "IntervalStyle", "TimeZone", "application_name", "client_encoding",
        "default_transaction_read_only",
        "in_hot_standby", "integer_datetimes", "is_superuser", "scram_iterations", "search_path", "server_encoding",
        "server_version", "session_authorization", "standard_conforming_strings",
    ]

    private var values: [String?]

    init(_ handle: ConnectionHandle) {
        values = Self.names.map { handle.parameter($0) }
    }

    /// Checks again; returns the changes.
    mutating func changes(_ handle: ConnectionHandle) -> [(name: String, value: String)] {
        var changes: [(name: String, value: String)] = []
        for (index, name) in Self.names.enumerated() {
            // Mostly nothing has changed.
            guard let value = handle.parameter(name, unless: values[index]) else { continue }
            values[index] = value
            changes.append((name, value))
        }
        return changes
    }
}
