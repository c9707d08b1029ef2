import Foundation
import KindredTesting
import Testing

/// `swift package kindred-generate`, in a fresh package that depends on Kindred.
@Suite(.database(.sql("CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL)")))
struct GeneratePluginTests {
    @Test func thePluginWritesClassesThatCompile() async throws {
        let repository = URL(filePath: #filePath).appending(path: "../../../../..").standardized.path
        let package = FileManager.default.temporaryDirectory.appending(path: "kindred-plugin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: package) }
        let models = package.appending(path: "Sources/Models")
        try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
        try manifest(repository).write(to: package.appending(path: "Package.swift"), atomically: true, encoding: .utf8)
        try "// The classes stand beside it.".write(
            to: models.appending(path: "Models.swift"), atomically: true, encoding: .utf8)

        let generate = [
            "package", "--allow-writing-to-package-directory", "--allow-network-connections", "all", "kindred-generate",
        ]
        let refused = try await run(generate + ["--target", "Nothing"], in: package)
        #expect(refused.status != 0 && refused.output.contains("Models"), "\(refused.output)")
        let done = try await run(generate + ["--target", "Models"], in: package)
        #expect(done.status == 0, "\(done.output)")
        #expect(FileManager.default.fileExists(atPath: models.appending(path: "Person.swift").path))
        let build = try await run(["build"], in: package)
        #expect(build.status == 0, "\(build.output)")
        let check = try await run(generate + ["--target", "Models", "--check"], in: package)
        #expect(check.status == 0, "\(check.output)")
    }

    private func manifest(_ repository: String) -> String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "models",
            platforms: [.macOS(.v15)],
            dependencies: [.package(name: "kindred", path: "\(repository)")],
            targets: [.target(name: "Models", dependencies: [.product(name: "Kindred", package: "kindred")])],
            swiftLanguageModes: [.v6]
        )
        """
    }

    private func run(_ arguments: [String], in folder: URL) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swift"] + arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["DATABASE_URL": try TestDatabase.current.uri]
        ) { $1 }
        let output = FileManager.default.temporaryDirectory.appending(path: "kindred-plugin-\(UUID().uuidString).txt")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        (process.standardOutput, process.standardError) = (handle, handle)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume() }
        }
        try handle.close()
        return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8))
    }
}
