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

    /// Lends the bytes; nearly all strings have them in one piece, and need not be copied for it.
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

    /// Mixes the bytes with bits that stand for what comes before them.
    ///
    /// For hashes of names; other than `Hasher` it is no obstacle to somebody who chooses strings that collide.
    package func mixedBits(_ before: UInt64) -> UInt64 {
        withBytes { bytes in
            var bits = before ^ UInt64(bytes.count)
            func mix(_ word: UInt64) {
                let product = (bits ^ word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
                bits = product.high ^ product.low
            }
            var place = 0
            while place + 8 <= bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            var rest: UInt64 = 0
            while place < bytes.count {
                rest = rest << 8 | UInt64(bytes[place])
                place += 1
            }
            mix(rest)
            return bits
        }
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
