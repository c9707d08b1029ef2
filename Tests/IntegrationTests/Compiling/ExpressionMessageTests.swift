import Foundation
import Testing

/// Operators of Swift's that would compile over columns and mean something else: they do not compile, and the compiler says what to write.
@Suite(.enabled(if: BuiltModules.arePresent, "the built modules are not beside the sources"))
struct ExpressionMessageTests {
    private static let inDatabase = "the values of rows are in the database"
    private static let otherObject = "each row has an object of its own"
    private static let noBool = "only the database knows whether this is nil"
    private static let noText = "only the database knows the value of a column: write + to join texts"

    /// Closures of updates, conditions and other calls, each with a part of the compiler's message; nil where it
    /// compiles without a message.
    private static let lines: [(code: String, says: String?)] = [
        ("keepers.update { $0.age = $0.age ?? 0 }", nil),
        ("keepers.update { $0.age = $0.age ?? $0.rank ?? 0 }", nil),
        ("keepers.update { $0.age = number ?? $0.age }", nil),
        ("keepers.update { $0.age = ($0.age ?? 0) + 1 }", nil),
        ("keepers.update { $0.age = $0.age ?? number }", nil),
        ("keepers.update { $0.name = $0.club.name + \"/\" + $0.code }", nil),
        ("keepers.update { $0.name = \"Dr \" + ($0.name ?? $0.boss.name ?? \"-\") }", nil),
        ("keepers.update { $0.age = $0.pets.count }", nil),
        ("keepers.update { $0.tags = $0.tags ?? [] }", nil),
        ("keepers.update { $0.boss = keeper }", nil),
        ("keepers.update { $0.boss = nil }", nil),
        ("keepers.update { $0.active = $0.active ?? $0.visible }", nil),
        ("keepers.update { $0.seen = $0.seen ?? .now }", nil),
        ("keepers.update { $0.mood = $0.mood ?? .happy }", nil),
        ("keepers.update { $0.age = $0.age! }", inDatabase),
        ("keepers.update { $0.name = $0.name?.uppercased() }", inDatabase),
        ("keepers.update { $0.age = $0.age.map { $0 + 1 } }", inDatabase),
        ("keepers.update { $0.age = $0.age.flatMap { $0 > 1 ? $0 : nil } }", inDatabase),
        ("keepers.update { $0.visible = $0.age == 3 }", inDatabase),
        ("keepers.update { $0.visible = $0.name == $0.code }", inDatabase),
        ("keepers.update { $0.visible = [1, 2].contains($0.age) }", inDatabase),
        ("keepers.update { $0.age = [$0.age, 2].compactMap { $0 }.max() }", inDatabase),
        ("keepers.update { $0.age = max($0.age ?? 0, 1) }", inDatabase),
        ("keepers.update { let age: Int? = $0.age; $0.rank = age ?? 0 }", inDatabase),
        ("keepers.update { if case 3? = $0.age { $0.rank = 1 } }", inDatabase),
        ("keepers.update { $0.tags?.append(\"x\") }", inDatabase),
        ("keepers.update { $0.tags! += [\"x\"] }", inDatabase),
        ("keepers.update { $0.numbers = Array(Set($0.numbers!)) }", inDatabase),
        ("keepers.update { $0.active = $0.active! ? false : true }", inDatabase),
        ("keepers.update { $0.boss = $0.boss?.boss.loaded }", otherObject),
        ("keepers.update { $0.name = $0.boss!.name }", otherObject),
        ("keepers.update { $0.name = \"\\($0.name)!\" }", noText),
        ("keepers.update { $0.name = \"\\($0.club)!\" }", noText),
        ("keepers.update { $0.name = \"\\($0.club.name)!\" }", noText),
        ("keepers.update { $0.name = \"\\($0.age ?? 1)!\" }", noText),
        ("keepers.update { $0.visible = $0.age != nil }", noBool),
        ("keepers.update { $0.visible = nil == $0.age }", noBool),
        ("keepers.update { $0.visible = $0.boss == nil }", noBool),
        ("keepers.update { if $0.age == nil { $0.age = 1 } }", noBool),
        ("keepers.update { if let age = $0.age { $0.rank = age } }", "must have Optional type"),
        ("keepers.update { switch $0.age { case nil: $0.rank = 1; default: break } }", "not optional"),
        ("keepers.update { $0.age = $0.visible ? 1 : 2 }", "cannot convert value of type"),
        ("keepers.update { $0.age = $0.name.count }", "Swift counts other characters than PostgreSQL"),
        ("keepers.update { $0.age = $0.name?.count }", inDatabase),
        ("keepers.where { ($0.age ?? 0) > 3 && $0.name ?? $0.code == \"x\" }", nil),
        ("keepers.where { $0.club.name + $0.code == \"x\" && ($0.price ?? 0) * 2 < 1.5 }", nil),
        ("keepers.where { let isOpen = $0.seen == nil; return isOpen && $0.boss != nil }", nil),
        ("keepers.where { $0.boss != $0.boss.boss && $0.tags.count == 1 && ($0.boss == nil || $0.age != nil) }", nil),
        ("keepers.where { $0.info[\"t\"] ?? \"-\" == \"x\" && $0.info.number(\"n\") ?? 0 > 1 }", nil),
        ("keepers.where { if $0.age == nil { return $0.rank == 1 }; return $0.rank == 2 }", noBool),
        ("keepers.where { $0.age == nil ? $0.rank == 1 : $0.rank == 2 }", noBool),
        ("keepers.where { if $0.boss != nil { return $0.rank == 1 }; return $0.rank == 2 }", noBool),
        ("keepers.where { $0.name == \"\\($0.code)!\" }", noText),
        ("keepers.where { $0.name == \"\\($0.pets)!\" }", noText),
        ("keepers.where { $0.name == \"\\($0.age == 1)!\" }", noText),
        ("keepers.where { $0.name.count > 3 }", "Swift counts other characters than PostgreSQL"),
        ("keepers.where { $0.age ?? \"x\" == 3 }", "cannot convert value of type"),
        ("keepers.where { ($0.boss ?? $0.boss.boss).age == 3 }", "?? is for columns and totals of groups alone"),
        ("keepers.where { $0.age! > 3 }", "cannot force unwrap value of non-optional type"),
        ("keepers.where { $0.visible ? $0.age == 1 : $0.age == 2 }", "cannot convert value of type"),
        ("keepers.where { max($0.age, $0.rank) == 3 }", "max"),
        ("keepers.where { [1, 2].contains($0.age) }", "contains"),
        ("keepers.where { Set([$0.age]).isEmpty }", "Hashable"),
        ("keepers.sorted { $0.name ?? $0.code }.sorted { $0.age ?? 0 }", nil),
        ("keepers.sorted { $0.name ?? \"x\" }.page(size: 2)", nil),
        ("keepers.sorted { \"\\($0.name)\" }", "cannot convert value of type"),
        ("keepers.sum { $0.age ?? $0.rank }", nil),
        ("keepers.minimum { $0.name ?? \"-\" }", nil),
        ("keepers.sum { $0.age! }", "cannot force unwrap value of non-optional type"),
        (
            "keepers.group(by: { $0.name }) { ($0.count, $0.sum { $0.age ?? 0 } ?? 0) }.having { $0.sum { $0.age } ?? 0 > 3 }",
            nil
        ),
        ("keepers.group(by: { $0.code ?? $0.code }) { $0.count }", "?? is for columns and totals of groups alone"),
        (
            "keepers.group(by: { $0.name }) { $0.sum { $0.age } ?? $0.sum { $0.rank } }",
            "?? takes a value in place of a total"
        ),
        ("keepers.prefetch(\\.pets) { $0.where { $0.name ?? \"x\" == \"y\" }.sorted { $0.name ?? \"x\" } }", nil),
        ("keeper.pets.where { $0.name ?? \"x\" == \"y\" }.sorted { $0.weight ?? 0 }", nil),
        ("context.add(Visit.self) { $0.began = .now; $0.ended = $0.began ?? .now }", nil),
        ("context.add(Visit.self) { let began: Date? = $0.began; print(began as Any) }", "a date is given as one"),
    ]

    @Test func whatHasNoMeaningDoesNotCompile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let head = """
            import Foundation
            import Kindred
            import TypeModels
            func check(_ context: DatabaseContext, _ keepers: FetchRequest<Keeper>, _ keeper: Keeper, _ number: Int?) async throws {

            """
        let file = folder.appending(path: "Expressions.swift")
        let first = head.split(separator: "\n", omittingEmptySubsequences: false).count
        let statements = Self.lines.map { "_ = try await \($0.code)" }.joined(separator: "\n")
        try Data("\(head)\(statements)\n}\n".utf8).write(to: file)
        let (_, output) = try await BuiltModules.typecheck([file.path])
        // Lines such as `…/Expressions.swift:12:9: error: …`.
        var said: [Int: [String]] = [:]
        for line in output.split(separator: "\n") {
            guard let range = line.range(of: "Expressions.swift:") else { continue }
            let parts = line[range.upperBound...].split(separator: ":", maxSplits: 2)
            guard parts.count == 3, let number = Int(parts[0]) else { continue }
            let message = parts[2].trimmingCharacters(in: .whitespaces)
            // That nothing is awaited, for calls that only make requests.
            if message.hasPrefix("note:") || message.contains("no 'async' operations occur") { continue }
            said[number, default: []].append(message)
        }
        for (position, line) in Self.lines.enumerated() {
            let messages = said[first + position] ?? []
            if let says = line.says {
                #expect(messages.contains { $0.hasPrefix("error: ") }, "\(line.code): \(messages)")
                #expect(messages.contains { $0.contains(says) }, "\(line.code): \(messages)")
            } else {
                #expect(messages == [], "\(line.code)")
            }
        }
    }
}
