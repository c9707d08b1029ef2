import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file that a diagram is written to, or compared with.
struct DiagramFile {
    let path: String
    let bytes: [UInt8]
    let isText: Bool

    /// Writes the file, unless it is as it shall be.
    func write(in terminal: Terminal) throws {
        let old = try contents()
        if let old, old == Data(bytes) { return terminal.print("\(path) is up to date.") }
        do {
            try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failure, "\(path) cannot be written: \(error)")
        }
        terminal.print(old == nil ? "new:     \(path)" : "changed: \(path)")
    }

    /// Ends the command with a failure, and shows the lines that differ, if the file is not as it would be written.
    func compare(in terminal: Terminal) throws {
        let old = try contents()
        if let old, old == Data(bytes) { return terminal.print("\(path) is up to date.") }
        if isText {
            let difference = LineDifference(
                old: String(decoding: old ?? Data(), as: UTF8.self), new: String(decoding: bytes, as: UTF8.self))
            terminal.printLines(difference.text(name: path, isNew: old == nil, isGone: false))
        }
        throw CommandFailure(
            .failure,
            old == nil
                ? "There is no \(path); run `kindred diagram` without --check."
                : "\(path) and the database differ; run `kindred diagram` without --check.")
    }

    private func contents() throws -> Data? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandFailure(.failure, "\(path) cannot be read; nothing was written.")
        }
    }
}
