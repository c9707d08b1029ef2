import Foundation
import KindredTesting
import Testing

/// The program of the plugin `KindredGenerate`, which is built by itself in each package that uses it.
@Suite struct GenerateToolTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The names that follow `dependencies:` of a target in the manifest: its targets, and products of other packages.
    private func dependencies(of target: String, in manifest: String) throws -> (targets: [String], products: [String])
    {
        let start = try #require(manifest.firstRange(of: "name: \"\(target)\""))
        let rest = manifest[start.upperBound...]
        let end = rest.firstRange(of: "arget(")?.lowerBound ?? rest.endIndex
        guard let list = rest[..<end].firstRange(of: "dependencies: [") else { return ([], []) }
        var text = rest[list.upperBound..<end].prefix { $0 != "]" }
        var products: [String] = []
        while let product = text.firstRange(of: ".product(name: \"") {
            products.append(String(text[product.upperBound...].prefix { $0 != "\"" }))
            let behind = text[product.upperBound...].drop { $0 != ")" }
            text = text[..<product.lowerBound] + behind
        }
        let quoted = text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        return (quoted.filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }, products)
    }

    @Test func itNeedsNeitherObjectsNorTheAssistant() throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let list = try #require(manifest.firstRange(of: "let package = Package("))
        let targets = try #require(manifest[list.upperBound...].firstRange(of: "\n    targets: ["))
        let text = String(manifest[targets.upperBound...])
        var (seen, waiting): (Set<String>, [String]) = ([], ["KindredGenerateTool"])
        var products: Set<String> = []
        while let target = waiting.popLast() {
            guard seen.insert(target).inserted else { continue }
            let found = try dependencies(of: target, in: text)
            waiting += found.targets
            products.formUnion(found.products)
        }
        #expect(
            seen == [
                "KindredGenerateTool", "KindredGenerateCommand", "KindredCommandLine", "KindredGenerator",
                "KindredTerminal",
                "KindredSchema", "KindredPostgres", "HarmlessText", "CLibPQ",
            ])
        #expect(products == ["ArgumentParser", "Logging", "DequeModule"])
        // The plugin names the product, and depends on nothing that would be built before it has looked at the target.
        #expect(try dependencies(of: "KindredGenerate", in: text).targets == [])
        #expect(manifest.contains("    .executable(name: \"KindredGenerateTool\", targets: [\"KindredGenerateTool\"])"))
        let source = try String(
            contentsOf: Self.root.appending(path: "Plugins/KindredGenerate/KindredGenerate.swift"), encoding: .utf8)
        #expect(source.contains("let name = \"KindredGenerateTool\""))
    }

    @Test(.database(.sql("CREATE TABLE person (id integer PRIMARY KEY)"))) func itWritesClasses() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-tool-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let uri = try TestDatabase.current.uri
        func run(_ arguments: String...) async throws -> (status: Int32, error: String) {
            try await BuiltTool.run(arguments, output: .nullDevice, of: "KindredGenerateTool")
        }
        let done = try await run("generate", "--output", folder.path, "--database", uri)
        #expect(done.status == 0, "\(done.error)")
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "Person.swift").path))
        let checked = try await run("generate", "--output", folder.path, "--database", uri, "--check")
        #expect(checked.status == 0, "\(checked.error)")
        // Its failures are the whole command's.
        let wrong = try await run("generate")
        #expect(wrong.status == 64 && wrong.error.contains("See `kindred generate --help`."), "\(wrong.error)")
        let misplaced = try await run("generate", "--output", "postgres://u:secret@h/d")
        #expect(misplaced.status == 64 && !misplaced.error.contains("secret"), "\(misplaced.error)")
    }
}
