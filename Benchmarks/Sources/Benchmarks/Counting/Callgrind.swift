import Foundation

/// Runs this program under callgrind and reads its counts.
enum Callgrind {
    /// The path of valgrind; nil if it is not installed.
    static var path: String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/valgrind" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The minimum of instructions of each part of the works, by the part's name; empty without valgrind, and with
    /// `--without-instructions`.
    static func count(_ arguments: [String], on serverURI: String) async throws -> [String: Double] {
        guard let path, !arguments.contains("--without-instructions") else { return [:] }
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-counts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments =
            [
                "--tool=callgrind", "--quiet", "--instr-atstart=no", "--compress-strings=no",
                "--callgrind-out-file=\(folder.path())/counts", try program(in: folder),
            ] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["DATABASE_URL": serverURI]) { $1 }
        try process.run()
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
        }
        guard process.terminationStatus == 0 else { throw CallgrindError(status: process.terminationStatus) }
        return try counts(in: folder)
    }

    /// A copy of this program without debug information, which valgrind takes minutes to read.
    private static func program(in folder: URL) throws -> String {
        guard let own = Bundle.main.executablePath else { return CommandLine.arguments[0] }
        let copy = folder.appending(path: "Benchmarks").path()
        let strip = try Process.run(URL(filePath: "/usr/bin/strip"), arguments: ["-g", "-o", copy, own])
        strip.waitUntilExit()
        return strip.terminationStatus == 0 ? copy : own
    }

    /// Each file has the name of the part, and the total.
    private static func counts(in folder: URL) throws -> [String: Double] {
        var counts: [String: Double] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.lastPathComponent.hasPrefix("counts") {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            guard let name = rest(of: "desc: Trigger: Client Request: ", in: lines),
                let total = rest(of: "totals: ", in: lines).flatMap(Double.init)
            else { continue }
            counts[name] = min(counts[name] ?? .infinity, total)
        }
        return counts
    }

    private static func rest(of prefix: String, in lines: [Substring]) -> String? {
        lines.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}

struct CallgrindError: Error, CustomStringConvertible {
    let status: Int32

    var description: String { "The program failed under valgrind, status \(status)" }
}
