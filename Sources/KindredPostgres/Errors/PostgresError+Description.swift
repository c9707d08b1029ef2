import HarmlessText

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The sentence, the code and the names of what is concerned; safe to log.
    public var description: String {
        var facts = [sqlState.map { "\(code) \($0)" } ?? "\(code)"]
        if let constraint = server?.constraint { facts.append("constraint \(constraint)") }
        if let table = server?.table { facts.append("table \(server?.schema.map { $0 + "." } ?? "")\(table)") }
        if let column = server?.column { facts.append("column \(column)") }
        return "\(message) [\(facts.joined(separator: ", "))]".harmless
    }

    /// Everything but the values of parameters: what the server said and the statement's text included.
    ///
    /// A line for each; what has lines itself is indented.
    public var debugDescription: String {
        var lines = [description]
        if let server {
            lines.append("\(server.severity): \(server.message)")
            if let detail = server.detail { lines.append("DETAIL: \(detail)") }
            if let hint = server.hint { lines.append("HINT: \(hint)") }
            if let dataType = server.dataType { lines.append("DATA TYPE: \(dataType)") }
            if let context = server.context { lines.append("CONTEXT: \(context)") }
        }
        if let statement {
            lines.append("STATEMENT: \(statement)")
            if let position = server?.position { lines.append("POSITION: \(position)") }
        }
        lines += underlying.map { "CAUSE: \($0)" }
        return lines.map { $0.harmlessLines() }.joined(separator: "\n")
    }
}
