import KindredDDL
import KindredPostgres

/// The first words of a statement of a script, as far as they name the thing that it makes or changes.
struct StatementWords {
    private struct Word {
        let text: String
        /// Whether it is a name between quotes.
        let isQuoted: Bool
        var capitals: String { isQuoted ? "" : text.uppercased() }
    }

    private var words: [Word] = []

    init(_ statement: String) {
        var rest = Array(statement.unicodeScalars.prefix(4_000))[...]
        func isPart(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "_" || scalar == "$" || scalar.value > 127 || scalar.properties.isAlphabetic
                || scalar.properties.numericType != nil
        }
        while let first = rest.first, words.count < 60 {
            if first.properties.isWhitespace {
                rest = rest.dropFirst()
            } else if rest.starts(with: "--".unicodeScalars) {
                rest = rest.drop { $0 != "\n" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                rest = rest.dropFirst(2)
                while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest = rest.dropFirst() }
                rest = rest.dropFirst(2)
            } else if first == "\"" {
                var name = String.UnicodeScalarView()
                rest = rest.dropFirst()
                while let next = rest.first {
                    rest = rest.dropFirst()
                    if next == "\"" {
                        guard rest.first == "\"" else { break }
                        rest = rest.dropFirst()
                    }
                    name.append(next)
                }
                words.append(Word(text: String(name), isQuoted: true))
            } else if isPart(first) {
                let word = rest.prefix(while: isPart)
                rest = rest.dropFirst(word.count)
                var text = String.UnicodeScalarView()
                text.append(contentsOf: word)
                words.append(Word(text: String(text).lowercased(), isQuoted: false))
            } else {
                words.append(Word(text: String(Character(first)), isQuoted: false))
                rest = rest.dropFirst()
            }
        }
    }

    private func starts(with text: String, at place: Int = 0) -> Bool {
        let wanted = text.split(separator: " ").map(String.init)
        guard words.count >= place + wanted.count else { return false }
        return zip(words[place...], wanted).allSatisfy { $0.capitals == $1 }
    }

    /// The last part of the name at a place, and the place behind it.
    private func name(at place: Int) -> (name: String, end: Int)? {
        var place = place
        for start in ["CONCURRENTLY", "IF NOT EXISTS", "IF EXISTS", "ONLY"] where starts(with: start, at: place) {
            place += start.split(separator: " ").count
        }
        guard words.indices.contains(place) else { return nil }
        while words.indices.contains(place + 2), words[place + 1].text == ".", !words[place + 1].isQuoted { place += 2 }
        return (words[place].text, place + 1)
    }

    // MARK: Kinds of statements

    /// Whether it begins or ends a transaction.
    var isTransactionControl: Bool {
        ["BEGIN", "COMMIT", "END", "START TRANSACTION"].contains { starts(with: $0) }
    }

    /// The role of CREATE ROLE and the like.
    var roleToMake: String? {
        ["ROLE", "USER", "GROUP"].contains { starts(with: "CREATE \($0)") } && !starts(with: "CREATE USER MAPPING")
            ? name(at: 2)?.name : nil
    }

    /// COMMENT ON EXTENSION: an extension has its comment from its own script.
    var isAboutExtensionsComment: Bool { starts(with: "COMMENT ON EXTENSION") }

    /// The schema of a CREATE SCHEMA that makes nothing else.
    var schemaToMake: String? {
        guard starts(with: "CREATE SCHEMA"), let (name, end) = name(at: 2) else { return nil }
        return end == words.count ? name : nil
    }

    /// The extension of CREATE EXTENSION, which stands in `public` unless it says otherwise.
    var extensionToMake: FirstExtension? {
        guard starts(with: "CREATE EXTENSION"), let (name, end) = name(at: 2) else { return nil }
        var (schema, version): (String, String?) = ("public", nil)
        for place in words.indices where place >= end && words.indices.contains(place + 1) {
            if words[place].capitals == "SCHEMA" { schema = words[place + 1].text }
            if words[place].capitals == "VERSION", words[place + 1].isQuoted { version = words[place + 1].text }
        }
        return FirstExtension(name: name, schema: schema, version: version)
    }

    /// The thing that the statement makes or changes.
    var thing: StatedThing? {
        guard ["CREATE", "ALTER"].contains(words.first?.capitals) else { return nil }
        var place = starts(with: "CREATE OR REPLACE") ? 3 : 1
        let modifiers: Set<ServerText> = [
            "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "RECURSIVE", "UNIQUE", "CONSTRAINT", "TRUSTED",
            "PROCEDURAL", "DEFAULT",
        ]
        while words.indices.contains(place), modifiers.contains(words[place].capitals) { place += 1 }
        for (start, kind) in StatedThing.kinds where starts(with: start, at: place) {
            return name(at: place + start.split(separator: " ").count).map { StatedThing(kind: kind, name: $0.name) }
        }
        return nil
    }
}

/// A thing as a statement of a script names it: without its schema, since the search path may give the schema.
struct StatedThing: Hashable {
    enum Kind: Hashable {
        case item(ItemName.Kind)
        /// A thing of another kind, by its word.
        case other(String)
        /// A thing whose name does not tell it from other things of its kind.
        case any(String)
    }

    let kind: Kind
    let name: String

    /// The words behind CREATE or ALTER; longer words stand before shorter words that they begin with.
    fileprivate static let kinds: [(String, Kind)] = [
        ("EVENT TRIGGER", .other("event trigger")), ("FOREIGN DATA WRAPPER", .other("foreign-data wrapper")),
        ("FOREIGN TABLE", .item(.foreignTable)), ("USER MAPPING", .any("user mapping")),
        ("OPERATOR CLASS", .other("operator class")), ("OPERATOR FAMILY", .other("operator family")),
        ("OPERATOR", .any("operator")), ("TEXT SEARCH PARSER", .other("text search parser")),
        ("TEXT SEARCH TEMPLATE", .other("text search template")),
        ("TEXT SEARCH DICTIONARY", .other("text search dictionary")),
        ("TEXT SEARCH CONFIGURATION", .other("text search configuration")), ("ACCESS METHOD", .other("access method")),
        ("MATERIALIZED VIEW", .item(.view)), ("FUNCTION", .item(.function)), ("PROCEDURE", .item(.function)),
        ("ROUTINE", .item(.function)), ("AGGREGATE", .other("aggregate")), ("TABLE", .item(.table)),
        ("VIEW", .item(.view)), ("INDEX", .item(.index)), ("SEQUENCE", .item(.sequence)), ("TYPE", .item(.type)),
        ("DOMAIN", .item(.type)), ("SCHEMA", .item(.schema)), ("EXTENSION", .item(.extension)),
        ("TRIGGER", .item(.trigger)), ("POLICY", .item(.policy)), ("RULE", .other("rule")), ("CAST", .any("cast")),
        ("TRANSFORM", .any("transform")), ("CONVERSION", .other("conversion")), ("COLLATION", .other("collation")),
        ("STATISTICS", .other("statistics")), ("PUBLICATION", .other("publication")),
        ("SUBSCRIPTION", .other("subscription")), ("LANGUAGE", .other("language")), ("SERVER", .other("server")),
    ]

    /// Whether a thing of a schema may be the stated thing.
    func isName(_ item: ItemName) -> Bool {
        switch kind {
        case .any(let word): return item.kind == .other && item.name == word
        case .item(.schema): return item.kind == .schema && item.schema == name
        case .item(.trigger), .item(.policy): return kind == .item(item.kind) && item.part == name
        case .item(.function): return item.kind == .function && item.name.hasPrefix("\(name)(")
        case .item(let wanted): return item.kind == wanted && item.name == name
        case .other(let word):
            guard item.kind == .other, item.name == word else { return false }
            // The schema stands before it, and an access method or arguments behind.
            return item.part == name || item.part.hasSuffix(".\(name)") || item.part.hasPrefix("\(name) ")
                || item.part.contains(".\(name) ") || item.part.contains(".\(name)(")
        }
    }

    /// Whether it belongs to change tracking, which is not compared.
    var isTrackings: Bool { kind == .other("event trigger") && name.hasPrefix("kindred_tracking_") }

    /// The kind and the name for people.
    var described: String {
        switch kind {
        case .item(let kind): ItemName(kind: kind, schema: "", name: name).described
        case .other(let word), .any(let word): "\(word) \(name)"
        }
    }
}
