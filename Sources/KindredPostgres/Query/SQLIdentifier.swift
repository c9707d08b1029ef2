/// Quotes identifiers; the only place where a name becomes SQL text.
public enum SQLIdentifier {
    /// The server silently truncates longer names, so that two could mean the same table.
    public static let maximumBytes = 63

    /// Returns the name as a quoted identifier.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a name that is empty, has a NUL, or is longer than 63 bytes of
    /// UTF-8.
    public static func quote(_ name: String) throws -> String {
        let bytes = name.utf8
        guard !bytes.isEmpty else { throw PostgresError(.invalidParameter, "An identifier cannot be empty") }
        guard bytes.count <= maximumBytes else {
            throw PostgresError(
                .invalidParameter,
                "An identifier is at most \(maximumBytes) bytes long; this one has \(bytes.count)"
            )
        }
        guard !bytes.contains(0) else {
            throw PostgresError(.invalidParameter, "An identifier cannot hold a NUL character")
        }
        var quoted = "\""
        quoted.reserveCapacity(bytes.count + 2)
        for scalar in name.unicodeScalars {
            if scalar == "\"" { quoted.unicodeScalars.append("\"") }
            quoted.unicodeScalars.append(scalar)
        }
        quoted.append("\"")
        return quoted
    }
}
