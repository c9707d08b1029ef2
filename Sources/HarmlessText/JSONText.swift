/// A JSON value whose members keep their order.
package indirect enum JSONText: ExpressibleByStringLiteral {
    case string(String)
    case integer(Int)
    case bool(Bool)
    case null
    case list([JSONText])
    /// A list with one element on a line behind so many blanks, also where the whole stands on one line.
    case rows([JSONText], indentation: Int)
    case object([(String, JSONText)])

    package init(stringLiteral text: String) { self = .string(text) }

    /// nil is null.
    package static func optional(_ text: String?) -> JSONText { text.map { .string($0) } ?? .null }

    package static func strings(_ texts: [String]) -> JSONText { .list(texts.map { .string($0) }) }

    /// The text on one line.
    package var line: String {
        switch self {
        case .string(let text): text.quotedForJSON
        case .integer(let number): "\(number)"
        case .bool(let value): "\(value)"
        case .null: "null"
        case .list(let values): "[\(values.map(\.line).joined(separator: ", "))]"
        case .rows(let values, let indentation): Self.lines(of: values, indentation: indentation)
        case .object(let members): "{\(Self.members(members))}"
        }
    }

    /// Members without the braces around them, on one line.
    package static func members(_ members: [(String, JSONText)]) -> String {
        members.map { "\($0.0.quotedForJSON): \($0.1.line)" }.joined(separator: ", ")
    }

    /// A list with one element on a line, which makes differences easy to read.
    ///
    /// - Parameters:
    ///   - indentation: The blanks before each element.
    ///   - end: The text between the last element and the bracket.
    package static func lines(of elements: [JSONText], indentation: Int = 2, end: String = "") -> String {
        let blanks = String(repeating: " ", count: indentation)
        return elements.isEmpty ? "[]" : "[\n\(elements.map { blanks + $0.line }.joined(separator: ",\n"))\(end)]"
    }

    /// The text on lines of its own, with two blanks for each level.
    package func lines(_ depth: Int = 0) -> String {
        let (inside, end) = (String(repeating: "  ", count: depth + 1), String(repeating: "  ", count: depth))
        switch self {
        case .list(let values) where !values.isEmpty:
            return "[\n\(values.map { inside + $0.lines(depth + 1) }.joined(separator: ",\n"))\n\(end)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inside)\($0.0.quotedForJSON): \($0.1.lines(depth + 1))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(end)}"
        default: return line
        }
    }
}
