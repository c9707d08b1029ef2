import HarmlessText
import KindredPostgres

/// Pieces of Swift source.
enum SwiftText {
    /// A string literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where scalar.isHarmful || scalar == "\u{FEFF}": literal += scalar.writtenOut
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// A name as code in a comment: always on one line.
    static func code(_ text: String) -> String {
        var code = "`"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "`": code += "'"
            case _ where scalar.isHarmful || scalar == "\u{FEFF}": code += scalar.writtenOut
            default: code.unicodeScalars.append(scalar)
            }
        }
        return code + "`"
    }

    /// A name without its backticks, which are not needed after a dot.
    static func bare(_ name: String) -> String { name.filter { $0 != "`" } }

    /// A declaration's name and parameters on one line, or broken as swift-format does if they are too long.
    static func declaration(_ name: String, _ parameters: [String], indentation: Int) -> String {
        let line = "\(name)(\(parameters.joined(separator: ", ")))"
        // The brace after it counts.
        if indentation + line.count <= 118 { return line }
        let blanks = String(repeating: " ", count: indentation)
        return "\(name)(\n" + parameters.map { "\(blanks)    \($0)" }.joined(separator: ",\n") + "\n\(blanks))"
    }

    /// A call on one line, or broken as swift-format does if it is too long.
    static func call(_ function: String, _ arguments: [String], indentation: Int) -> String {
        let line = "\(function)(\(arguments.joined(separator: ", ")))"
        // The comma after it counts.
        if indentation + line.count < 120 { return line }
        let blanks = String(repeating: " ", count: indentation)
        let broken = arguments.map { "\(blanks)    \($0)" }.joined(separator: ",\n")
        return "\(function)(\n\(broken)\n\(blanks))"
    }
}
