import HarmlessText
import KindredPostgres
import KindredSchema

extension QualifiedName {
    /// A text of letters, digits, `_`, `.` and `%` that stands for this name alone: other characters are written as in an
    /// address, byte by byte.
    var diagramID: String { Self.encoded(schema) + "." + Self.encoded(name) }

    private static func encoded(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "_" || (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) && !scalar.isHarmful {
                result.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { result += "%" + byte.hexadecimal }
            }
        }
    }
}

extension UInt8 {
    /// Two digits.
    var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }
}

extension String {
    /// The text on one line, for comments of several lines.
    var onOneLine: String { split(whereSeparator: \.isNewline).joined(separator: " ") }

    /// The text with characters written out that could command a terminal or that no XML may hold.
    private var writable: String {
        harmless.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.properties.isNoncharacterCodePoint {
                result += scalar.writtenOut
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as HTML and XML, on one line, in elements and in attributes between quotation marks.
    ///
    var escapedForHTML: String {
        writable.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as a quoted string of DOT for attributes that take escape sequences.
    var quotedForDOT: String {
        let text = writable.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\\" || scalar == "\"" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return "\"\(text)\""
    }
}

extension Entity.Kind {
    /// The kind in words.
    var words: String {
        switch self {
        case .table: "table"
        case .partitionedTable: "partitioned table"
        case .view: "view"
        case .materializedView: "materialized view"
        case .foreignTable: "foreign table"
        }
    }
}
