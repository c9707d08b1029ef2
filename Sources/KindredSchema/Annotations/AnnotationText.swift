import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A parsed comment of the form `@kindred {"name": "owner"} text for people`.
package struct AnnotationText {
    /// The members of the JSON object.
    let members: [ServerText: Value]
    /// The text after the object, for people; nil if there is none.
    let remainder: String?

    /// A value in an annotation.
    enum Value: Hashable {
        case string(String)
        case bool(Bool)
        case strings([String])
        case integer(Int)
        case other
    }

    /// The reason why a comment is malformed.
    package struct Malformed: Error {
        let reason: String
    }

    /// The beginning of an annotation.
    package static let mark = "@kindred"

    /// Returns whether a comment is an annotation: it begins with the mark, and no letter follows.
    package static func isAnnotation(_ comment: String) -> Bool {
        guard comment.hasPrefix(mark) else { return false }
        guard let next = comment.dropFirst(mark.count).first else { return true }
        return next.isWhitespace || !(next.isLetter || next.isNumber || next == "_" || next == "-" || next == ".")
    }

    /// Parses an annotation.
    init(_ comment: String) throws(Malformed) {
        let (object, rest) = try Self.parts(of: comment)
        do {
            let decoded = try JSONDecoder().decode([String: Value].self, from: Data(object.utf8))
            members = Dictionary(decoded.map { (ServerText($0), $1) }, uniquingKeysWith: { first, _ in first })
        } catch {
            throw Malformed(reason: "its JSON is malformed")
        }
        remainder = rest.isEmpty ? nil : String(rest)
    }

    /// Takes an annotation apart: its JSON object, which is not parsed, and the text behind it for people.
    package static func parts(of comment: String) throws(Malformed) -> (object: Substring, remainder: Substring) {
        let text = comment.dropFirst(mark.count).drop(while: \.isWhitespace)
        guard text.first == "{" else { throw Malformed(reason: "a JSON object must follow @kindred") }
        guard let end = endOfObject(text.utf8) else { throw Malformed(reason: "its JSON object does not end") }
        let object = text[..<end]
        guard object.utf8.count <= 65_536 else { throw Malformed(reason: "its JSON is longer than 65,536 bytes") }
        return (object, text[end...].drop(while: \.isWhitespace))
    }

    /// Finds the end of the object: the index after the brace that closes the first brace.
    private static func endOfObject(_ text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for index in text.indices {
            let byte = text[index]
            if isEscaped {
                isEscaped = false
            } else if isInString {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isInString = false }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: "{") {
                depth += 1
            } else if byte == UInt8(ascii: "}") {
                depth -= 1
                if depth == 0 { return text.index(after: index) }
            }
        }
        return nil
    }
}

extension AnnotationText.Value: Decodable {
    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.singleValueContainer() else {
            self = .other
            return
        }
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String].self) {
            self = .strings(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else {
            self = .other
        }
    }
}
