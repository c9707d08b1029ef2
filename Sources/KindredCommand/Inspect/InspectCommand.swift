import ArgumentParser
import KindredPostgres
import KindredSchema

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

    @Option(help: "table, for people, or json, for programs: a stable format that only grows.")
    var format: Format = .table

    func run(in terminal: Terminal) async throws {
        let schema = try await connection.readSchema(in: terminal)
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
