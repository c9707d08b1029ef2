import KindredPostgres

/// Refuses XML that a model has no use for, before a parser sees it.
///
/// A parser that meets a DOCTYPE expands the entities that it declares, and a parser that meets another encoding may
/// find markup where this guard sees none. So a model is UTF-8 without a DOCTYPE, of limited depth and size, and its
/// only references are XML's own.
struct ModelXMLGuard {
    private static let maximumDepth = 32
    private static let maximumElements = 200_000
    private static let maximumAttribute = 1_048_576

    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0
    private var elements = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Throws ``ModelImportError`` `.malformed` with the line of the refused text.
    static func check(_ bytes: [UInt8]) throws(ModelImportError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ModelImportError(.malformed, "The model is no UTF-8 text")
        }
        var check = ModelXMLGuard(bytes)
        try check.run()
    }

    private mutating func run() throws(ModelImportError) {
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "<"): try markup()
            case UInt8(ascii: "&"): try reference()
            case 0: throw refusal("it holds a NUL")
            default: place += 1
            }
        }
        guard elements > 0 else { throw refusal("it has no element") }
        guard depth == 0 else { throw refusal("it ends within an element") }
    }

    private mutating func markup() throws(ModelImportError) {
        if starts(with: "<!--") {
            try skip(past: "-->", from: place + 4)
        } else if starts(with: "<![CDATA[") {
            try skip(past: "]]>", from: place + 9)
        } else if starts(with: "<!") {
            throw refusal("it has a declaration (<!DOCTYPE, <!ENTITY), which no model has")
        } else if starts(with: "<?") {
            let start = place
            try skip(past: "?>", from: place + 2)
            try checkDeclaration(bytes[start..<place])
        } else if starts(with: "</") {
            depth -= 1
            guard depth >= 0 else { throw refusal("it closes an element that is not open") }
            try skip(past: ">", from: place + 2)
        } else {
            try startTag()
        }
    }

    private mutating func startTag() throws(ModelImportError) {
        elements += 1
        guard elements <= Self.maximumElements else {
            throw refusal("it has more than \(Self.maximumElements) elements")
        }
        place += 1
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: ">") {
                let isEmpty = bytes[place - 1] == UInt8(ascii: "/")
                place += 1
                if !isEmpty { depth += 1 }
                guard depth <= Self.maximumDepth else {
                    throw refusal("its elements are more than \(Self.maximumDepth) deep")
                }
                return
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                try attributeValue(quote: byte)
            } else if byte == UInt8(ascii: "<") {
                throw refusal("a tag begins within a tag")
            } else {
                place += 1
            }
        }
        throw refusal("it ends within a tag")
    }

    private mutating func attributeValue(quote: UInt8) throws(ModelImportError) {
        let start = place
        place += 1
        while place < bytes.count, bytes[place] != quote {
            switch bytes[place] {
            case UInt8(ascii: "<"): throw refusal("an attribute's value holds a <")
            case UInt8(ascii: "&"): try reference()
            default: place += 1
            }
            guard place - start <= Self.maximumAttribute else {
                throw refusal("an attribute's value is longer than \(Self.maximumAttribute) bytes")
            }
        }
        guard place < bytes.count else { throw refusal("it ends within an attribute's value") }
        place += 1
    }

    /// Passes `&lt;` and `&#10;`; all other entities would have to be declared.
    private mutating func reference() throws(ModelImportError) {
        let end = bytes[place...].prefix(16).firstIndex(of: UInt8(ascii: ";"))
        guard let end else { throw refusal("an & begins no reference") }
        let name = bytes[(place + 1)..<end]
        let isKnown = ["lt", "gt", "amp", "quot", "apos"].contains { name.elementsEqual($0.utf8) }
        guard isKnown || name.first == UInt8(ascii: "#") else {
            throw refusal("it refers to an entity that XML itself does not have")
        }
        place = end + 1
    }

    /// An XML declaration may name no encoding but UTF-8, which this guard reads.
    private func checkDeclaration(_ text: ArraySlice<UInt8>) throws(ModelImportError) {
        let words = String(decoding: text, as: UTF8.self).lowercased()
        guard words.hasPrefix("<?xml"), let found = words.firstRange(of: "encoding") else { return }
        let value = words[found.upperBound...].drop { "= \t\r\n".contains($0) }
        guard ["\"utf-8\"", "'utf-8'", "\"us-ascii\"", "'us-ascii'"].contains(where: { value.hasPrefix($0) }) else {
            throw refusal("its encoding is not UTF-8")
        }
    }

    private func starts(with mark: StaticString) -> Bool {
        bytes[place...].starts(with: mark.description.utf8)
    }

    private mutating func skip(past mark: StaticString, from start: Int) throws(ModelImportError) {
        let mark = Array(mark.description.utf8)
        var next = start
        while next + mark.count <= bytes.count {
            if bytes[next..<(next + mark.count)].elementsEqual(mark) {
                place = next + mark.count
                return
            }
            next += 1
        }
        throw refusal("it ends within markup")
    }

    private func refusal(_ reason: String) -> ModelImportError {
        let line = bytes[..<min(place, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return ModelImportError(.malformed, "The model is refused at line \(line): \(reason)")
    }
}
