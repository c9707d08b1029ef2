import Foundation
import KindredPostgres
import KindredSchema

/// A comment that begins with `@kindred` and JSON, as far as the doctor reads and writes it.
struct DoctorAnnotation {
    private(set) var members: [String: Any]
    /// The text behind the JSON: the comment for people.
    private let remainder: String

    /// Takes a comment apart; nil if it is no annotation, or a malformed annotation.
    init?(_ comment: String) {
        guard AnnotationText.isAnnotation(comment), let parts = try? AnnotationText.parts(of: comment),
            let object = try? JSONSerialization.jsonObject(with: Data(parts.object.utf8)) as? [String: Any]
        else { return nil }
        members = object
        remainder = String(parts.remainder)
    }

    /// The numbers of the rules in `"ignore"`.
    var ignoredRules: Set<ServerText> {
        if let rules = members["ignore"] as? [String] { return Set(texts: rules) }
        if let rule = members["ignore"] as? String { return [ServerText(rule)] }
        return []
    }

    /// The comment with more members in its annotation, and its former contents.
    ///
    /// - Returns: nil for a malformed annotation, or where a member is there already.
    static func adding(_ additions: [String: Any], to comment: String?) -> String? {
        var members: [String: Any] = [:]
        var remainder = comment ?? ""
        if let comment, comment.hasPrefix(mark) {
            guard let known = DoctorAnnotation(comment) else { return nil }
            (members, remainder) = (known.members, known.remainder)
        }
        for (name, value) in additions {
            guard members[name] == nil else { return nil }
            members[name] = value
        }
        return text(of: members, remainder)
    }

    /// The comment with some of the members only, and its text for people; without any it is no annotation.
    func keeping(_ names: Set<ServerText>) -> String {
        let kept = members.filter { names.contains($0.key) }
        let text = Self.withoutMark(remainder)
        return kept.isEmpty ? text : Self.text(of: kept, remainder) ?? text
    }

    /// A comment as one for people alone, which says the same without the mark.
    static func withoutMark(_ comment: String) -> String {
        var text = comment[...]
        while text.hasPrefix(mark) { text = text.dropFirst(mark.count).drop(while: \.isWhitespace) }
        return String(text)
    }

    private static let mark = AnnotationText.mark

    private static func text(of members: [String: Any], _ remainder: String) -> String? {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: members, options: options) else { return nil }
        let json = String(decoding: data, as: UTF8.self)
        return remainder.isEmpty ? "\(mark) \(json)" : "\(mark) \(json) \(remainder)"
    }
}
