/// Looks for calls of `set_config` in a statement, which may change the session for whoever uses the connection later.
enum SettingCall {
    private static let name: StaticString = "set_config"

    /// Whether there is such a call whose last argument is not the word `true`, which ends the setting with the transaction.
    static func changesSession(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = name.utf8CodeUnitCount
        guard bytes.count > length else { return false }
        var position = 0
        // The underscore is the rarest of its letters.
        while let underscore = bytes[position...].firstIndex(of: UInt8(ascii: "_")) {
            position = underscore + 1
            let start = underscore - 3
            guard start >= 0, start + length <= bytes.count, isName(bytes, at: start) else { continue }
            if !isLocal(bytes, after: start + length) { return true }
        }
        return false
    }

    private static func isName(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        name.withUTF8Buffer { name in
            // In either case; the underscore's own bit is not looked at.
            name.indices.allSatisfy { bytes[start + $0] | 0x20 == name[$0] | 0x20 }
        }
    }

    /// Whether the arguments end with `true`.
    private static func isLocal(_ bytes: UnsafeBufferPointer<UInt8>, after start: Int) -> Bool {
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

    private static func endsWithTrue(_ arguments: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let blanks: Set<UInt8> = [9, 10, 11, 12, 13, 32]
        let last = arguments.reversed().drop { blanks.contains($0) }.prefix { $0 != UInt8(ascii: ",") }
        let word = last.reversed().drop { blanks.contains($0) }.map { $0 | 0x20 }
        return word == Array("true".utf8)
    }
}
