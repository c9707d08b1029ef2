import KindredDDL
public import KindredPostgres

/// The way from the tables of one version of a Core Data model to the tables of another.
///
/// Entities and properties with a renaming identifier are renamed, with their data. Entities and properties that the
/// newer version no longer has stay unless the options allow drops, and so does the type of a column whose values the
/// newer type would change. Nothing is sent until ``apply(to:)``.
///
/// ```swift
/// let migration = try ModelMigration(
///     from: CoreDataModel(at: "Shop.xcdatamodeld", version: "Shop 1"), to: CoreDataModel(at: "Shop.xcdatamodeld"))
/// try await migration.apply(to: client)
/// ```
public struct ModelMigration: Sendable {
    /// The statements in an order that works, each without its semicolon; empty if both versions have the same tables.
    public let statements: [String]
    /// All changes that are not made, statements that may fail where there are rows, and the reports of the newer
    /// model's ``ModelImport``.
    public let reports: [ModelReport]

    /// Compares the tables of two versions; a pure function, which needs no database.
    ///
    /// Both are read with the same options, with which the older version was imported.
    ///
    /// - Throws: ``ModelImportError`` `.unknownName` for a configuration, entity or schema that cannot be.
    public init(
        from old: CoreDataModel, to new: CoreDataModel, _ options: ModelImportOptions = ModelImportOptions()
    ) throws {
        let after = try ModelPlanner(checked: new, options)
        let before = try Self.plan(old, of: new, options)
        let matching = ModelMatching(from: old, to: new)
        let tables = PlanMatching(from: before, to: after.plan, matching, allowsDrops: options.allowsDrops)
        let renaming = try PlanRenaming(before, to: after.plan, tables)
        let keeping = PlanKeeping(renaming.plan, in: after.plan, tables, allowsDrops: options.allowsDrops)
        let kinds = try KindChanges(
            from: before, to: after.plan, tables, entities: matching.entities, allowsDrops: options.allowsDrops)
        let wanted = try keeping.plan.snapshot()
        let parts = try PartRenames(renaming.plan.snapshot(), wanted)
        statements =
            try (before.tables.isEmpty ? ModelImport.schema(of: after.plan) : [])
            + (renaming.statements + parts.statements).map(\.sql)
            + ModelImport.statements(from: parts.renamed, to: wanted, updates: kinds.statements)
        reports = keeping.reports + kinds.reports + after.reports
    }

    /// The older plan; entities that are asked for by name count by the names that they had.
    private static func plan(
        _ old: CoreDataModel, of new: CoreDataModel, _ options: ModelImportOptions
    ) throws -> SchemaPlan {
        var options = options
        let matching = ModelMatching(from: old, to: new)
        if !options.entities.isEmpty {
            options.entities = options.entities.compactMap { matching.entities[$0] }
            if options.entities.isEmpty { return SchemaPlan(schema: options.schema) }
        }
        if let name = options.configuration, !old.configurations.contains(where: { $0.name == name }) {
            return SchemaPlan(schema: options.schema)
        }
        return try ModelPlanner(checked: old, options).plan
    }

    /// The statements as a script: each with its semicolon on lines of its own.
    public var sql: String { ModelImport.script(statements) }

    /// Runs all statements in one transaction, in two round trips: all is changed, or nothing.
    ///
    /// - Throws: `PostgresError` if the server refuses a statement, such as NOT NULL where rows have no value.
    public func apply(to client: PostgresClient) async throws {
        try await ModelImport.apply(statements, to: client)
    }
}
