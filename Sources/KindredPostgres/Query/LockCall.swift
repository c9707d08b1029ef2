/// Looks for calls of `pg_advisory_lock` and its like in a statement, whose locks last as long as the session does.
enum LockCall {
    private static let name: StaticString = "advisory_"

    /// Whether there is such a call that is not one of `pg_advisory_xact_lock` and its like, which end with the transaction.
    static func outlivesTransactions(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = name.utf8CodeUnitCount
        guard bytes.count > length else { return false }
        for start in 0..<bytes.count - length where bytes[start] | 0x20 == UInt8(ascii: "a") {
            guard has(name, bytes, at: start) else { continue }
            let rest = start + length
            if has("lock", bytes, at: rest) { return true }
        }
        return false
    }

    /// In either case; the underscore's own bit is not looked at.
    private static func has(_ word: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        word.withUTF8Buffer { word in
            start + word.count <= bytes.count
                && word.indices.allSatisfy { bytes[start + $0] | 0x20 == word[$0] | 0x20 }
        }
    }
}
