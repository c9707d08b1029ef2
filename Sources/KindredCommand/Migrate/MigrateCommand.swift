import ArgumentParser
import KindredMigrations
import KindredPostgres

/// `kindred migrate`: numbered SQL files, applied once each.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Runs the numbered SQL files of a folder that have not run yet.",
        discussion: """
            A file, such as 0001_people.sql, is one transaction; with a line "-- kindred: no transaction" each of its \
            statements is one. What has run is recorded in kindred.migration. Connect to the server itself, not to a pooler.

            A name is a number, _, anything and .sql; NUMBER_NAME/migration.sql and NUMBER_NAME.up.sql are taken, too. A database \
            that another tool has migrated is adopted by --baseline with the number of the last file that has run.

            With --tenants the files run in the schema of each tenant, which comes first on the search path, and are recorded in \
            its table kindred_migration. Name the schemas by --tenant the first time.

            Example: kindred migrate Migrations --dry-run --database "$DATABASE_URL"
            """,
        subcommands: [MigrateApply.self, MigrateStatus.self, MigrateResolve.self, MigrateLint.self],
        defaultSubcommand: MigrateApply.self)
}

/// `kindred migrate FOLDER`.
struct MigrateApply: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Runs what has not run yet; the word may be left out.",
        discussion: "Example: kindred migrate Migrations --dry-run")

    @Argument(help: ArgumentHelp("The folder with the files.", valueName: "folder"))
    var folder: String

    @Flag(help: "Only say what would run.")
    var dryRun = false

    @Flag(help: "Also run files whose number is lower than that of one that has run.")
    var allowOutOfOrder = false

    @Option(
        help: ArgumentHelp(
            "First count the files up to this number as run, since another tool has run them.", valueName: "number"))
    var baseline: Int64?

    @Flag(help: "Run the files in the schemas of all tenants in which files have run.")
    var tenants = false

    @Option(
        name: .customLong("tenant"),
        help: ArgumentHelp("Run the files in this tenant's schema; may be repeated.", valueName: "schema"))
    var schemas: [String] = []

    @Option(help: ArgumentHelp("With tenants: how many at a time; 4 by default.", valueName: "number"))
    var limit: Int?

    @Option(help: "With tenants: text, for people, or json, for programs: a stable format that only grows.")
    var format: Format?

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    func validate() throws {
        if tenants, !schemas.isEmpty { throw ValidationError("Give either --tenants or --tenant.") }
        if !tenants, schemas.isEmpty, limit != nil || format != nil {
            throw ValidationError("--limit and --format go with --tenants or --tenant.")
        }
        if tenants || !schemas.isEmpty, baseline != nil {
            throw ValidationError("--baseline is about the database's own files, and does not go with tenants.")
        }
        if let limit, !(1...100).contains(limit) { throw ValidationError("--limit is a number from 1 to 100.") }
    }

    func run(in terminal: Terminal) async throws {
        try await withMigrations(folder, connection, ownership, in: terminal) { migrations, client in
            var migrations = migrations
            migrations.allowsOutOfOrder = allowOutOfOrder
            if tenants || !schemas.isEmpty { return try await migrate(migrations, client, in: terminal) }
            if dryRun { return try await printPending(migrations, client, in: terminal) }
            if let baseline {
                let counted = try await migrations.baseline(baseline, in: client)
                for file in counted { terminal.print("counted \(file.name) as run") }
            }
            var isDone = true
            // Each file as soon as it has run, so that the output is right if a later file fails.
            try await migrations.apply(to: client) { file in
                print(file, "ran", in: terminal)
                isDone = false
            }
            if isDone { terminal.print("Everything has run already.") }
        }
    }

    private func printPending(
        _ migrations: Migrations, _ client: PostgresClient, in terminal: Terminal
    ) async throws {
        var (counted, files): ([MigrationFile], [MigrationFile]) = ([], [])
        if let baseline {
            (counted, files) = try await migrations.pending(afterBaseline: baseline, in: client)
        } else {
            files = try await migrations.pending(for: client)
        }
        for file in counted { terminal.print("would count \(file.name) as run") }
        for file in files { print(file, "would run", in: terminal) }
        if files.isEmpty { terminal.print("Everything has run already.") }
    }

    private func print(_ file: MigrationFile, _ verb: String, in terminal: Terminal) {
        terminal.print("\(verb) \(file.name)\(file.isTransaction ? "" : ", without a transaction")")
    }

    /// Ends with 1 if a tenant has failed, after all other tenants were migrated.
    private func migrate(_ migrations: Migrations, _ client: PostgresClient, in terminal: Terminal) async throws {
        let (names, limit) = (tenants ? nil : schemas, limit ?? 4)
        let outcomes =
            dryRun
            ? try await migrations.pending(forTenants: names, of: client, limit: limit)
            : try await migrations.apply(toTenants: names, of: client, limit: limit)
        let page = TenantMigrationPage(outcomes: outcomes, terminal: terminal)
        switch format ?? .text {
        case .json: terminal.printLines(page.json)
        case .text: page.print()
        }
        let failed = outcomes.filter { $0.state == .failed }
        guard let first = failed.first else { return }
        throw CommandFailure(
            .failure, "\(failed.count) of \(outcomes.count) tenants failed, the first is \(first.schema).")
    }
}

/// `kindred migrate status FOLDER`.
struct MigrateStatus: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows what has run and what is to run.",
        discussion: "Example: kindred migrate status Migrations --check")

    @Argument(help: ArgumentHelp("The folder with the files.", valueName: "folder"))
    var folder: String

    @Flag(help: "End with 1 unless all files have run as they are.")
    var check = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        try await withMigrations(folder, connection, ownership, in: terminal) { migrations, client in
            let all = try await migrations.status(of: client)
            var table = TextTable()
            for status in all {
                let style: Terminal.Style? = status.state == .applied ? nil : status.state == .pending ? .yellow : .red
                table.add([(status.state.rawValue, style), (status.name, nil), (status.appliedAt ?? "", .faint)])
            }
            for line in table.lines(indentation: 0, in: terminal) { terminal.print(line) }
            if all.isEmpty { terminal.print("There are no files.") }
            if check, let first = all.first(where: { $0.state != .applied }) {
                throw CommandFailure(.failure, "\(first.name) is \(first.state.rawValue).")
            }
        }
    }
}

/// `kindred migrate resolve FOLDER NUMBER`.
struct MigrateResolve: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Says what became of a file that ran without a transaction and failed.",
        discussion: "Example: kindred migrate resolve Migrations 7 --done")

    @Argument(help: ArgumentHelp("The folder with the files.", valueName: "folder"))
    var folder: String

    @Argument(help: ArgumentHelp("The file's number.", valueName: "number"))
    var number: Int64

    @Flag(help: "All that it does is done.")
    var done = false

    @Flag(help: "It is to run again.")
    var again = false

    @Option(help: ArgumentHelp("The tenant in whose schema it ran.", valueName: "schema"))
    var tenant: String?

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        guard done != again else { throw CommandFailure(.usage, "resolve takes either --done or --again.") }
        try await withMigrations(folder, connection, ownership, in: terminal) { migrations, client in
            try await migrations.resolve(number, isDone: done, in: client, ofTenant: tenant)
            terminal.print("\(number) \(done ? "counts as done" : "is to run again")")
        }
    }
}

private func withMigrations(
    _ folder: String, _ connection: ConnectionOptions, _ ownership: OwnerOptions, in terminal: Terminal,
    _ body: (Migrations, PostgresClient) async throws -> Void
) async throws {
    try await describingMigrationErrors {
        // Before a connection is asked for.
        var migrations = try Migrations(folder: folder).read()
        migrations.owner = ownership.owner
        try await connection.withClient(in: terminal, toPrimary: true) { [migrations] in try await body(migrations, $0)
        }
    }
}

/// Ends the command with the words of a migration's error, and of the server.
func describingMigrationErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as MigrationError {
        let isInput = [.invalidFolder, .invalidFile, .noTenant].contains(error.code)
        throw CommandFailure(isInput ? .badInput : .failure, error.message, details: error.details)
    } catch let error as PostgresError {
        throw CommandFailure(.failure, "\(error)", details: error.server?.facts(besides: error.message) ?? [])
    }
}
