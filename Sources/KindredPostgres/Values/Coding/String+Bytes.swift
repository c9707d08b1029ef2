extension String {
    /// Whether the strings have the same bytes, as the server compares: two spellings of "é" are two strings.
    func isSame(as other: String) -> Bool {
        // Strings that differ in meaning are told apart fast; few are equal in meaning and not in their bytes.
        self == other && utf8.elementsEqual(other.utf8)
    }

    /// Hashes what `isSame` compares.
    func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    /// Appends the bytes.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a NUL, which PostgreSQL cannot hold and libpq would cut the text
    /// at.
    func appendBytes(to bytes: inout [UInt8]) throws {
        var text = self
        let isWhole = text.withUTF8 { utf8 in
            guard !utf8.contains(0) else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        guard isWhole else {
            throw PostgresError(.invalidParameter, "The text holds a NUL character, which PostgreSQL cannot store")
        }
    }
}
