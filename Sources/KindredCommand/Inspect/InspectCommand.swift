import ArgumentParser
import Kindred
import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `kindred inspect`: the entities and relationships of a database.
struct InspectCommand: ToolCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json
    }

    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows the entities of a database and the relationships between them.",
        discussion: """
            Without an entity: all entities, each with its relationships. With one: its attributes too, and how each \
            relationship got its names.
            """)

    @Argument(help: ArgumentHelp("The entity to show, such as person or public.person.", valueName: "entity"))
    var entity: String?

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("schema"),
        help: ArgumentHelp("Only entities of this schema; may be repeated.", valueName: "name"))
    var schemas: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write the keys of all relationships to this file, which Database.connect(names:) checks; shows which have another "
                + "meaning than before.", valueName: "names"))
    var save: String?

    @Flag(
        help: ArgumentHelp(
            "Show what the server can do instead, found by trying each feature in transactions that are rolled back."))
    var capabilities = false

    @Option(help: "table, for people, or json, for programs: a stable format that only grows.")
    var format: Format = .table

    func run(in terminal: Terminal) async throws {
        if capabilities { return try await showCapabilities(in: terminal) }
        let schema = try await connection.readSchema(in: terminal)
        connection.print(schema.filterProblems(), in: terminal)
        if let save { return try write(RelationshipNames(schema), to: save, terminal) }
        let shown = try selection(of: schema)
        switch format {
        case .json:
            terminal.printLines(shown.json())
        case .table:
            let page = SchemaPage(schema: schema, terminal: terminal)
            if entity != nil, let only = shown.entities.first {
                page.print(only)
            } else {
                page.printOverview(of: shown)
            }
        }
    }

    func validate() throws {
        guard capabilities, entity != nil || !schemas.isEmpty || save != nil else { return }
        throw ValidationError("--capabilities is about the server: leave out the entity, --schema and --save.")
    }

    private func showCapabilities(in terminal: Terminal) async throws {
        let found = try await connection.withClient(in: terminal) { try await $0.capabilities }
        let page = CapabilitiesPage(found, terminal: terminal)
        switch format {
        case .json: terminal.printLines(page.json)
        case .table: page.print()
        }
    }

    /// Writes the file of names, and shows the keys whose meaning differs from that in the earlier file.
    private func write(_ names: RelationshipNames, to path: String, _ terminal: Terminal) throws {
        let file = URL(filePath: path)
        if FileManager.default.fileExists(atPath: path) {
            let earlier: RelationshipNames
            do {
                earlier = try RelationshipNames(text: String(decoding: try Data(contentsOf: file), as: UTF8.self))
            } catch {
                throw CommandFailure(.badInput, "\(path) is there, and is no file of names; it was not written over.")
            }
            for change in earlier.changes(to: names) { terminal.print("\(change)") }
        }
        do {
            try Data(names.text.utf8).write(to: file)
        } catch {
            throw CommandFailure(.failure, "\(path) cannot be written.")
        }
        terminal.print("Saved \(names.count) keys to \(path).")
    }

    /// The requested part of the schema.
    private func selection(of schema: DatabaseSchema) throws -> DatabaseSchema {
        for name in schemas where !schema.entities.contains(where: { $0.name.schema == name }) {
            let known = Set(schema.entities.map(\.name.schema)).sorted().joined(separator: ", ")
            throw CommandFailure(
                .badInput,
                "There is no entity in a schema \"\(name)\"; "
                    + (known.isEmpty ? "there are none." : "there are some in: \(known)."))
        }
        var entities = schema.entities
        if !schemas.isEmpty { entities.removeAll { !schemas.contains($0.name.schema) } }
        var diagnostics = schema.diagnostics
        if !schemas.isEmpty { diagnostics.removeAll { !schemas.contains($0.entity.schema) } }
        if let entity {
            let found = try DatabaseSchema(
                entities: entities, searchPath: schemas + schema.searchPath, hidden: schema.hidden
            ).entity(named: entity)
            entities = [found]
            diagnostics.removeAll { $0.entity != found.name }
        }
        return DatabaseSchema(
            entities: entities, searchPath: schema.searchPath, types: schema.types, diagnostics: diagnostics)
    }
}
