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
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Hashes what `hasSameBytes` compares.
    package func hashBytes(into hasher: inout Hasher) {
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
            guard let first = utf8.baseAddress else { return true }
            guard memchr(first, 0, utf8.count) == nil else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        guard isWhole else {
            throw PostgresError(.invalidParameter, "The text holds a NUL character, which PostgreSQL cannot store")
        }
    }
}
