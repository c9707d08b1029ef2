import HarmlessText

/// Values as SQL literals: the one place where a model's texts become part of DDL.
enum PlanLiteral {
    /// A text constant; control characters and such are written out, so that it can be shown and piped as it is.
    static func text(_ text: String) -> String {
        let isPlain = !text.unicodeScalars.contains { $0 == "\\" || $0.isHarmful }
        var literal = isPlain ? "'" : "E'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": literal += "''"
            case "\\": literal += "\\\\"
            case _ where scalar.isHarmful:
                let digits = String(scalar.value, radix: 16)
                literal += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "'"
    }

    /// A JSON string.
    static func json(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case _ where scalar.isHarmful:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
