import KindredAssistant
import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder that the pages of a database are written to, or compared with.
struct SiteFolder {
    let path: String

    private func url(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    /// Writes new and changed pages and removes pages of entities that are gone; with `check`, fails if there are any.
    func update(with pages: [DiagramSite.Page], check: Bool, in terminal: Terminal) throws {
        let changed = try pages.filter { page in
            guard let old = try text(page.path) else { return true }
            guard old == page.text || DiagramSite.Page.isOne(old) else {
                throw CommandFailure(
                    .failure,
                    "\(page.path) in \(path) was not written by `kindred diagram`, and would be lost; move it away. "
                        + "Nothing was written.")
            }
            return old != page.text
        }
        let gone = try pagesThere().subtracting(pages.map(\.path)).sorted()
        if check {
            guard changed.isEmpty, gone.isEmpty else {
                for page in changed { terminal.print("differs: \(page.path)") }
                for name in gone { terminal.print("gone:    \(name)") }
                throw CommandFailure(
                    .failure, "The pages in \(path) and the database differ; run `kindred diagram` without --check.")
            }
            return terminal.print("All \(pages.count) pages are up to date.")
        }
        do {
            for page in changed {
                let file = url(page.path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(page.text.utf8).write(to: file, options: .atomic)
            }
            for name in gone { try FileManager.default.removeItem(at: url(name)) }
        } catch {
            throw CommandFailure(.failure, "The pages cannot be written to \(path): \(error)")
        }
        terminal.print(
            changed.isEmpty && gone.isEmpty
                ? "All \(pages.count) pages are up to date."
                : "\(changed.count) of \(pages.count) pages written, \(gone.count) removed: \(path)/index.html")
    }

    /// The pages that the tool wrote, in the folder and right below it.
    private func pagesThere() throws -> Set<String> {
        func names(in folder: String) -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: url(folder).path)) ?? []).map {
                folder.isEmpty ? $0 : "\(folder)/\($0)"
            }
        }
        let top = names(in: "")
        let all = top + top.filter { !$0.contains(".") }.flatMap { names(in: $0) }
        return Set(
            try all.filter { $0.hasSuffix(".html") }.filter { try text($0).map(DiagramSite.Page.isOne) ?? false })
    }

    private func text(_ name: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: url(name).path) else { return nil }
        do {
            return String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
        } catch {
            throw CommandFailure(.failure, "\(name) in \(path) cannot be read; nothing was written.")
        }
    }
}
