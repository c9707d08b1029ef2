/// A word or sign of an expression as the server writes it (`pg_get_expr`), with its place in the text.
package struct ExpressionToken: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A keyword, a number, or a name without quotes.
        case word(String)
        /// A name in double quotes, given without them.
        case quotedName(String)
        /// A constant in single quotes, given without them.
        case literal(String)
        /// `::`, or any other character.
        case symbol(String)
    }

    package let kind: Kind
    package let range: Range<String.Index>

    /// Splits an expression; what is in quotes and does not end goes to the end of the text, as a symbol.
    package static func all(in text: String) -> [ExpressionToken] {
        var reader = Reader(text: text.unicodeScalars)
        var tokens: [ExpressionToken] = []
        while let token = reader.next() { tokens.append(token) }
        return tokens
    }

    private struct Reader {
        let text: String.UnicodeScalarView
        var place: String.Index

        init(text: String.UnicodeScalarView) {
            self.text = text
            place = text.startIndex
        }

        mutating func next() -> ExpressionToken? {
            while place < text.endIndex, [" ", "\n", "\t", "\r"].contains(text[place]) { text.formIndex(after: &place) }
            guard place < text.endIndex else { return nil }
            let start = place
            let kind = kind(text[place])
            return ExpressionToken(kind: kind, range: start..<place)
        }

        private mutating func kind(_ first: Unicode.Scalar) -> Kind {
            if first == "\"" { return quoted(by: first).map(Kind.quotedName) ?? .symbol("\"") }
            if first == "'" { return quoted(by: first).map(Kind.literal) ?? .symbol("'") }
            // A constant with backslashes has an E before it.
            if first == "E", scalar(1) == "'" {
                text.formIndex(after: &place)
                return quoted(by: "'", hasEscapes: true).map(Kind.literal) ?? .symbol("'")
            }
            if first.isPartOfName {
                let start = place
                while place < text.endIndex, text[place].isPartOfName { text.formIndex(after: &place) }
                return .word(String(text[start..<place]))
            }
            if first == ":", scalar(1) == ":" {
                text.formIndex(&place, offsetBy: 2)
                return .symbol("::")
            }
            text.formIndex(after: &place)
            return .symbol(String(first))
        }

        private func scalar(_ distance: Int) -> Unicode.Scalar? {
            guard let index = text.index(place, offsetBy: distance, limitedBy: text.endIndex), index < text.endIndex
            else { return nil }
            return text[index]
        }

        /// Takes what stands in quotes, where a doubled quote stands for one; nil if it does not end.
        private mutating func quoted(by quote: Unicode.Scalar, hasEscapes: Bool = false) -> String? {
            text.formIndex(after: &place)
            var taken = String.UnicodeScalarView()
            while place < text.endIndex {
                let next = text[place]
                text.formIndex(after: &place)
                if next == quote || (hasEscapes && next == "\\") {
                    guard place < text.endIndex, text[place] == next else {
                        return next == quote ? String(taken) : nil
                    }
                    text.formIndex(after: &place)
                }
                taken.append(next)
            }
            return nil
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isPartOfName: Bool {
        properties.isAlphabetic || self == "_" || self == "$" || ("0"..."9").contains(self)
    }
}
