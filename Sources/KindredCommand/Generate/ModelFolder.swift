import KindredGenerator

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A folder of generated classes: its contents, and the necessary changes.
struct ModelFolder {
    struct Change {
        let name: String
        let old: String?
        /// nil for a removed file.
        let new: String?

        var verb: String { old == nil ? "new:    " : new == nil ? "removed:" : "changed:" }

        /// The lines that differ, as `diff -u` writes them.
        var difference: String {
            LineDifference(old: old ?? "", new: new ?? "").text(name: name, isNew: old == nil, isGone: new == nil)
        }
    }

    let path: String

    private func url(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    /// The earlier names.
    func lock() throws -> NameLock {
        guard let text = try text(NameLock.fileName) else { return NameLock() }
        do {
            return try NameLock(text: text)
        } catch {
            throw CommandFailure(
                .failure, "\(NameLock.fileName) cannot be read; take it back from version control or remove it.")
        }
    }

    /// The files to write or remove; a file that belongs to the user is never changed.
    ///
    /// Throws if a file that was not generated has the name of a generated one.
    func changes(for files: [GeneratedFile], mayRemove: Bool) throws -> [Change] {
        var changes: [Change] = []
        for file in files {
            let old = try text(file.name)
            if old == file.text { continue }
            if let old, file.name != NameLock.fileName, !GeneratedFile.isGenerated(old) {
                if file.isOwn { continue }
                throw CommandFailure(
                    .failure,
                    "\(file.name) in \(path) was not written by `kindred generate`, and would be lost; move it away or "
                        + "rename what is in it. Nothing was written.")
            }
            changes.append(Change(name: file.name, old: old, new: file.text))
        }
        guard mayRemove else { return changes }
        let names = Set(files.map(\.name))
        let found = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in found.sorted() where name.hasSuffix(".swift") && !names.contains(name) {
            guard let old = try text(name), GeneratedFile.isGenerated(old) else { continue }
            changes.append(Change(name: name, old: old, new: nil))
        }
        return changes
    }

    func write(_ changes: [Change]) throws {
        do {
            try FileManager.default.createDirectory(at: URL(filePath: path), withIntermediateDirectories: true)
            for change in changes {
                if let new = change.new {
                    try Data(new.utf8).write(to: url(change.name), options: .atomic)
                } else {
                    try FileManager.default.removeItem(at: url(change.name))
                }
            }
        } catch {
            throw CommandFailure(.failure, "The files cannot be written to \(path): \(error)")
        }
    }

    /// The text of a file; nil if there is none.
    ///
    /// Throws for an unreadable file, which must not be overwritten.
    private func text(_ name: String) throws -> String? {
        let url = url(name)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        do {
            return String(decoding: try Data(contentsOf: url), as: UTF8.self)
        } catch {
            throw CommandFailure(.failure, "\(name) in \(path) cannot be read; nothing was written.")
        }
    }
}

/// The lines in which two texts differ.
struct LineDifference {
    private let old: [Substring]
    private let new: [Substring]

    init(old: String, new: String) {
        self.old = old.split(separator: "\n", omittingEmptySubsequences: false)
        self.new = new.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// A header with the file's name, then lines with `-`, `+` or a space; unchanged lines only near changes.
    func text(name: String, isNew: Bool, isGone: Bool) -> String {
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

    /// The indexes of the lines only in the old text, and of those only in the new one.
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
