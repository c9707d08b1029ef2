extension Unicode.Scalar {
    /// Whether the scalar may control a terminal, break a line, or change the order in which text is displayed.
    package var isHarmful: Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The scalar escaped as in a Swift literal: `\u{1B}`.
    package var writtenOut: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }

    /// The scalar escaped as in JSON and in SQL texts with escapes, such as `\u001b`.
    ///
    /// Only for harmful scalars, whose values have at most four digits.
    package var inFourDigits: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension String {
    /// The first 100 characters, with an ellipsis behind them if there are more: for names in messages that a client sent.
    package var shortened: String {
        // A character of Swift has no longest length.
        let end = unicodeScalars.index(startIndex, offsetBy: 100, limitedBy: endIndex) ?? endIndex
        return end < endIndex ? self[..<end] + "\u{2026}" : self
    }

    /// The text on one line, with control characters, line separators and bidirectional controls escaped: `\u{1B}`.
    ///
    /// For text from a server or caller that people read in errors, logs and terminals. Never for data.
    package var harmless: String {
        guard mayBeHarmful else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isHarmful { text += scalar.writtenOut } else { text.unicodeScalars.append(scalar) }
        }
    }

    /// The text with the same characters escaped, except tabs and newlines.
    ///
    /// - Parameter indentation: The prefix of each line except the first, so that none looks like a line of the program
    ///   itself.
    package func harmlessLines(indentation: String = "    ") -> String {
        guard mayBeHarmful else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\n" + indentation
            case _ where scalar.isHarmful && scalar != "\t": text += scalar.writtenOut
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as a string of JSON, with the same characters escaped: readers get the text itself.
    package var quotedForJSON: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.isHarmful: quoted += scalar.inFourDigits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether a byte is, or begins, a harmful scalar.
    private var mayBeHarmful: Bool {
        utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }
    }
}
