import Kindred
import KindredPostgres
import KindredSchema

/// How a model fits the tables that there are.
///
/// Contexts keep the model that they were made with. Columns that are gone, have another name or another type are left out where
/// changed rows are read for them, so that everything else goes on: such a column is read, or refused, at its next use.
struct ModelFit: Sendable {
    let model: SchemaRuntime
    /// The types of the tables' columns; none of a table that is gone.
    private let columns: [QualifiedName: [ServerText: UInt32]]
    private let types: TypeRegistry
    /// The steps in a row whose statements did not fit.
    private var failures: Int
    /// Whether columns are left out whose types have only another form, too.
    private let isStrict: Bool

    /// Asks the catalog, in one statement.
    ///
    /// - Parameters:
    ///   - former: the fit that was known before.
    ///   - hasFailed: whether the last step's statements for the model have failed.
    init(
        _ model: SchemaRuntime, _ entities: Set<EntityRuntime>, after former: ModelFit?, hasFailed: Bool,
        in database: Database
    ) async throws {
        self.model = model
        types = database.types
        let names = entities.map(\.name)
        var columns = Dictionary(uniqueKeysWithValues: names.map { ($0, [ServerText: UInt32]()) })
        for row in try await database.client.execute(LiveStatements.columns(of: names)) {
            guard let number = try row.decode(0, as: Int.self), names.indices.contains(number - 1),
                let name = try row.decode(1, as: String.self), let type = try row.decode(2, as: Int64.self)
            else { continue }
            columns[names[number - 1]]?[ServerText(name)] = UInt32(exactly: type)
        }
        self.columns = columns
        let known = former.flatMap { $0.columns == columns ? $0 : nil }
        failures = (known?.failures ?? 0) + (hasFailed ? 1 : 0)
        isStrict = failures > 1 || known?.isStrict == true
    }

    /// The fit after a step that has succeeded.
    var succeeded: ModelFit {
        var fit = self
        fit.failures = 0
        return fit
    }

    /// Whether nothing more can be left out.
    var isExhausted: Bool { failures > 2 }

    /// The columns of an entity that rows are read without.
    func lacking(_ entity: EntityRuntime) -> ColumnSet {
        guard let columns = columns[entity.name] else { return [] }
        return ColumnSet(entity.attributeColumns.filter { isLacking($0, of: entity, columns) })
            .subtracting(entity.placingColumns)
    }

    /// The first column without which rows of an entity cannot be found; nil if all are there.
    func missing(_ entity: EntityRuntime) -> Int? {
        guard let columns = columns[entity.name] else { return nil }
        return entity.placingColumns.first { isLacking($0, of: entity, columns) }
    }

    private func isLacking(_ column: Int, of entity: EntityRuntime, _ columns: [ServerText: UInt32]) -> Bool {
        let attribute = entity.entity.attributes[column]
        guard let type = columns[ServerText(attribute.name)] else { return true }
        if attribute.number < 0 || type == attribute.type.rawValue { return false }
        // Columns of another type are read at first, and the values decide; values of a class's property, and values
        // that the model's type cannot hold, do not fit.
        let isPlacing = entity.placingColumns.contains(column)
        return isStrict && !isPlacing || !types.areAlike(PostgresDataType(rawValue: type), attribute.type)
    }
}

extension ModelFit {
    /// The error for a context whose rows can no longer be found; nil if they can.
    func refusal(of core: ContextCore) -> KindredError? {
        for entity in (core.following?.followed ?? []).sorted() {
            guard let column = missing(entity) else { continue }
            let name = entity.entity.attributes[column].name
            return KindredError(
                .schemaChanged,
                """
                \(entity.name).\(name) is gone, or has another type, and rows or relationships are found by it: a context with the \
                former model cannot follow changes any more; make a new one
                """,
                entity: entity.name.description, key: name)
        }
        return nil
    }
}

extension ChangeFollowing {
    /// All entities whose changes concern the context.
    var followed: Set<EntityRuntime> {
        withState { state in
            state.relationships.reduce(into: state.entities) { entities, relationship in
                entities.formUnion([relationship.source, relationship.destination])
                if let helper = relationship.helper { entities.insert(helper.entity) }
            }
        }
    }
}

extension Error {
    /// Whether a statement or an answer does not fit the model.
    var meansOutdatedModel: Bool { meansNewSchema || (self as? KindredError)?.code == .classMismatch }
}
