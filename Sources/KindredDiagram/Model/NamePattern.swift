import KindredPostgres
import KindredSchema

extension QualifiedName {
    /// Whether the name, or schema and name with a dot between them, is like a pattern in which `*` stands for anything.
    func isLike(_ pattern: String) -> Bool {
        let pattern = Array(pattern.utf8)
        return Self.matches(Array(name.utf8), pattern) || Self.matches(Array(description.utf8), pattern)
    }

    private static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (place, next) = (0, 0)
        var star: (next: Int, place: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                star = (next + 1, place)
                next += 1
            } else if next < pattern.count, pattern[next] == text[place] {
                place += 1
                next += 1
            } else if let last = star {
                // The last star takes one byte more.
                star = (last.next, last.place + 1)
                (next, place) = (last.next, last.place + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
