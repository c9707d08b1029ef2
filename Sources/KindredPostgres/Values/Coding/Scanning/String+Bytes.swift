#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension String {
    /// Whether the strings have the same bytes, as the server compares: two spellings of "é" are two strings.
    package func hasSameBytes(as other: String) -> Bool {
        withBytes { left in
            other.withBytes { right in
                guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Lends the bytes; nearly all strings store them contiguously, so nothing is copied.
    @inline(__always)
    private func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Hashes what `hasSameBytes` compares.
    package func hashBytes(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
        hasher.combine(0xFF as UInt8)
    }

    /// Whether the text, which is JSON, has `\u0000` in one of its strings; a backslash may itself be escaped by another.
    var holdsEscapedNUL: Bool {
        withBytes { utf8 in
            var position = 0
            while let base = utf8.baseAddress, position < utf8.count,
                let found = memchr(base + position, Int32(UInt8(ascii: "\\")), utf8.count - position)
            {
                position = found - UnsafeMutableRawPointer(mutating: base) + 1
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
            guard let first = utf8.baseAddress else { return true }
            guard memchr(first, 0, utf8.count) == nil else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        guard isWhole else {
            throw PostgresError(.invalidParameter, "The text has a NUL character, which PostgreSQL cannot store")
        }
    }
}
