/// The bytes of a text in JSON that was read, without its escapes.
struct JSONTextBytes<Bytes: RandomAccessCollection>: Sequence, IteratorProtocol
where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private var place: Int
    private let end: Int
    /// Bytes of a character that was escaped, the next one lowest.
    private var pending: UInt32 = 0

    init(_ bytes: Bytes, _ node: JSONNode) {
        self.bytes = bytes
        (place, end) = (Int(node.start), Int(node.end))
    }

    mutating func next() -> UInt8? {
        if pending > 0 { return takePending() }
        guard place < end else { return nil }
        let byte = bytes[place]
        place += 1
        guard byte == UInt8(ascii: "\\") else { return byte }
        let escaped = bytes[place]
        place += 1
        switch escaped {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "r"): return UInt8(ascii: "\r")
        case UInt8(ascii: "t"): return UInt8(ascii: "\t")
        case UInt8(ascii: "u"): return takeScalar()
        default: return escaped
        }
    }

    /// Takes the digits of a character, of both halves if it is beyond 16 bits, and returns its first byte.
    private mutating func takeScalar() -> UInt8 {
        var value = takeFourDigits()
        if value & 0xFC00 == 0xD800 {
            // `\u` between the halves.
            place += 2
            value = 0x10000 + (value & 0x3FF) << 10 + (takeFourDigits() & 0x3FF)
        }
        switch value {
        case 0..<0x80: return UInt8(value)
        case 0x80..<0x800: pending = 0xC0 | value >> 6 | part(value) << 8
        case 0x800..<0x1_0000: pending = 0xE0 | value >> 12 | part(value >> 6) << 8 | part(value) << 16
        default:
            pending = 0xF0 | value >> 18 | part(value >> 12) << 8 | part(value >> 6) << 16 | part(value) << 24
        }
        return takePending()
    }

    private mutating func takePending() -> UInt8 {
        defer { pending >>= 8 }
        return UInt8(pending & 0xFF)
    }

    private func part(_ value: UInt32) -> UInt32 { 0x80 | value & 0x3F }

    private mutating func takeFourDigits() -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit = bytes[place]
            value = value << 4 | UInt32(digit & 0xF) + (digit > UInt8(ascii: "9") ? 9 : 0)
            place += 1
        }
        return value
    }
}

/// The keys of an object that was read.
///
/// Hashed and compared by their bytes: of two keys that one `String` takes for equal, an object of the server has both, and texts
/// that a client chose to have the hash of one `String` would make a set of them slow.
struct ReadKeys<Bytes: RandomAccessCollection>: Sequence, IteratorProtocol
where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private let nodes: [JSONNode]
    private var place: Int
    private let end: Int

    init(_ bytes: Bytes, _ nodes: [JSONNode], of object: Int) {
        (self.bytes, self.nodes) = (bytes, nodes)
        (place, end) = (object + 1, Int(nodes[object].next))
    }

    /// The node of the next key.
    mutating func next() -> Int? {
        guard place < end else { return nil }
        defer { place = Int(nodes[place + 1].next) }
        return place
    }

    /// The first key that equals an earlier key; nil if all differ.
    var firstRepeated: Int? {
        // The node of each member is two nodes or more.
        if end - place <= 2 { return nil }
        let count = reduce(0) { count, _ in count + 1 }
        return count > Self.fewest ? firstInTable(of: count) : firstByComparing
    }

    /// The number of keys up to which each is compared with each.
    private static var fewest: Int { 16 }

    private var firstByComparing: Int? {
        for key in self {
            for earlier in self {
                if earlier == key { break }
                if areEqual(earlier, key) { return key }
            }
        }
        return nil
    }

    private func firstInTable(of count: Int) -> Int? {
        // At most half full; 0 is a free place. The upper half of an entry is the hash's upper half, so that few keys
        // are compared.
        var table = [UInt64](repeating: 0, count: 1 << (Int.bitWidth - (2 * count).leadingZeroBitCount))
        for key in self {
            let hash = hash(key)
            var place = Int(hash & UInt64(table.count - 1))
            while table[place] > 0 {
                let entry = table[place]
                if (entry ^ hash) >> 32 == 0, areEqual(Int(entry & 0xFFFF_FFFF), key) { return key }
                place = (place + 1) & (table.count - 1)
            }
            table[place] = (hash >> 32) << 32 | UInt64(key)
        }
        return nil
    }

    private func hash(_ key: Int) -> UInt64 {
        let node = nodes[key]
        var hash = TextHash()
        if node.kind == .text {
            for place in Int(node.start)..<Int(node.end) { hash.add(bytes[place]) }
        } else {
            for byte in JSONTextBytes(bytes, node) { hash.add(byte) }
        }
        return hash.value
    }

    private func areEqual(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (nodes[left], nodes[right])
        guard first.kind == .text, second.kind == .text else {
            return JSONTextBytes(bytes, first).elementsEqual(JSONTextBytes(bytes, second))
        }
        let count = Int(first.end - first.start)
        guard count == Int(second.end - second.start) else { return false }
        let (one, other) = (Int(first.start), Int(second.start))
        return (0..<count).allSatisfy { bytes[one + $0] == bytes[other + $0] }
    }
}

/// The hash of bytes, which are hashed eight at a time.
private struct TextHash {
    private var hasher = Hasher()
    private var word: UInt64 = 0
    private var count: UInt64 = 0

    mutating func add(_ byte: UInt8) {
        word = word << 8 | UInt64(byte)
        count += 1
        if count & 7 == 0 { hasher.combine(word) }
    }

    var value: UInt64 {
        var hasher = hasher
        hasher.combine(word)
        hasher.combine(count)
        return UInt64(UInt(bitPattern: hasher.finalize()))
    }
}
