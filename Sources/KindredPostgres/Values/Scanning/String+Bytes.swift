extension String {
    /// Whether the text, which is JSON, has `\u0000` in one of its strings; a backslash may itself be escaped by another.
    var holdsEscapedNUL: Bool {
        withBytes { utf8 in
            var position = 0
            while let found = utf8.firstIndex(of: UInt8(ascii: "\\"), from: position) {
                position = found + 1
                if utf8[position...].starts(with: "u0000".utf8) { return true }
                // The escaped character, which may be another backslash.
                position += 1
            }
            return false
        }
    }

    /// Appends the bytes.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a NUL: PostgreSQL cannot store it, and libpq would cut the text
    /// there.
    func appendBytes(to bytes: inout [UInt8]) throws {
        let isWhole = withBytes { utf8 in
            guard utf8.firstIndex(of: 0, from: 0) == nil else { return false }
            bytes.append(utf8)
            return true
        }
        guard isWhole else {
            throw PostgresError(.invalidParameter, "The text has a NUL character, which PostgreSQL cannot store")
        }
    }
}
