import KindredCommandLine
import KindredGenerator
import KindredPostgres

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

    /// Whether the folder has a file.
    func hasFile(named name: String) -> Bool { FileManager.default.fileExists(atPath: url(name).path) }

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
