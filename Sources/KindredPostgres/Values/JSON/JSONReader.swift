/// Reads JSON (RFC 8259) byte by byte, without recursion: in time and memory that grow with its length alone.
///
/// The bytes, whose indices begin at 0, are generic, so that a test can count how often one is looked at.
struct JSONReader<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private let limits: JSONLimits
    private let end: Int
    private var place = 0
    /// The values that were read, and the keys of objects before theirs.
    private(set) var nodes: [JSONNode] = []
    /// The array or object around the place; while it is open, its `next` is the place of the container around it.
    private var container: Int?
    private var isInObject = false
    /// The number of arrays and objects around the place.
    private var level = 0
    /// The number of arrays and objects around the deepest value.
    private(set) var depth = 0

    init(_ bytes: Bytes, limits: JSONLimits) {
        (self.bytes, self.limits) = (bytes, limits)
        end = bytes.count
    }

    /// The most nodes that have room before any is read.
    private static var firstRoom: Int { 1 << 20 }

    /// Reads the whole text.
    mutating func read() throws(JSONSyntaxError) {
        // Nodes count bytes with 32 bits; the server stores no value of 1 GiB.
        let maximum = min(limits.bytes, Int(Int32.max))
        guard end <= maximum else {
            throw JSONSyntaxError(offset: maximum, reason: "it is longer than \(maximum) bytes")
        }
        nodes.reserveCapacity(min(end / 2 + 1, Self.firstRoom))
        while true {
            if try beginValue() { continue }
            guard try endValue() else { return }
        }
    }

    /// Reads a value, or the beginning of an array or object up to its first value: true then.
    private mutating func beginValue() throws(JSONSyntaxError) -> Bool {
        let start = place
        switch next() {
        case UInt8(ascii: "["): return try begin(.array, until: UInt8(ascii: "]"))
        case UInt8(ascii: "{"):
            guard try begin(.object, until: UInt8(ascii: "}")) else { return false }
            try readKey()
            return true
        case UInt8(ascii: "\""): try readText()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
        case UInt8(ascii: "t"): try readWord(ending: 0x7472_7565, .trueWord)
        case UInt8(ascii: "f"): try readWord(behind: 1, ending: 0x616C_7365, .falseWord)
        case UInt8(ascii: "n"): try readWord(ending: 0x6E75_6C6C, .null)
        case 0 where place == end: throw refusal("it ends where a value is wanted")
        default:
            let isMark = start == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF])
            throw refusal(isMark ? "a byte order mark" : "no value begins so")
        }
        return false
    }

    /// Goes on behind a value to the next one; false at the end of the text.
    private mutating func endValue() throws(JSONSyntaxError) -> Bool {
        while let container {
            switch next() {
            case UInt8(ascii: ","):
                place += 1
                if isInObject { try readKey() }
                return true
            case UInt8(ascii: "}") where isInObject:
                close(container)
                if limits.refusesEqualKeys { try refuseEqualKeys(of: container) }
            case UInt8(ascii: "]") where !isInObject: close(container)
            case 0 where place == end: throw refusal("it ends within \(isInObject ? "an object" : "an array")")
            default: throw refusal("a comma or the end of the \(isInObject ? "object" : "array") is wanted")
            }
        }
        guard next() == 0, place == end else { throw refusal("nothing may follow the value") }
        return false
    }

    /// Reads an opening bracket, and the closing one where it follows: false then.
    private mutating func begin(_ kind: JSONNode.Kind, until close: UInt8) throws(JSONSyntaxError) -> Bool {
        guard level < limits.depth else {
            throw refusal("its arrays and objects are nested deeper than \(limits.depth)")
        }
        let start = place
        place += 1
        depth = max(depth, level + 1)
        if next() == close {
            place += 1
            append(kind, from: start)
            return false
        }
        append(kind, from: start)
        nodes[nodes.count - 1].next = Int32(container ?? -1)
        container = nodes.count - 1
        isInObject = kind == .object
        level += 1
        return true
    }

    private mutating func close(_ index: Int) {
        place += 1
        let outer = Int(nodes[index].next)
        container = outer < 0 ? nil : outer
        isInObject = outer >= 0 && nodes[outer].kind == .object
        level -= 1
        nodes[index].end = Int32(place)
        nodes[index].next = Int32(nodes.count)
    }

    private mutating func readKey() throws(JSONSyntaxError) {
        guard next() == UInt8(ascii: "\"") else { throw refusal("a key in quotes is wanted") }
        try readText()
        guard next() == UInt8(ascii: ":") else { throw refusal("a colon is wanted behind the key") }
        place += 1
    }

    /// Reads a text, whose quotes are no part of its node.
    private mutating func readText() throws(JSONSyntaxError) {
        place += 1
        let start = place
        var isEscaped = false
        while place < end {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                append(isEscaped ? .escapedText : .text, from: start)
                place += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try readEscape()
            case 0..<0x20: throw refusal("a control character in a text has to be escaped")
            case 0x80...: try readScalar()
            default: place += 1
            }
        }
        throw refusal("it ends within a text")
    }

    private mutating func readEscape() throws(JSONSyntaxError) {
        guard place + 1 < end else { throw refusal("it ends within a text") }
        switch bytes[place + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            place += 2
        case UInt8(ascii: "u"):
            guard let unit = fourDigits(at: place + 2) else {
                throw refusal("four hexadecimal digits are wanted behind \\u")
            }
            guard unit & 0xF800 == 0xD800 else {
                place += 6
                return
            }
            // Two halves of one character, the high one first.
            guard unit < 0xDC00, place + 7 < end, bytes[place + 6] == UInt8(ascii: "\\"),
                bytes[place + 7] == UInt8(ascii: "u"), let low = fourDigits(at: place + 8), low & 0xFC00 == 0xDC00
            else { throw refusal("half of a surrogate pair") }
            place += 12
        default: throw refusal("no character is escaped so")
        }
    }

    private func fourDigits(at start: Int) -> UInt16? {
        guard start + 4 <= end else { return nil }
        var value: UInt16 = 0
        for index in start..<start + 4 {
            guard let digit = bytes[index].hexadecimalDigit else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// Reads a character of several bytes, in the shortest form only, and no surrogate (RFC 3629).
    private mutating func readScalar() throws(JSONSyntaxError) {
        let first = bytes[place]
        let (length, second): (Int, ClosedRange<UInt8>)
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw refusal("no UTF-8")
        }
        guard place + length <= end, second.contains(bytes[place + 1]) else { throw refusal("no UTF-8") }
        if length > 2, bytes[place + 2] & 0xC0 != 0x80 { throw refusal("no UTF-8") }
        if length > 3, bytes[place + 3] & 0xC0 != 0x80 { throw refusal("no UTF-8") }
        place += length
    }

    private mutating func readNumber() throws(JSONSyntaxError) {
        let start = place
        if bytes[place] == UInt8(ascii: "-") { place += 1 }
        let isZero = place < end && bytes[place] == UInt8(ascii: "0")
        let count = try readDigits()
        guard count == 1 || !isZero else {
            place = start
            throw refusal("a number begins with a zero")
        }
        if place < end, bytes[place] == UInt8(ascii: ".") {
            place += 1
            _ = try readDigits()
        }
        if place < end, bytes[place] | 0x20 == UInt8(ascii: "e") {
            place += 1
            if place < end, bytes[place] == UInt8(ascii: "+") || bytes[place] == UInt8(ascii: "-") { place += 1 }
            _ = try readDigits()
        }
        append(.number, from: start)
    }

    /// Reads one digit or more, and gives their number.
    private mutating func readDigits() throws(JSONSyntaxError) -> Int {
        let start = place
        while place < end, bytes[place] ^ 0x30 < 10 { place += 1 }
        guard place > start else { throw refusal("a digit is wanted") }
        return place - start
    }

    /// Reads a word whose last four letters, of `true`, `alse` or `null`, are in one number.
    private mutating func readWord(
        behind first: Int = 0, ending: UInt32, _ kind: JSONNode.Kind
    ) throws(JSONSyntaxError) {
        let start = place
        var letters: UInt32 = 0
        for index in start + first..<min(start + first + 4, end) { letters = letters << 8 | UInt32(bytes[index]) }
        guard letters == ending else { throw refusal("no value begins so") }
        place += first + 4
        append(kind, from: start)
    }

    /// The next byte that is no blank, at which the place is then; 0 at the end.
    private mutating func next() -> UInt8 {
        while place < end {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): place += 1
            default: return byte
            }
        }
        return 0
    }

    private mutating func append(_ kind: JSONNode.Kind, from start: Int) {
        nodes.append(
            JSONNode(
                kind: kind, start: Int32(start), end: Int32(place),
                next: Int32(nodes.count + 1)))
    }

    private func refusal(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: place, reason: reason)
    }

    private func refuseEqualKeys(of object: Int) throws(JSONSyntaxError) {
        guard let key = ReadKeys(bytes, nodes, of: object).firstRepeated else { return }
        throw JSONSyntaxError(
            offset: Int(nodes[key].start) - 1, reason: "a key is given twice",
            key: String(decoding: Array(JSONTextBytes(bytes, nodes[key])), as: UTF8.self))
    }
}

/// The limits of a document that is read.
package struct JSONLimits: Sendable {
    /// The longest text in bytes.
    package var bytes = Int.max
    /// The most arrays and objects around a value.
    package var depth = Int.max
    /// Whether an object may not have a key twice.
    package var refusesEqualKeys = false

    package init() {}
}

/// The reason why a text is no JSON, or beyond a limit.
package struct JSONSyntaxError: Error {
    /// The number of bytes before the refused byte.
    package let offset: Int
    /// A part of a sentence, without the text.
    package let reason: String
    /// A key that an object has twice.
    package var key: String?

    /// The reason with its place, for the end of a sentence; without the text and the key.
    package var sentence: String { "\(reason), at byte \(offset)" }
}

extension UInt8 {
    /// The value of a digit, `0` to `9` and `a` to `f` in both cases.
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
