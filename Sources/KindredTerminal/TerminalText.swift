import HarmlessText

/// Text for a terminal: the tool's own, with interpolated texts from elsewhere whose control characters are escaped.
///
/// `Terminal` accepts nothing else, so that no name or message of a database can control it.
package struct TerminalText: ExpressibleByStringInterpolation {
    /// The escaped text.
    package let written: String

    /// Escapes a text from elsewhere.
    package init(_ text: String) {
        written = text.harmless
    }

    package init(stringLiteral text: String) {
        written = text
    }

    package init(stringInterpolation: Interpolation) {
        written = stringInterpolation.written
    }

    fileprivate init(written: String) {
        self.written = written
    }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(written: left.written + right.written)
    }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var written = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { written += literal }
        package mutating func appendInterpolation(_ text: TerminalText) { written += text.written }
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            written += "\(value)".harmless
        }
    }
}

extension Terminal {
    /// A text style, by escape sequences of two or three characters.
    package enum Style: String {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case cyan = "36"
    }

    /// Returns a text from elsewhere in a style, or plain if styles are off.
    package func styled(_ text: String, _ style: Style) -> TerminalText {
        let text = text.harmless
        return TerminalText(
            written: usesStyles && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text)
    }
}
