/// A JSON document that was read once: its bytes, and its values in the order in which they stand.
///
/// No value holds other values, so that a deep document is copied and freed like any other.
package final class JSONDocument: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]
    /// The number of arrays and objects around the deepest value.
    package let depth: Int

    /// Reads a text in UTF-8.
    package init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        var reader = JSONReader(bytes, limits: limits)
        try reader.read()
        (self.bytes, nodes, depth) = (bytes, reader.nodes, reader.depth)
    }

    /// The whole.
    package var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// A value of a document, or the key of a member.
struct JSONNode {
    enum Kind: UInt8 {
        case null, falseWord, trueWord, number, text, escapedText, array, object
    }

    let kind: Kind
    /// The range of its bytes, for texts without the quotes.
    let start: Int32
    var end: Int32
    /// The number of the node behind it and its contents.
    var next: Int32
}

/// A value in a document.
package struct JSONValue: Sendable {
    let document: JSONDocument
    let index: Int

    /// A value with the values that are directly in it.
    package enum Content {
        case null
        case bool(Bool)
        /// A number by its text.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// The members in the order in which they stand; stored documents may have a key twice.
        case object([Member])
    }

    /// A member of an object.
    package typealias Member = (key: String, value: JSONValue)

    private var node: JSONNode { document.nodes[index] }

    /// The value itself.
    package var content: Content {
        switch node.kind {
        case .null: .null
        case .falseWord: .bool(false)
        case .trueWord: .bool(true)
        case .number: .number(rawText)
        case .text, .escapedText: .string(string(at: index))
        case .array: .array(elements)
        case .object: .object(members)
        }
    }

    package var isNull: Bool { node.kind == .null }

    /// The text of a number; nil for anything else.
    package var number: String? { node.kind == .number ? rawText : nil }

    /// A string; nil for anything else.
    package var string: String? { node.kind == .text || node.kind == .escapedText ? string(at: index) : nil }

    /// Whether it is no array and no object.
    var isScalar: Bool { node.kind != .array && node.kind != .object }

    private var elements: [JSONValue] { parts.map { $0.map(\.value) } ?? [] }

    private var members: [Member] { parts.map { $0.map { ($0.key ?? "", $0.value) } } ?? [] }

    /// The elements of an array, or the members of an object; nil for a value without parts.
    var parts: Parts? { isScalar ? nil : Parts(of: self) }

    /// Values that are directly in another value.
    struct Parts: Sequence, IteratorProtocol {
        let isObject: Bool
        private let document: JSONDocument
        private var place: Int
        private let end: Int

        fileprivate init(of value: JSONValue) {
            isObject = value.node.kind == .object
            document = value.document
            (place, end) = (value.index + 1, Int(value.node.next))
        }

        /// The next value, with its key in an object.
        mutating func next() -> (key: String?, value: JSONValue)? {
            guard place < end else { return nil }
            let value = JSONValue(document: document, index: isObject ? place + 1 : place)
            let key = isObject ? value.string(at: place) : nil
            place = Int(value.node.next)
            return (key, value)
        }
    }

    private func string(at index: Int) -> String {
        let node = document.nodes[index]
        guard node.kind == .escapedText else { return rawText(of: node) }
        return String(decoding: Array(JSONTextBytes(document.bytes, node)), as: UTF8.self)
    }

    private var rawText: String { rawText(of: node) }

    private func rawText(of node: JSONNode) -> String {
        String(decoding: document.bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
    }

    /// The value as it was written, without the blanks between its parts.
    package var text: String {
        switch node.kind {
        case .array, .object: break
        case .text, .escapedText: return "\"\(rawText)\""
        case .null, .falseWord, .trueWord, .number: return rawText
        }
        var result: [UInt8] = []
        result.reserveCapacity(Int(node.end - node.start))
        var (isText, isEscaped) = (false, false)
        for byte in document.bytes[Int(node.start)..<Int(node.end)] {
            if isText {
                if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else if byte <= UInt8(ascii: " ") {
                continue
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The name of its kind, for error messages.
    package var kindName: String {
        switch node.kind {
        case .null: "null"
        case .falseWord, .trueWord: "a boolean"
        case .number: "a number"
        case .text, .escapedText: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
