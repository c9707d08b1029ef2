import Foundation
import Subprocess
import Testing

/// What the compiler says of small files that use typed classes: those that are right compile, and those that are wrong get an
/// error that names the mistake.
@Suite(.enabled(if: BuiltModules.arePresent, "the built modules are not beside the sources"))
struct CompilerMessageTests {
    /// Type-checks statements in a function that has a context; returns the compiler's errors.
    private func errors(_ statements: String) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID()).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        let text = """
            import Foundation
            import Kindred
            import TypeModels

            func check(_ context: DatabaseContext, _ keeper: Keeper) async throws {
                \(statements)
            }
            """
        try Data(text.utf8).write(to: file)
        let (isRight, output) = try await BuiltModules.typecheck([file.path])
        let lines = output.split(separator: "\n").filter { $0.contains(": error: ") }.map { line in
            String(line.split(separator: ": error: ", maxSplits: 1).last ?? "")
        }
        #expect(isRight == lines.isEmpty, "\(output)")
        return lines
    }

    @Test func whatIsMeantCompiles() async throws {
        let errors = try await errors(
            """
            let keepers = try context.fetch(Keeper.self)
            _ = try keepers.where { $0.price > 0.99 && $0.price * 2 <= 5 && $0.size > 5 && $0.score > 0.5 }
            _ = try keepers.where { $0.seen > Date.now && $0.seen.isBetween(Date.distantPast, .now) && $0.seen != nil }
            _ = try keepers.where { $0.seen == PostgresTimestamp.now && $0.name == nil && $0.name != "x" && $0.boss == nil }
            _ = try keepers.where { $0.rank > $0.size || $0.story.search("a b", configuration: "english") }
            _ = try keepers.where { $0.words.search("a", configuration: "simple") && $0.club.name < "x" }
            keeper.price = 0.99
            keeper.price = (keeper.price ?? 0) * 2 + 0.5
            keeper.seen = .now
            _ = try await context.create(Keeper.self, [\\.id: 1, \\.seen: Date.now, \\.price: 0.99 as PostgresNumeric])
            """)
        #expect(errors == [])
    }

    private static let misfit =
        "is unavailable: a column is compared with values of its own type, or with a column of that type"

    @Test(arguments: [
        ("$0.size > \"5\"", "'>' \(misfit)"), ("$0.name < 5", "'<' \(misfit)"), ("$0.name == 5", "'==' \(misfit)"),
        ("$0.size >= Date.now", "'>=' \(misfit)"), ("$0.born > Date.now && $0.size > 2", "'>' \(misfit)"),
        ("$0.size != $0.name", "'!=' \(misfit)"), ("$0.price <= \"x\"", "'<=' \(misfit)"),
    ])
    func whatDoesNotFitIsSaidPlainly(condition: String, message: String) async throws {
        let errors = try await errors("_ = try context.fetch(Keeper.self).where { \(condition) }")
        #expect(errors == [message])
    }
}

/// Where the build has put the modules that the files import.
enum BuiltModules {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    static let path = root.appending(path: ".build/debug/Modules").path

    static var arePresent: Bool {
        ["Kindred", "TypeModels"].allSatisfy { FileManager.default.fileExists(atPath: "\(path)/\($0).swiftmodule") }
    }
    /// Type-checks files that import the modules; returns whether they are right, and what the compiler says.
    static func typecheck(_ files: [String]) async throws -> (isRight: Bool, output: String) {
        var words = ["-typecheck"] + files + ["-swift-version", "6", "-I", path]
        for module in ["CSwiftRuntime", "CLibPQ"] {
            words += ["-Xcc", "-fmodule-map-file=\(root.path)/Sources/\(module)/module.modulemap"]
        }
        let flags = try await Subprocess.run(
            .name("pkg-config"), arguments: ["--cflags", "libpq"], output: .string(limit: 10_000), error: .discarded)
        words += flags.standardOutput.split(whereSeparator: \.isWhitespace).map(String.init)
        let result = try await Subprocess.run(
            .name("swiftc"), arguments: Arguments(words), input: .none, output: .string(limit: 1 << 20),
            error: .combinedWithOutput)
        return (result.terminationStatus.isSuccess, result.standardOutput)
    }
}
