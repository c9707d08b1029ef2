import KindredPostgres

/// A regular expression of ICU, which Core Data uses, in the syntax of PostgreSQL.
///
/// Only parts that mean the same in both are translated; the rest is an error with its reason, so that no condition
/// says something else than the model.
enum PatternTranslation {
    struct Failure: Error {
        let reason: String
    }

    /// Returns the expression for `~`, which matches where the whole text matches the original.
    static func translate(_ pattern: String) throws(Failure) -> String {
        guard pattern.utf8.count <= 4_096 else { throw Failure(reason: "it is longer than 4,096 bytes") }
        var translator = Translator(pattern)
        return "^(?:\(try translator.run()))$"
    }

    private struct Translator {
        private let input: [Unicode.Scalar]
        private var place = 0
        private var output = ""
        /// Whether something stands before that can be repeated.
        private var isRepeatable = false
        /// The groups that are open, outermost first: whether each only looks around, and how many characters it has,
        /// repeated characters counted as often as they are repeated.
        private var groups: [(isLookaround: Bool, weight: Int)] = [(false, 0)]
        /// The weight of the part before the present place that can be repeated.
        private var weight = 0

        init(_ pattern: String) {
            input = Array(pattern.unicodeScalars)
        }

        mutating func run() throws(Failure) -> String {
            while let scalar = next() {
                switch scalar {
                case "\\": try escape()
                case "[": try bracket()
                case "(": try open()
                case ")": try close()
                case "*", "+", "?":
                    try quantifier(String(Character(scalar)))
                case "{": try bounds()
                case "|", "^", "$":
                    output.unicodeScalars.append(scalar)
                    isRepeatable = false
                case ".":
                    // In ICU a point does not match the end of a line.
                    output += "[^\\n\\r]"
                    atom()
                case "]", "}", "#":
                    output += "\\\(scalar)"
                    atom()
                default:
                    guard scalar.value >= 0x20 else { throw Failure(reason: "it holds a control character") }
                    output.unicodeScalars.append(scalar)
                    atom()
                }
            }
            guard groups.count == 1 else { throw Failure(reason: "a parenthesis is not closed") }
            return output
        }

        /// Counts a character or set of them.
        private mutating func atom() {
            isRepeatable = true
            weight = 1
            groups[groups.count - 1].weight += 1
        }

        private mutating func close() throws(Failure) {
            guard groups.count > 1, let group = groups.popLast() else {
                throw Failure(reason: "a parenthesis closes that is not open")
            }
            output += ")"
            isRepeatable = !group.isLookaround
            weight = group.weight
            groups[groups.count - 1].weight += group.weight
        }

        private mutating func next() -> Unicode.Scalar? {
            guard place < input.count else { return nil }
            place += 1
            return input[place - 1]
        }

        private var following: Unicode.Scalar? { place < input.count ? input[place] : nil }

        private mutating func quantifier(_ text: String) throws(Failure) {
            guard isRepeatable else { throw Failure(reason: "\(text) repeats nothing") }
            output += text
            if following == "?" {
                place += 1
                output += "?"
            } else if following == "+" {
                throw Failure(reason: "possessive quantifiers are not PostgreSQL's")
            }
            isRepeatable = false
        }

        /// `{2}`, `{2,}` and `{2,4}`, up to the 255 of PostgreSQL.
        private mutating func bounds() throws(Failure) {
            var text = ""
            while let scalar = next(), scalar != "}" {
                guard text.utf8.count < 8, ("0"..."9").contains(scalar) || scalar == "," else {
                    throw Failure(reason: "a brace begins no number of repetitions")
                }
                text.unicodeScalars.append(scalar)
            }
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            let first = parts.first.flatMap { Int($0) }
            let last = parts.count == 2 && !parts[1].isEmpty ? Int(parts[1]) : first
            guard input[place - 1] == "}", let first, let last, parts.count <= 2, first <= last, last <= 255 else {
                throw Failure(reason: "{\(text)} is no number of repetitions up to 255")
            }
            try quantifier("{\(text)}")
            groups[groups.count - 1].weight += weight * max(0, last - 1)
            guard groups[groups.count - 1].weight <= 2_000 else {
                throw Failure(reason: "it repeats more than PostgreSQL compiles")
            }
        }

        private mutating func open() throws(Failure) {
            guard groups.count <= 50 else { throw Failure(reason: "its parentheses are too deep") }
            isRepeatable = false
            guard following == "?" else {
                groups.append((false, 0))
                output += "("
                return
            }
            for mark in ["?:", "?=", "?!", "?<=", "?<!"] {
                let scalars = Array(mark.unicodeScalars)
                if input.dropFirst(place).starts(with: scalars) {
                    place += scalars.count
                    groups.append((mark != "?:", 0))
                    output += "(" + mark
                    return
                }
            }
            throw Failure(reason: "groups with names, options or comments are not PostgreSQL's")
        }

        private mutating func escape() throws(Failure) {
            guard let scalar = next() else { throw Failure(reason: "it ends with a backslash") }
            atom()
            switch scalar {
            case "d", "D", "s", "S", "w", "W", "n", "r", "t", "f", "v": output += "\\\(scalar)"
            // A boundary of words has another letter.
            case "b":
                output += "\\y"
                isRepeatable = false
            case "B":
                output += "\\Y"
                isRepeatable = false
            case "A":
                output += "^"
                isRepeatable = false
            case "z":
                output += "$"
                isRepeatable = false
            case "u": output += "\\u" + (try hexDigits(4))
            case "x": output += "\\u00" + (try hexDigits(2))
            default:
                guard scalar.isASCII, scalar.value > 0x20, !scalar.properties.isAlphabetic,
                    !("0"..."9").contains(scalar)
                else { throw Failure(reason: "\\\(scalar) has no translation") }
                output += "\\\(scalar)"
            }
        }

        private mutating func hexDigits(_ count: Int) throws(Failure) -> String {
            var digits = ""
            for _ in 0..<count {
                guard let scalar = next(), scalar.properties.isASCIIHexDigit else {
                    throw Failure(reason: "an escape has too few digits")
                }
                digits.unicodeScalars.append(scalar)
            }
            guard let value = UInt32(digits, radix: 16), value > 0, !(0xD800...0xDFFF).contains(value) else {
                throw Failure(reason: "an escape is no character")
            }
            return digits
        }

        /// A set of characters: single characters, ranges, and the classes that both languages have.
        private mutating func bracket() throws(Failure) {
            output += "["
            if following == "^" {
                place += 1
                output += "^"
            }
            var isEmpty = true
            while let scalar = next() {
                if scalar == "]" {
                    guard !isEmpty else { throw Failure(reason: "a set of characters is empty") }
                    output += "]"
                    atom()
                    return
                }
                isEmpty = false
                if scalar == "[" {
                    guard following == ":" else { throw Failure(reason: "sets of sets are not PostgreSQL's") }
                    try posixClass()
                    continue
                }
                guard let start = try member(scalar) else { continue }
                guard following == "-", place + 1 < input.count, input[place + 1] != "]" else { continue }
                place += 1
                guard let last = next(), last != "[", last != "-", let end = try member(last, prefix: "-"), start <= end
                else { throw Failure(reason: "a range of characters is not in order") }
            }
            throw Failure(reason: "a set of characters is not closed")
        }

        /// Writes a single character of a set and returns it; nil for a class, which begins no range.
        private mutating func member(_ scalar: Unicode.Scalar, prefix: String = "") throws(Failure) -> Unicode.Scalar? {
            output += prefix
            switch scalar {
            case "\\": return try bracketEscape()
            case "&" where following == "&", "-" where following == "-":
                throw Failure(reason: "sets are not combined in PostgreSQL")
            case "{", "}", "$": throw Failure(reason: "\(scalar) in a set of characters has a meaning of its own")
            case "^", "-":
                output += "\\\(scalar)"
            default:
                guard scalar.value >= 0x20 else { throw Failure(reason: "it holds a control character") }
                output.unicodeScalars.append(scalar)
            }
            return scalar
        }

        private mutating func posixClass() throws(Failure) {
            let rest = String(String.UnicodeScalarView(input.dropFirst(place).prefix(10)))
            for name in ["alpha", "digit", "alnum", "upper", "lower", "space", "punct", "xdigit"]
            where rest.hasPrefix(":\(name):]") {
                output += "[:\(name):]"
                place += name.utf8.count + 3
                return
            }
            throw Failure(reason: "a class of characters is unknown")
        }

        private mutating func bracketEscape() throws(Failure) -> Unicode.Scalar? {
            guard let scalar = next() else { throw Failure(reason: "it ends with a backslash") }
            switch scalar {
            case "d", "s", "w":
                guard following != "-" else { throw Failure(reason: "a class of characters begins no range") }
                output += "\\\(scalar)"
                return nil
            case "n", "r", "t", "f", "v":
                guard following != "-" else { throw Failure(reason: "a control character begins no range") }
                output += "\\\(scalar)"
                return nil
            case "u", "x":
                let digits = scalar == "u" ? try hexDigits(4) : "00" + (try hexDigits(2))
                output += "\\u" + digits
                return UInt32(digits, radix: 16).flatMap { Unicode.Scalar($0) }
            default:
                guard scalar.isASCII, scalar.value > 0x20, !scalar.properties.isAlphabetic,
                    !("0"..."9").contains(scalar)
                else { throw Failure(reason: "\\\(scalar) has no translation in a set of characters") }
                output += "\\\(scalar)"
                return scalar
            }
        }
    }
}
