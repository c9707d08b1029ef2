import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The text of a cursor that clients keep.
///
/// It is base64 for addresses (RFC 4648, section 5) without padding, over the format's number, the content, and a checksum. Texts and
/// lists have their length before them.
package struct CursorText {
    /// The text is none that ``CursorText`` gives.
    package struct Damage: Error {
        package let reason: String

        package init(_ reason: String = "its parts are damaged") { self.reason = reason }
    }

    private var bytes: [UInt8]

    /// A text without content, of a version of a format.
    package init(version: UInt8) { bytes = [version] }

    /// The text as clients get it.
    package var text: String {
        let sum = Self.checksum(bytes[...])
        return Base64Text.encode(bytes + stride(from: 24, through: 0, by: -8).map { UInt8(sum >> UInt32($0) & 0xFF) })
    }

    /// Appends a number below 2^35 that is not negative.
    package mutating func append(_ number: Int) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest & 0x7F))
    }

    package mutating func append(_ text: String) {
        append(text.utf8.count)
        bytes += text.utf8
    }

    /// Appends any number, by eight bytes.
    package mutating func append(whole number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// FNV-1a: finds cut-off and mistyped texts; it is no signature.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// Reads the content; every length is checked against the bytes left.
    package struct Reader {
        private var rest: ArraySlice<UInt8>

        /// Throws ``Damage`` for a text that is too long, of another version, or changed.
        package init(_ text: some StringProtocol, version: UInt8, maximumSize: Int) throws {
            guard text.utf8.count <= maximumSize, let bytes = Base64Text.decode(text) else {
                throw Damage("it is not in the form of one")
            }
            guard let first = bytes.first else { throw Damage("it is empty") }
            guard first == version else { throw Damage("it is of another version of the library") }
            let (content, sum) = (bytes.dropLast(4), bytes.suffix(4))
            guard bytes.count > 5, CursorText.checksum(content) == sum.reduce(0, { $0 << 8 | UInt32($1) }) else {
                throw Damage("it has been changed or cut off")
            }
            rest = content.dropFirst()
        }

        package var isAtEnd: Bool { rest.isEmpty }

        package mutating func number() throws -> Int {
            var value = 0
            for shift in stride(from: 0, to: 35, by: 7) {
                guard let byte = rest.popFirst() else { throw Damage() }
                value |= Int(byte & 0x7F) << shift
                if byte < 0x80 { return value }
            }
            throw Damage()
        }

        package mutating func text() throws -> String {
            let count = try number()
            guard count <= rest.count, let text = String(validating: rest.prefix(count), as: UTF8.self) else {
                throw Damage()
            }
            rest = rest.dropFirst(count)
            return text
        }

        package mutating func whole() throws -> UInt64 {
            guard rest.count >= 8 else { throw Damage() }
            defer { rest = rest.dropFirst(8) }
            return rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }

        package mutating func list<Element>(_ element: (inout Reader) throws -> Element) throws -> [Element] {
            let count = try number()
            // Each element takes a byte at least.
            guard count <= rest.count else { throw Damage() }
            return try (0..<count).map { _ in try element(&self) }
        }
    }
}

/// Base64 for addresses, without padding.
private enum Base64Text {
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The bytes; nil for a text that ``encode(_:)`` does not give for them.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding) else { return nil }
        let bytes = [UInt8](data)
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }
}
