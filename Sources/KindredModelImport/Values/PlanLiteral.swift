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
            case _ where scalar.isHarmful: literal += scalar.inFourDigits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "'"
    }
}
