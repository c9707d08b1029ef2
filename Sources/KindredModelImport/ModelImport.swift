import HarmlessText
import KindredDDL
public import KindredPostgres

/// A Core Data model as tables of PostgreSQL.
///
/// Tables are called as the entities are, columns as the attributes. Foreign keys are named so that `kindred inspect`
/// gives the model's own relationships back, and annotated where a name or an action of the database cannot express the
/// model. Nothing is sent until ``apply(to:)``.
///
/// ```swift
/// let model = try CoreDataModel(at: "Shop.xcdatamodeld")
/// let tables = try ModelImport(model)
/// for report in tables.reports { print(report) }
/// try await tables.apply(to: client)
/// ```
public struct ModelImport: Sendable {
    /// The statements in an order that works, each without its semicolon.
    public let statements: [String]
    /// The parts that are not in the tables as they are in the model, and why; the model's remarks come first.
    public let reports: [ModelReport]

    /// Makes the tables of a model; a pure function, which needs no database.
    ///
    /// - Throws: ``ModelImportError`` `.unknownName` for a configuration, entity or schema that cannot be.
    public init(_ model: CoreDataModel, _ options: ModelImportOptions = ModelImportOptions()) throws {
        let planner = try ModelPlanner(checked: model, options)
        statements = try Self.schema(of: planner.plan) + Self.statements(to: planner.plan.snapshot())
        reports = planner.reports
    }

    /// The statement that makes a plan's schema, where it may be missing.
    static func schema(of plan: SchemaPlan) throws -> [String] {
        plan.schema == "public" ? [] : ["CREATE SCHEMA IF NOT EXISTS \(try DDL.name(plan.schema))"]
    }

    /// The statements from one snapshot to another, in one transaction.
    static func statements(
        from old: SchemaSnapshot = SchemaSnapshot(), to new: SchemaSnapshot, updates: [SchemaStatement] = []
    ) throws -> [String] {
        var planner = SchemaPlanner(from: old, to: new)
        planner.isConcurrent = false
        planner.fillsNulls = true
        planner.updates = updates
        return try planner.plan().flatMap(\.statements).map(\.sql)
    }

    /// The statements as a script: each with its semicolon on lines of its own.
    public var sql: String { Self.script(statements) }

    /// Runs all statements in one transaction: either every table is there afterwards, or nothing has changed.
    ///
    /// Takes two round trips: the statements are sent together.
    ///
    /// - Throws: `PostgresError` if the server refuses a statement, such as a table whose name is taken.
    public func apply(to client: PostgresClient) async throws {
        try await Self.apply(statements, to: client)
    }

    static func script(_ statements: [String]) -> String {
        statements.map { $0 + ";\n" }.joined()
    }

    /// Runs statements in one transaction, in one round trip and one for the COMMIT.
    package static func apply(_ statements: [String], to client: PostgresClient) async throws {
        guard !statements.isEmpty else { return }
        // Types and functions are PostgreSQL's own; tables are named with their schema. A caller's transaction keeps its path.
        let path =
            client.isInTransaction ? [] : ["SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"]
        try await client.withTransaction { _ in
            _ = try await client.executeBatch(
                (path + statements).map { Statement(text: StatementText($0, mayChangeSession: true)) })
        }
    }
}

extension ModelPlanner {
    /// Plans with options that can be.
    init(checked model: CoreDataModel, _ options: ModelImportOptions) throws {
        guard (try? SQLIdentifier.quote(options.schema)) != nil,
            !options.schema.unicodeScalars.contains(where: \.isHarmful)
        else {
            throw ModelImportError(.unknownName, "A schema cannot be called \"\(options.schema)\"")
        }
        try self.init(model, options)
    }
}
