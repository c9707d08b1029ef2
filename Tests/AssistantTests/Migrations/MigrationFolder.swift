import Foundation
import KindredMigrations

/// A folder of files that lives as long as a closure.
struct MigrationFolder {
    let path: String

    static func with<T>(_ files: [String: String], _ body: (MigrationFolder) async throws -> T) async throws -> T {
        let url = FileManager.default.temporaryDirectory.appending(path: "kindred-migrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let folder = MigrationFolder(path: url.path)
        defer { try? FileManager.default.removeItem(at: url) }
        for (name, text) in files { try folder.write(name, text) }
        return try await body(folder)
    }

    func write(_ name: String, _ text: String) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: URL(filePath: path).appending(path: name))
    }

    var migrations: Migrations { Migrations(folder: path) }
}
