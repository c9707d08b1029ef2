import HarmlessText

/// Text for a terminal: the tool's own, with interpolated texts from elsewhere whose control characters are escaped.
///
/// `Terminal` accepts nothing else, so that no name or message of a database can control it.
struct TerminalText: ExpressibleByStringInterpolation {
    /// The escaped text.
    let written: String

    /// Escapes a text from elsewhere.
    init(_ text: String) {
        written = text.harmless
    }

    init(stringLiteral text: String) {
        written = text
    }

    init(stringInterpolation: Interpolation) {
        written = stringInterpolation.written
    }

    fileprivate init(written: String) {
        self.written = written
    }

    static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(written: left.written + right.written)
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var written = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { written += literal }
        mutating func appendInterpolation(_ text: TerminalText) { written += text.written }
        mutating func appendInterpolation(_ value: some CustomStringConvertible) { written += "\(value)".harmless }
    }
}

extension Terminal {
    /// A text style, by escape sequences of two or three characters.
    enum Style: String {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case cyan = "36"
    }

    /// Returns a text from elsewhere in a style, or plain if styles are off.
    func styled(_ text: String, _ style: Style) -> TerminalText {
        let text = text.harmless
        return TerminalText(
            written: usesStyles && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text)
    }
}
