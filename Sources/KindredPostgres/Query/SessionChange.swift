/// Detects queries that change the session for later users of the connection.
enum SessionChange {
    /// Whether a statement calls `set_config` beyond the transaction, calls `pg_advisory_lock` or its like, or has
    /// `INTO TEMP`.
    static func isContained(in statement: ByteView) -> Bool {
        changesSetting(statement) || locks(statement) || makesTemporaryTable(statement)
    }

    /// Whether `set_config` is called with a last argument other than the word `true`, which limits it to the
    /// transaction.
    private static func changesSetting(_ bytes: ByteView) -> Bool {
        let name: StaticString = "set_config"
        var position = 0
        // The underscore is the rarest of its letters.
        while let underscore = bytes[position...].firstIndex(of: UInt8(ascii: "_")) {
            position = underscore + 1
            let start = underscore - 3
            if has(name, bytes, at: start), !isLocal(bytes, after: start + name.utf8CodeUnitCount) { return true }
        }
        return false
    }

    /// Whether a session-level advisory lock is taken; `pg_advisory_xact_lock` and its like end with the transaction.
    private static func locks(_ bytes: ByteView) -> Bool {
        bytes.indices.contains { bytes[$0] | 0x20 == UInt8(ascii: "a") && has("advisory_lock", bytes, at: $0) }
    }

    /// Whether rows are selected into a temporary table; an insert into a table named so is not distinguished.
    private static func makesTemporaryTable(_ bytes: ByteView) -> Bool {
        bytes.indices.contains { index in
            guard bytes[index] | 0x20 == UInt8(ascii: "i"), has("into", bytes, at: index) else { return false }
            let words = bytes[(index + 4)...].split(maxSplits: 2) { blanks.contains($0) }
            guard bytes.count > index + 4, blanks.contains(bytes[index + 4]), let first = words.first else {
                return false
            }
            return temporary.contains { word in
                word.utf8CodeUnitCount == first.count && has(word, bytes, at: first.startIndex)
            }
        }
    }

    /// Whether a word is at a position, ignoring case; the underscore's case bit is ignored.
    private static func has(_ word: StaticString, _ bytes: ByteView, at start: Int) -> Bool {
        word.withBytes { word in
            start >= 0 && start + word.count <= bytes.count
                && word.indices.allSatisfy { bytes[start + $0] | 0x20 == word[$0] | 0x20 }
        }
    }

    /// Whether the arguments end with `true`.
    private static func isLocal(_ bytes: ByteView, after start: Int) -> Bool {
        var (depth, quote) = (0, nil as UInt8?)
        for (index, byte) in zip(start..., bytes[start...]) {
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""): quote = byte
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 { return endsWithTrue(bytes[start..<index]) }
            default: break
            }
        }
        return false
    }

    /// The words that may precede the name of a temporary table.
    private static let temporary: [StaticString] = ["temp", "temporary", "local", "global"]
    private static let blanks: Set<UInt8> = [9, 10, 11, 12, 13, 32]

    private static func endsWithTrue(_ arguments: Slice<ByteView>) -> Bool {
        let last = arguments.reversed().drop { blanks.contains($0) }.prefix { $0 != UInt8(ascii: ",") }
        let word = last.reversed().drop { blanks.contains($0) }.map { $0 | 0x20 }
        return word == Array("true".utf8)
    }
}
