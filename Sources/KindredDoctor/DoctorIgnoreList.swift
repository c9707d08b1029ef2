import KindredPostgres
import KindredSchema

/// Findings that a database's owner has looked at and left: the lines of a file such as `.kindred-doctor`.
///
/// ```text
/// # Written once a year, never deleted from.
/// K101:public.email.email_person_id_fkey
/// K104:archive.*
/// K302
/// ```
///
/// Each line is the ``DoctorFinding/ignoreKey`` of a finding; `*` stands for any characters, a number alone for all of
/// the rule's findings, and text behind a `#` at the beginning of a line or after a blank is a comment.
public struct DoctorIgnoreList: Sendable, Hashable {
    /// A line that is no key.
    public struct InvalidLine: Error, Sendable, Hashable, CustomStringConvertible {
        /// The line's number, from 1.
        public let line: Int
        /// The fault.
        public let reason: String

        /// Both in one sentence.
        public var description: String { "Line \(line): \(reason)" }
    }

    /// The keys, in the order of the lines.
    public private(set) var keys: [String] = []

    /// Creates a list that leaves nothing out.
    public init() {}

    /// Reads a list.
    ///
    /// - Throws: ``InvalidLine`` for the first line that does not begin with the number of a rule.
    public init(text: String) throws {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let key = Self.withoutRemark(line)
            if key.isEmpty { continue }
            let parts = key.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let rule = parts.first.map(String.init), DoctorRule.named(rule)?.id == rule else {
                let number = parts.first.map(String.init) ?? key
                let suggestions = NearestNames.suggestions(for: number, among: DoctorRule.all.map(\.id))
                throw InvalidLine(
                    line: index + 1,
                    reason: "there is no rule \"\(number)\"\(NearestNames.question(suggestions))")
            }
            guard parts.count == 1 || !parts[1].isEmpty else {
                throw InvalidLine(line: index + 1, reason: "nothing follows the colon")
            }
            keys.append(key)
        }
    }

    /// Whether a finding is left out.
    func contains(_ finding: DoctorFinding) -> Bool {
        keys.contains { $0 == finding.rule || Self.matches(finding.ignoreKey, $0) }
    }

    /// Whether the list names something that is not among the findings before they were left out.
    func unused(among findings: [DoctorFinding]) -> [String] {
        keys.filter { key in !findings.contains { $0.rule == key || Self.matches($0.ignoreKey, key) } }
    }

    private static func withoutRemark(_ line: Substring) -> String {
        var end = line.endIndex
        var previous: Character = " "
        for place in line.indices {
            if line[place] == "#", previous.isWhitespace {
                end = place
                break
            }
            previous = line[place]
        }
        var text = line[..<end].drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// Whether a text is like a pattern with `*` for any characters; takes no longer than their lengths' product.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        guard pattern.utf8.contains(UInt8(ascii: "*")) else { return text == pattern }
        let (text, pattern) = (Array(text.utf8), Array(pattern.utf8))
        var (place, next) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                star = (next, place)
                next += 1
            } else if next < pattern.count, pattern[next] == text[place] {
                place += 1
                next += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                place = last.text + 1
                next = last.pattern + 1
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
