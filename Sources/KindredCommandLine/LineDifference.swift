import KindredPostgres

/// The lines in which two texts differ.
package struct LineDifference {
    private let old: [Substring]
    private let new: [Substring]

    /// Takes two texts apart.
    package init(old: String, new: String) {
        self.old = old.split(separator: "\n", omittingEmptySubsequences: false)
        self.new = new.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// A header with the file's name, then lines with `-`, `+` or a space; unchanged lines only near changes.
    package func text(name: String, isNew: Bool, isGone: Bool) -> String {
        let (removed, inserted) = changedLines()
        var lines: [(text: String, isChange: Bool)] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, removed.contains(left) {
                lines.append(("-\(old[left])", true))
                left += 1
            } else if right < new.count, inserted.contains(right) {
                lines.append(("+\(new[right])", true))
                right += 1
            } else {
                if left < old.count { lines.append((" \(old[left])", false)) }
                left += 1
                right += 1
            }
        }
        var text = "--- \(isNew ? "/dev/null" : name)\n+++ \(isGone ? "/dev/null" : name)\n"
        var isSkipping = false
        for (index, line) in lines.enumerated() {
            let isNear = lines[max(0, index - 3)...min(lines.count - 1, index + 3)].contains(where: \.isChange)
            if isNear { text += line.text + "\n" } else if !isSkipping { text += "@@\n" }
            isSkipping = !isNear
        }
        return text
    }

    /// The limit of compared lines; longer differences are shown as a whole.
    private static let maximumLines = 4_000

    /// The indexes of lines that only the old text has, and of lines that only the new text has.
    private func changedLines() -> (removed: Set<Int>, inserted: Set<Int>) {
        // Comparing takes time quadratic in the number of differences.
        let start = zip(old, new).prefix { $0 == $1 }.count
        let rest = min(old.count, new.count) - start
        let end = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (left, right) = (start..<old.count - end, start..<new.count - end)
        let isSimple = left.isEmpty || right.isEmpty
        if isSimple || max(left.count, right.count) > Self.maximumLines { return (Set(left), Set(right)) }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in Array(new[right]).difference(from: Array(old[left])) {
            switch change {
            case .remove(let offset, _, _): removed.insert(start + offset)
            case .insert(let offset, _, _): inserted.insert(start + offset)
            }
        }
        return (removed, inserted)
    }
}
