import KindredPostgres

/// Finds the existing names nearest to a misspelt one.
package enum NearestNames {
    /// Returns up to `limit` candidates that are similar to the name, best first.
    ///
    /// Counts letters to insert, remove, replace or swap, ignoring case, up to a third of the name. A candidate that
    /// begins with the name is similar too.
    package static func suggestions(
        for name: String,
        among candidates: some Sequence<String>,
        limit: Int = 3
    ) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars.prefix(longest))
        let allowed = max(1, wanted.count / 3)
        var found: [(distance: Int, name: String)] = []
        for candidate in candidates {
            let letters = Array(candidate.lowercased().unicodeScalars.prefix(longest))
            if abs(letters.count - wanted.count) <= allowed {
                let distance = distance(wanted, letters)
                if distance <= allowed {
                    found.append((distance, candidate))
                    continue
                }
            }
            if wanted.count >= 3, letters.starts(with: wanted) { found.append((allowed + 1, candidate)) }
        }
        found.sort { $0.distance == $1.distance ? $0.name < $1.name : $0.distance < $1.distance }
        return found.prefix(limit).map(\.name)
    }

    /// Returns the end of an error's sentence: `; did you mean "a" or "b"?`, or nothing.
    package static func question(_ suggestions: [String]) -> String {
        guard let last = suggestions.last else { return "" }
        let others = suggestions.dropLast().map { "\"\($0)\"" }.joined(separator: ", ")
        return "; did you mean \(others.isEmpty ? "" : others + " or ")\"\(last)\"?"
    }

    // The name comes from outside and may be long; identifiers have at most 63 bytes.
    private static let longest = 200

    /// The optimal string alignment distance: Levenshtein's, but a swap of neighbours counts as one change.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        var current = last
        for row in 1...left.count {
            current[0] = row
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, beforeLast[column - 2] + 1)
                }
                current[column] = best
            }
            (beforeLast, last, current) = (last, current, beforeLast)
        }
        return last[right.count]
    }
}
