/// A function, an initializer or a property that a type or a file declares, with its place among the file's tokens.
struct SwiftMember {
    enum Kind { case function, stored, computed }

    let kind: Kind
    /// The names of the types around it, from the outermost one; empty at the top level.
    let types: [String]
    /// The name, of functions with the labels: `take(_:at:)`.
    let name: String
    /// The words before it, such as `private` and `static`.
    let modifiers: Set<String>
    /// The tokens behind the name up to the body, or up to the end where there is none.
    let head: Range<Int>
    let body: Range<Int>

    /// The name behind the types' names.
    var fullName: String { (types + [name]).joined(separator: ".") }
    /// The name without labels.
    var baseName: String { String(name.prefix { $0 != "(" }) }
    var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
}

/// A type that a file declares or extends.
struct SwiftType {
    let name: String
    let types: [String]
    let modifiers: Set<String>
    let isExtension: Bool
}

extension SwiftSource {
    /// The types of the file and their members; declarations within bodies of functions are left out.
    var members: (types: [SwiftType], members: [SwiftMember]) {
        var reader = MemberReader(tokens)
        reader.readAll()
        return (reader.types, reader.members)
    }
}

private struct MemberReader {
    private let tokens: [SwiftSource.Token]
    private var place = 0
    private var scopes: [String?] = []
    private var modifiers: Set<String> = []
    private(set) var types: [SwiftType] = []
    private(set) var members: [SwiftMember] = []

    private static let typeWords: Set = ["class", "struct", "enum", "protocol", "actor", "extension"]
    private static let modifierWords: Set = [
        "public", "package", "internal", "private", "fileprivate", "open", "static", "class", "mutating", "final",
        "lazy",
        "weak", "convenience", "override", "indirect", "nonisolated", "required", "borrowing", "consuming",
    ]

    init(_ tokens: [SwiftSource.Token]) { self.tokens = tokens }

    mutating func readAll() {
        while place < tokens.count { readToken() }
    }

    private func text(_ index: Int) -> String {
        index >= 0 && index < tokens.count && tokens[index].kind != .literal ? tokens[index].text : ""
    }

    private var names: [String] { scopes.compactMap(\.self) }

    private mutating func readToken() {
        let token = tokens[place]
        let next = text(place + 1)
        switch token.kind == .literal || text(place - 1) == "." ? "" : token.text {
        case "{": push(nil)
        case "}":
            _ = scopes.popLast()
            end()
        case "func": readFunction(name: next, at: place + 2)
        case "init", "subscript": readFunction(name: token.text, at: place + 1)
        case "var", "let": readProperty()
        case "case": endOfLine()
        case let word where Self.typeWords.contains(word) && !(word == "class" && ["func", "var"].contains(next)):
            readType()
        case let word:
            if Self.modifierWords.contains(word) {
                modifiers.insert(word)
            } else if !["(", ")", "set", "unsafe", "@"].contains(word), token.kind == .word, text(place - 1) != "@",
                !["(set)"].contains(word)
            {
                modifiers = []
            }
            place += 1
        }
    }

    private mutating func push(_ name: String?) {
        scopes.append(name)
        end()
    }

    private mutating func end() {
        modifiers = []
        place += 1
    }

    private mutating func endOfLine() {
        let line = tokens[place].line
        while place < tokens.count, tokens[place].line == line, text(place) != "}" { skip() }
        modifiers = []
    }

    /// Goes behind a token, or behind the bracket that closes the one here.
    private mutating func skip() {
        var depth = 0
        repeat {
            switch text(place) {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            place += 1
        } while depth > 0 && place < tokens.count
    }

    private mutating func readType() {
        let isExtension = text(place) == "extension"
        place += 1
        var name = ""
        while text(place) != "{", text(place) != ":", text(place) != "<", text(place) != "where", place < tokens.count {
            name += text(place)
            place += 1
        }
        while text(place) != "{", place < tokens.count { place += 1 }
        types.append(SwiftType(name: name, types: names, modifiers: modifiers, isExtension: isExtension))
        push(name)
    }

    private mutating func readFunction(name: String, at start: Int) {
        place = start
        while text(place) != "(", place < tokens.count { place += 1 }
        let head = place
        var labels = ""
        var depth = 0
        var isLabel = false
        repeat {
            switch text(place) {
            case "(", "[", "{":
                depth += 1
                isLabel = depth == 1
            case ")", "]", "}": depth -= 1
            case ",": isLabel = depth == 1 ? true : isLabel
            default:
                if isLabel, tokens[place].kind == .word {
                    labels += text(place) + ":"
                    isLabel = false
                }
            }
            place += 1
        } while depth > 0 && place < tokens.count
        var line = tokens[place - 1].line
        while place < tokens.count, text(place) != "{", text(place) != "}" {
            let word = text(place)
            let isNext =
                tokens[place].line > line
                && (Self.modifierWords.contains(word) || ["func", "var", "init"].contains(word))
            if isNext || word == "@" { break }
            line = tokens[place].line
            place += 1
        }
        let body = place
        if text(place) == "{" { skip() }
        let found = SwiftMember(
            kind: .function, types: names, name: "\(name)(\(labels))", modifiers: modifiers, head: head..<body,
            body: body..<place)
        members.append(found)
        modifiers = []
    }

    private mutating func readProperty() {
        let name = text(place + 1)
        let isInBody = scopes.contains(nil)
        place += 2
        let head = place
        var isStored = true
        var hasValue = false
        while place < tokens.count, text(place) != "}" {
            if tokens[place].line > tokens[place - 1].line,
                !["=", "->", ",", ":", "&", "(", "["].contains(text(place - 1)),
                ![".", "?", ":", "=", "{", "&"].contains(text(place))
            {
                break
            }
            if text(place) == "=" { hasValue = true }
            if text(place) == "{", !hasValue {
                isStored = ["didSet", "willSet"].contains(text(place + 1))
                break
            }
            skip()
        }
        let body = place
        if text(place) == "{" { skip() }
        if !isInBody, !name.isEmpty, name != "(" {
            members.append(
                SwiftMember(
                    kind: isStored ? .stored : .computed, types: names, name: name, modifiers: modifiers,
                    head: head..<body, body: body..<place))
        }
        modifiers = []
    }
}
