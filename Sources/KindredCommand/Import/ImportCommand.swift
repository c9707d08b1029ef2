import ArgumentParser
import HarmlessText
import KindredAssistant
import KindredPostgres

/// `kindred import`: tables from a Core Data model.
struct ImportCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes tables of a Core Data model.",
        discussion: """
            Prints the SQL, and before it, as comments, what is not in the tables as it is in the model. Nothing is sent \
            unless --apply says so; then everything is one transaction. With --from it is the migration from an older version \
            of the model.

            Example:
              kindred import Shop.xcdatamodeld | less
              kindred import Shop.xcdatamodeld --apply --database postgres://localhost/shop
              kindred import Shop.xcdatamodeld --from "Shop.xcdatamodeld/Shop 1.xcdatamodel"
            """)

    @Argument(
        help: ArgumentHelp(
            "The model: a .xcdatamodeld, whose current version is taken, a .xcdatamodel, or its file contents.",
            valueName: "model"))
    var model: String

    @Option(
        help: ArgumentHelp(
            "The older model that the database has; prints what leads to the newer one.", valueName: "model"))
    var from: String?

    @Option(
        help: ArgumentHelp("The version of a .xcdatamodeld; the current one by default.", valueName: "name"))
    var version: String?

    @Option(help: ArgumentHelp("The schema for the tables.", valueName: "name"))
    var schema = "public"

    @Option(help: ArgumentHelp("Only the entities of this configuration.", valueName: "name"))
    var configuration: String?

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp("Only this entity and those that it inherits from; may be repeated.", valueName: "name"))
    var entities: [String] = []

    @Option(
        help: "single: one table for entities that inherit from each other; joined: a table for each, with shared keys."
    )
    var inheritance: Inheritance = .single

    @Flag(help: "With --from: remove what the newer version lacks, and round values that its types cannot hold.")
    var allowDrop = false

    @Flag(help: "Run the SQL, in one transaction.")
    var apply = false

    @OptionGroup var connection: ConnectionOptions

    enum Inheritance: String, ExpressibleByArgument, CaseIterable {
        case single, joined
    }

    func validate() throws {
        if allowDrop && from == nil { throw ValidationError("--allow-drop goes with --from.") }
        if connection.database != nil && !apply {
            throw ValidationError("--database goes with --apply; without it nothing is sent.")
        }
    }

    func run(in terminal: Terminal) async throws {
        let (statements, reports) = try plan()
        for report in reports { terminal.print("-- \(report)") }
        if !reports.isEmpty { terminal.print() }
        terminal.printLines(statements.map { $0 + ";\n" }.joined())
        guard apply else { return }
        try await connection.withClient(in: terminal, toPrimary: true) { client in
            do {
                try await ModelImport.apply(statements, to: client)
            } catch let error as PostgresError where error.code == .commitUnknown {
                throw CommandFailure(.failure, "Look whether the tables are there: \(error)")
            } catch let error as PostgresError {
                throw CommandFailure(.failure, "Nothing was changed: \(error)")
            }
        }
        terminal.print("-- \(statements.count) statements were run in one transaction.")
    }

    private func plan() throws -> (statements: [String], reports: [ModelReport]) {
        let options = ModelImportOptions(
            schema: schema, inheritance: ModelImportOptions.Inheritance(rawValue: inheritance.rawValue) ?? .single,
            configuration: configuration, entities: entities, allowsDrops: allowDrop)
        do {
            let newer = try CoreDataModel(at: model, version: version)
            guard let from else {
                let made = try ModelImport(newer, options)
                return (made.statements, made.reports)
            }
            let made = try ModelMigration(from: CoreDataModel(at: from), to: newer, options)
            return (made.statements, made.reports)
        } catch let error as ModelImportError {
            throw CommandFailure(.badInput, error.message)
        }
    }
}
