import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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

    init(_ handle: OpaquePointer) {
        values = Self.names.map { Self.value($0, handle) }
    }

    /// Checks again; returns the changes.
    mutating func changes(_ handle: OpaquePointer) -> [(name: String, value: String)] {
        var changes: [(name: String, value: String)] = []
        for (index, name) in Self.names.enumerated() {
            guard let pointer = PQparameterStatus(handle, name) else { continue }
            // Compared before copying: mostly nothing has changed.
            if let known = values[index], known.withCString({ strcmp($0, pointer) }) == 0 { continue }
            let value = String(cString: pointer)
            values[index] = value
            changes.append((name, value))
        }
        return changes
    }

    private static func value(_ name: String, _ handle: OpaquePointer) -> String? {
        PQparameterStatus(handle, name).map { String(cString: $0) }
    }
}

extension ConnectionState {
    /// Reports changed settings to the observers.
    mutating func tellParameterChanges() {
        guard let handle, !context.parameterChanges.isEmpty else { return }
        for change in parameters.changes(handle) {
            context.parameterChanges.tell(
                ServerParameterChange(name: change.name, value: change.value, processID: PQbackendPID(handle)))
        }
    }
}
