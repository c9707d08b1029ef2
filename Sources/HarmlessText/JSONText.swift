/// A JSON value whose members keep their order.
package indirect enum JSONText: ExpressibleByStringLiteral {
    case string(String)
    case integer(Int)
    case bool(Bool)
    case null
    case list([JSONText])
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
        case .object(let members):
            "{\(members.map { "\($0.0.quotedForJSON): \($0.1.line)" }.joined(separator: ", "))}"
        }
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
