package import ArgumentParser
import KindredCommandLine
import KindredGenerator
import KindredPostgres
import KindredSchema
package import KindredTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `kindred generate`: Swift classes for the entities of a database.
package struct GenerateCommand: ToolCommand {
    package static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes Swift classes for the entities of a database.",
        discussion: """
            Person.swift is written once and then yours; Person+Properties.swift and the enums are written anew each \
            time, and removed when nothing is behind them any more, unless only some entities were chosen. \
            \(NameLock.fileName) keeps the names once given; commit it with the classes.
            """)

    @Option(help: ArgumentHelp("The folder to write to; it is made if there is none.", valueName: "dir"))
    var output: String

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("schema"),
        help: ArgumentHelp("Only entities of this schema; may be repeated.", valueName: "name"))
    var schemas: [String] = []

    @Option(help: "Who may use the classes: public, package or internal.")
    var access: Access = .public

    @Option(
        help: """
            The type of moments: postgres for PostgresTimestamp, foundation for Date, which has no infinities and not every \
            microsecond far from today, so that rows with them cannot be read. Kept in \(NameLock.fileName).
            """)
    var dates: Dates?

    @Option(
        help: """
            The property that has the name of a foreign key's column without _id, such as author: column for the column, \
            beside authorObject; id for the relationship, beside authorID. Kept in \(NameLock.fileName).
            """)
    var foreignKeys: ForeignKeys?

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "Only entities like this, such as person or sales.*; may be repeated.", valueName: "pattern"))
    var patterns: [String] = []

    @Flag(
        help: """
            Give relationships and columns the names of their annotations, also where \(NameLock.fileName) has others. The names of all else \
            stay.
            """)
    var annotatedNames = false

    @Flag(help: "Write nothing; end with status 1 and show what differs, if anything does.")
    var check = false

    enum Access: String, ExpressibleByArgument, CaseIterable {
        case `public`, package, `internal`
    }

    enum Dates: String, ExpressibleByArgument, CaseIterable {
        case postgres, foundation
    }

    enum ForeignKeys: String, ExpressibleByArgument, CaseIterable {
        case column, id
    }

    package init() {}

    package func run(in terminal: Terminal) async throws {
        let read = try await connection.readSchema(in: terminal)
        // The chosen schemas come first in the search path.
        let schema = DatabaseSchema(
            entities: read.entities, searchPath: schemas + read.searchPath, types: read.types,
            diagnostics: read.diagnostics, hidden: read.hidden)
        let folder = ModelFolder(path: output)
        let generator = ModelGenerator(
            schema: schema,
            entities: try selection(of: schema),
            access: ModelGenerator.Access(rawValue: access.rawValue) ?? .public,
            dates: dates.flatMap { ModelGenerator.Dates(rawValue: $0.rawValue) },
            foreignKeys: foreignKeys.flatMap { ModelGenerator.ForeignKeyNames(rawValue: $0.rawValue) },
            lock: try folder.lock(),
            takesAnnotations: annotatedNames
        )
        guard generator.problems.isEmpty else {
            throw CommandFailure(
                .badInput,
                "The names cannot be used: \(generator.problems.joined(separator: "; ")). Change \(NameLock.fileName), or the "
                    + "annotations that name them.")
        }
        let changes = try folder.changes(for: generator.files, mayRemove: schemas.isEmpty && patterns.isEmpty)
        if check {
            for change in changes { terminal.printLines(change.difference) }
            guard changes.isEmpty else {
                throw CommandFailure(
                    .failure,
                    "\(changes.count) file\(changes.count == 1 ? "" : "s") in \(output) and the database differ; "
                        + "run `kindred generate` without --check.")
            }
            return
        }
        try folder.write(changes)
        for change in changes { terminal.print("\(change.verb) \(change.name)") }
        for name in generator.orphans where folder.hasFile(named: "\(name).swift") {
            terminal.print("\(name).swift is yours, and its table is gone: delete it if you do not need it.")
        }
        let count = generator.files.count
        terminal.print(
            changes.isEmpty ? "All \(count) files are up to date." : "\(changes.count) of \(count) files changed.")
    }

    private func selection(of schema: DatabaseSchema) throws -> [Entity] {
        for name in schemas where !schema.entities.contains(where: { $0.name.schema == name }) {
            throw CommandFailure(.badInput, "There is no entity in a schema \"\(name)\".")
        }
        var entities = schema.entities
        if !schemas.isEmpty { entities.removeAll { !schemas.contains($0.name.schema) } }
        guard !patterns.isEmpty else { return entities }
        for pattern in patterns where !entities.contains(where: { Self.matches($0, pattern) }) {
            throw CommandFailure(.badInput, "There is no entity like \"\(pattern)\".")
        }
        return entities.filter { entity in patterns.contains { Self.matches(entity, $0) } }
    }

    private static func matches(_ entity: Entity, _ pattern: String) -> Bool {
        matches(Array(entity.name.name), Array(pattern)[...])
            || matches(Array(entity.name.description), Array(pattern)[...])
    }

    /// Whether a text matches a pattern with `*` for any characters.
    private static func matches(_ text: [Character], _ pattern: ArraySlice<Character>) -> Bool {
        // The reachable positions in the text after each character of the pattern.
        var places: Set<Int> = [0]
        for character in pattern {
            if character == "*" {
                places = Set((places.min() ?? text.count + 1)..<(text.count + 1))
            } else {
                places = Set(places.filter { $0 < text.count && text[$0] == character }.map { $0 + 1 })
            }
            if places.isEmpty { return false }
        }
        return places.contains(text.count)
    }
}
