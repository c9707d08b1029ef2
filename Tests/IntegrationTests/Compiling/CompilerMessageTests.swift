import Foundation
import Subprocess
import Testing

/// The compiler's messages for small files that use typed classes: right files compile, and wrong files get an error
/// that names the mistake.
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
            keeper.seen = PostgresTimestamp(clamping: Date())
            keeper.born = .today
            let (seen, born) = (keeper.seen, keeper.born)
            print(seen ?? .now, born ?? .today, keeper.seen.map { $0.date } ?? .today, \\Keeper.seen, \\Keeper.boss)
            let visits = try context.fetch(Visit.self).where { $0.began >= Date() && $0.ended < .now }
            _ = try visits.sorted { $0.began }.sorted(by: "-ended", allowing: [\\.began, \\.ended])
            _ = try context.add(Visit.self) {
                $0.id = 1
                $0.began = .now
                $0.ended = Date()
                $0.ended = nil
            }
            _ = try keepers.sorted { $0.tags }.sorted { $0.pets.count }.sorted { $0.club.name }.sorted { $0.mood }
            for try await pet in keeper.pets { print(pet.id) }
            for try await pet in keeper.pets.filter({ $0.id > 5 }) { print(pet.id) }
            _ = try await keeper.pets.contains { $0.id == 1 }
            _ = try await keeper.pets.reduce(0) { $0 + $1.id }
            try await keeper.boss.set(nil)
            _ = try await context.create(Keeper.self) {
                $0.seen = Date.now
                $0.price = 0.99
            }
            _ = try context.add(Pet.new(id: 1))
            try await keepers.update {
                $0.size = $0.size + 1
                $0.name = nil
                $0.price = 0.99
                $0.boss = keeper
            }
            let total: Int? = try await keepers.sum { $0.size * 2 }
            let latest: PostgresTimestamp? = try await keepers.maximum(\\.seen)
            let groups: [(String?, Int, PostgresNumeric)] = try await keepers
                .group(by: { $0.club.name }) { ($0.count, $0.sum { $0.price } ?? 0) }
                .having { $0.count > 3 && $0.average(\\.size) < 2.5 && $0.sum { $0.lasting } != nil }
                .sorted(ascending: false, nulls: .last) { $0.maximum { $0.seen } }
                .all()
            print(total ?? 0, latest ?? .now, groups)
            _ = try await keepers.views(\\.name, \\.club.name, \\.pets.id, \\.boss)
            """)
        #expect(errors == [])
    }

    @Test(arguments: [
        ("keeper.boss = nil", "call try await boss.set(object)"),
        ("keeper.club = nil", "call try await club.set(object)"),
        ("for pet in keeper.pets { print(pet) }", "members are read from the database: write for try await"),
        ("keeper.seen = Date()", "write .now, or PostgresTimestamp(clamping: date)"),
        ("let seen: Date? = keeper.seen; print(seen as Any)", "write .now, or PostgresTimestamp(clamping: date)"),
        ("keeper.born = Date()", "write .today, or PostgresDate(date, in: timeZone)"),
        (
            "_ = try context.fetch(Keeper.self).sorted { $0.pets }",
            "a request is sorted by a column, or by the count of a to-many relationship"
        ),
        (
            "_ = try context.fetch(Keeper.self).sorted { $0.boss }",
            "a request is sorted by a column: name one of the object at the other end"
        ),
        ("_ = try await context.fetch(Keeper.self).sum { $0.name }", "only numbers and intervals have a sum"),
        ("_ = try await context.fetch(Keeper.self).average { $0.born }", "only numbers and intervals have a mean"),
        (
            "_ = try await context.create(Keeper.self, [\\.id: \"x\"])",
            "a dictionary does not check the types of its values: write create(Type.self) { $0.name = … }, or Type.new(…)"
        ),
        (
            "_ = try context.add(Keeper.self, [\\.id: 1, \\.name: 5])",
            "a dictionary does not check the types of its values: write add(Type.self) { $0.name = … }, or Type.new(…)"
        ),
        (
            "_ = try await context.fetch(Keeper.self).update { _ in [\\.size: \"x\"] }",
            "a dictionary does not check the types of its values: write update { $0.name = … }"
        ),
    ])
    func theWayIsNamed(statement: String, message: String) async throws {
        let errors = try await errors(statement)
        #expect(errors.contains { $0.hasSuffix("is unavailable: \(message)") }, "\(errors)")
    }

    @Test func requiredValuesAreDemanded() async throws {
        let missing = try await errors(
            "_ = try context.add(Keeper.new(id: 1, code: \"x\", rank: 1, size: 1, visible: true, club: .key(1)))")
        #expect(missing == ["missing argument for parameter 'numbers' in call"])
        let wrong = try await errors("_ = try context.add(Pet.new(id: \"x\"))")
        #expect(wrong == ["cannot convert value of type 'String' to expected argument type 'Int'"])
        let mixed = try await errors("_ = try context.add(Pet.self) { $0.id = \"x\" }")
        #expect(mixed.contains { $0.hasPrefix("cannot assign value of type 'String' to type 'Int") }, "\(mixed)")
    }

    private static let misfit =
        "is unavailable: a column is compared with values of its own type, or with a column of that type"

    @Test(arguments: [
        ("$0.size > \"5\"", "'>' \(misfit)"), ("$0.name < 5", "'<' \(misfit)"), ("$0.name == 5", "'==' \(misfit)"),
        ("$0.size >= Date.now", "'>=' \(misfit)"),
        (
            "$0.born > Date.now && $0.size > 2",
            "'born' is unavailable: write .today, or PostgresDate(date, in: timeZone)"
        ),
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
