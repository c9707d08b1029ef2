import CLibPQ

extension Connector {
    /// What the server has to report of a new session so that values are read as they are meant.
    ///
    /// They are asked for when connecting; a pooler may drop such requests, and a server may be none.
    private static let expected = [
        ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"), ("integer_datetimes", "on"),
        ("DateStyle", "ISO"), ("IntervalStyle", "postgres"),
    ]

    /// Says what is wrong with a session, if something is; a parameter that a pooler does not report passes.
    static func objection(to handle: OpaquePointer) -> String? {
        for (name, value) in expected {
            guard let reported = PQparameterStatus(handle, name).map({ String(cString: $0) }) else { continue }
            if reported != value, !reported.hasPrefix("\(value),") {
                return "The session's \(name) is not \(value); set it on the server, the role or the pooler"
            }
        }
        return nil
    }
}
