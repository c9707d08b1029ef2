import Foundation
import Kindred
import TestSupport
import TypeModels

extension OperatorWriter {
    /// A text of a keeper's.
    mutating func text<Root>(_ place: TypedPlace<Root, Keeper>) -> TypedTerm<Root, String> {
        switch Int.random(in: 0..<10, using: &random) {
        case 7: place.term("name \(use("+ text"))", { "a" + $0.name + "%" }, { $0.name.map { "a" + $0 + "%" } })
        case 8:
            place.term(
                "name \(use("+ text column"))", { $0.name + $0.code },
                { keeper in keeper.name.map { $0 + keeper.code } })
        case 9: place.term("name \(use("?? text"))", { $0.name ?? $0.code + "'" }, { $0.name ?? $0.code + "'" })
        case 0, 1: place.term("name", { $0.name }, { $0.name })
        case 2: place.term("code", { $0.code }, { $0.code })
        case 3: place.term("badge.label", { $0.badge.label }, { $0.badge.loaded?.label })
        case 4: place.term("club.name", { $0.club.name }, { $0.club.loaded?.name })
        case 5: place.term(use("json[key]"), { $0.info["t"] }, { JSONTree($0.info)?["t"]?.text })
        default: place.term(use("json[keys]"), { $0.notes["in", "t"] }, { JSONTree($0.notes)?["in"]?["t"]?.text })
        }
    }

    /// A comparison of texts, or a search within one.
    mutating func texts<Root>(_ whole: TypedTerm<Root, String>, _ other: TypedTerm<Root, String>) -> TypedCase<Root> {
        if random.once(in: 3) { return compare(whole, other, OperatorWorld.names) { $0.precedesByBytes($1) } }
        let ignores = Bool.random(using: &random)
        let suffix = ignores ? " ignoring case" : ""
        func folded(_ text: String) -> String { ignores ? text.lowercased() : text }
        func result(
            _ text: String,
            _ condition: @escaping (ColumnExpression<String>) -> Condition,
            _ holds: @escaping (String) -> Bool
        ) -> TypedCase<Root> {
            TypedCase(text: "\(whole.text).\(text)") {
                condition(whole.column($0))
            } holds: {
                whole.value($0).map(holds) ?? false
            }
        }
        let part = random.pick(["a", "A", "%", "_", "\\", "b", "", "ann", "*", "Zo", "ë", "\n", "'"])
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return result("\(use("hasPrefix\(suffix)"))(\(part))", { $0.hasPrefix(part, ignoringCase: ignores) }) {
                folded($0).startsWithBytes(of: folded(part))
            }
        case 1:
            return result("\(use("hasSuffix\(suffix)"))(\(part))", { $0.hasSuffix(part, ignoringCase: ignores) }) {
                folded($0).endsWithBytes(of: folded(part))
            }
        case 2:
            return result("\(use("contains text\(suffix)"))(\(part))", { $0.contains(part, ignoringCase: ignores) }) {
                folded($0).containsBytes(of: folded(part))
            }
        case 3:
            let name = random.pick(OperatorWorld.names)
            return result("\(use("equals\(suffix)"))(\(name))", { $0.equals(name, ignoringCase: ignores) }) {
                folded($0) == folded(name)
            }
        case 4:
            let pattern = random.pick(["a*", "*b", "?nn", "*", "???", "a?b", #"A\*\?"#, #"a\\*"#, "*\n*", "a%b", ""])
            return result("\(use("like\(suffix)"))(\(pattern))", { $0.like(pattern, ignoringCase: ignores) }) {
                folded($0).isLike(folded(pattern))
            }
        default:
            // Of those signs that mean the same to both.
            let pattern = random.pick(["[Aa]nn", "a[^q]*", "(Bo|Zo)[^q]+", "a.b|Ann", "", "x'y", "[a-z%_]+", "A\\*\\?"])
            return result("\(use("matches\(suffix)"))(\(pattern))", { $0.matches(pattern, ignoringCase: ignores) }) {
                let options: NSRegularExpression.Options =
                    ignores ? [.caseInsensitive, .dotMatchesLineSeparators] : .dotMatchesLineSeparators
                let whole = NSRange($0.startIndex..<$0.endIndex, in: $0)
                let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
                return expression?.firstMatch(in: $0, range: whole) != nil
            }
        }
    }

    /// A full-text search, in a text or a stored vector.
    mutating func search<Root>(_ place: TypedPlace<Root, Keeper>) -> TypedCase<Root> {
        let (first, second) = (random.pick(OperatorWorld.words), random.pick(OperatorWorld.words))
        let (query, holds): (String, ([String]) -> Bool) =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (first, { $0.contains(first) })
            case 1: ("\(first) \(second)", { $0.contains(first) && $0.contains(second) })
            case 2: ("\(first) or \(second)", { $0.contains(first) || $0.contains(second) })
            case 3: ("\(first) -\(second)", { $0.contains(first) && !$0.contains(second) })
            default: (#""\#(first) \#(second)""#, { zip($0, $0.dropFirst()).contains { $0 == (first, second) } })
            }
        let isVector = Bool.random(using: &random)
        return place.case("\(use(isVector ? "search vector" : "search text"))(\(query))") {
            isVector ? $0.words.search(query) : $0.story.search(query)
        } _: { keeper in
            (keeper?.story).map { holds($0.split(separator: " ").map(String.init)) } ?? false
        }
    }
}
