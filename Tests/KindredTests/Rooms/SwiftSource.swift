/// A Swift file as tokens, read without a compiler: enough to tell which names it declares and which it uses.
///
/// Comments are left out. A string literal is one token, followed by the tokens of its interpolations.
struct SwiftSource {
    struct Token {
        enum Kind { case word, sign, literal }

        let kind: Kind
        /// The word, the sign, or a literal's text without its interpolations.
        let text: String
        let line: Int
        /// Whether a literal has interpolations.
        var isInterpolated = false
    }

    /// A name that a file declares.
    struct Declaration {
        enum Kind { case type, member, local }

        let kind: Kind
        let name: String
        /// Whether it stands inside another declaration.
        let isNested: Bool
    }

    var path: String
    private(set) var tokens: [Token] = []

    init(path: String, text: String) {
        self.path = path
        var reader = TokenReader(text)
        tokens = reader.readAll()
    }

    private static let typeWords: Set = ["class", "struct", "enum", "protocol", "actor", "extension"]
    private static let otherWords: Set = ["func", "var", "let", "typealias", "case"]

    /// The names that the file declares: types, their members, and what bodies of functions and parameters declare.
    var declarations: [Declaration] {
        var found: [Declaration] = []
        // For each open brace whether it is that of a type.
        var braces: [Bool] = []
        var parentheses = 0
        var isTypeAhead = false
        for (place, token) in tokens.enumerated() where token.kind != .literal {
            switch token.text {
            case "{":
                braces.append(isTypeAhead && parentheses == 0)
                isTypeAhead = false
            case "}": _ = braces.popLast()
            case "(": parentheses += 1
            case ")": parentheses -= 1
            default: break
            }
            guard token.kind == .word, !isMember(place), let next = name(behind: place) else { continue }
            let isLocal = parentheses > 0 || braces.contains(false)
            if Self.typeWords.contains(token.text) {
                // `class func`, and the `class` of a protocol that only classes adopt.
                if Self.otherWords.contains(next) || sign(before: place) == ":" { continue }
                isTypeAhead = true
                if token.text == "extension" { continue }
                found.append(Declaration(kind: isLocal ? .local : .type, name: next, isNested: !braces.isEmpty))
            } else if token.text == "case" {
                if !isLocal, !braces.isEmpty {
                    found += cases(behind: place).map { Declaration(kind: .member, name: $0, isNested: true) }
                }
            } else if Self.otherWords.contains(token.text) {
                let kind: Declaration.Kind =
                    isLocal ? .local : token.text == "typealias" ? .type : .member
                found.append(Declaration(kind: kind, name: next, isNested: !braces.isEmpty))
            }
        }
        return found
    }

    /// The names of the types that the file extends.
    var extensions: [Token] {
        tokens.indices.dropFirst().filter { place in
            tokens[place].kind == .word && tokens[place - 1].kind == .word && tokens[place - 1].text == "extension"
                && !isMember(place - 1)
        }.map { tokens[$0] }
    }

    /// The labels and parameters of the file, and what closures and loops name.
    var labels: Set<String> {
        var found: Set<String> = []
        for (place, token) in tokens.enumerated() where token.kind == .word {
            guard place + 1 < tokens.count else { break }
            if tokens[place + 1].text == ":" || tokens[place + 1].text == "in" { found.insert(token.text) }
        }
        return found
    }

    /// Whether a word is a member's name: `.name`.
    func isMember(_ place: Int) -> Bool { sign(before: place) == "." }

    /// Whether a word is called: `name(…)`, `name { … }`.
    func isCalled(_ place: Int) -> Bool {
        guard place + 1 < tokens.count, tokens[place + 1].kind == .sign else { return false }
        return tokens[place + 1].text == "(" || tokens[place + 1].text == "{"
    }

    /// Whether a word is a label: `name:`.
    func isLabel(_ place: Int) -> Bool { place + 1 < tokens.count && tokens[place + 1].text == ":" }

    private func sign(before place: Int) -> String? {
        place > 0 && tokens[place - 1].kind == .sign ? tokens[place - 1].text : nil
    }

    private func name(behind place: Int) -> String? {
        guard place + 1 < tokens.count, tokens[place + 1].kind == .word else { return nil }
        return tokens[place + 1].text
    }

    /// The names of `case a, b(Int)`, as far as they stand on one line.
    private func cases(behind place: Int) -> [String] {
        var names: [String] = []
        var depth = 0
        var isName = true
        for token in tokens[(place + 1)...] {
            guard token.line == tokens[place].line else { break }
            switch token.text {
            case "(", "[", "<": depth += 1
            case ")", "]", ">": depth -= 1
            case ",": if depth == 0 { isName = true }
            default:
                if isName, depth == 0, token.kind == .word { names.append(token.text) }
                isName = false
            }
        }
        return names
    }
}

/// Reads the tokens of a file, byte by byte: files are many, and tests are not optimised.
private struct TokenReader {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1
    private var tokens: [SwiftSource.Token] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func readAll() -> [SwiftSource.Token] {
        while place < bytes.count { readToken() }
        return tokens
    }

    private func isAt(_ text: String) -> Bool {
        let count = text.utf8.count
        guard place + count <= bytes.count else { return false }
        return text.utf8.elementsEqual(bytes[place..<place + count])
    }

    private mutating func readToken() {
        let byte = bytes[place]
        if byte == UInt8(ascii: "/"), isAt("//") {
            while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
        } else if byte == UInt8(ascii: "/"), isAt("/*") {
            while place < bytes.count, !isAt("*/") { step() }
            place += 2
        } else if byte == UInt8(ascii: "\"") {
            readLiteral(hashes: 0)
        } else if byte == UInt8(ascii: "#"), let hashes = hashesBeforeQuote() {
            place += hashes
            readLiteral(hashes: hashes)
        } else if Self.isWord(byte) {
            let start = place
            while place < bytes.count, Self.isWord(bytes[place]) { place += 1 }
            tokens.append(.init(kind: .word, text: text(start..<place), line: line))
        } else {
            if byte > UInt8(ascii: " "), byte != UInt8(ascii: "`") {
                tokens.append(.init(kind: .sign, text: text(place..<place + 1), line: line))
            }
            step()
        }
    }

    private mutating func step() {
        if bytes[place] == UInt8(ascii: "\n") { line += 1 }
        place += 1
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private func hashesBeforeQuote() -> Int? {
        var end = place
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - place : nil
    }

    /// Reads a literal from its first quote on.
    private mutating func readLiteral(hashes: Int) {
        let quotes = isAt("\"\"\"") ? 3 : 1
        let end =
            Array(repeating: UInt8(ascii: "\""), count: quotes) + Array(repeating: UInt8(ascii: "#"), count: hashes)
        let start = place
        place += quotes
        var content: [UInt8] = []
        let index = tokens.count
        tokens.append(.init(kind: .literal, text: "", line: line))
        var isInterpolated = false
        while place < bytes.count, !bytes[place...].starts(with: end) {
            guard bytes[place] == UInt8(ascii: "\\") else {
                content.append(bytes[place])
                step()
                continue
            }
            place += 1 + hashes
            if place < bytes.count, bytes[place] == UInt8(ascii: "(") {
                isInterpolated = true
                readInterpolation()
            } else {
                step()
            }
        }
        place = min(place + end.count, bytes.count)
        tokens[index] = .init(
            kind: .literal, text: String(decoding: content, as: UTF8.self), line: tokens[index].line,
            isInterpolated: isInterpolated)
        if place == start { place += 1 }
    }

    /// Reads the tokens between an interpolation's parentheses.
    private mutating func readInterpolation() {
        var depth = 0
        repeat {
            if bytes[place] == UInt8(ascii: "(") { depth += 1 }
            if bytes[place] == UInt8(ascii: ")") { depth -= 1 }
            readToken()
        } while place < bytes.count && depth > 0
    }
}
