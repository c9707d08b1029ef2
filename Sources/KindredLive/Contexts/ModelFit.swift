import Kindred
import KindredPostgres
import KindredSchema

/// How a model fits the tables that there are.
///
/// Contexts keep the model that they were made with. Columns that are gone, have another name or another type are left out where
/// changed rows are read for them, so that everything else goes on: such a column is read, or refused, at its next use.
struct ModelFit: Sendable {
    let model: SchemaRuntime
    private let tables: PresentTables
    private let types: TypeRegistry
    /// The steps in a row whose statements did not fit.
    private var failures: Int
    /// Whether columns are left out whose types have only another form, too.
    private let isStrict: Bool

    /// - Parameters:
    ///   - former: the fit that was known before.
    ///   - hasFailed: whether the last step's statements for the model have failed.
    init(
        _ model: SchemaRuntime, in tables: PresentTables, after former: ModelFit?, hasFailed: Bool,
        _ types: TypeRegistry
    ) {
        (self.model, self.tables, self.types) = (model, tables, types)
        let known = former.flatMap { $0.tables.model === tables.model ? $0 : nil }
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
        guard let present = tables.model[entity.name] else { return [] }
        return ColumnSet(entity.attributeColumns.filter { isLacking($0, of: entity, present) })
            .subtracting(entity.placingColumns)
    }

    /// The first column without which rows of an entity cannot be found; nil if all are there.
    private func missing(_ entity: EntityRuntime) -> Int? {
        guard let present = tables.model[entity.name] else { return nil }
        return entity.placingColumns.first { isLacking($0, of: entity, present) }
    }

    private func isLacking(_ column: Int, of entity: EntityRuntime, _ present: EntityRuntime) -> Bool {
        let attribute = entity.entity.attributes[column]
        // The system's columns are always there.
        if attribute.number < 0 { return false }
        guard let place = present.attributeIndex(of: attribute.name) else { return true }
        let now = present.entity.attributes[place]
        if now.type == attribute.type, now.structure == attribute.structure { return false }
        // Columns of another type are read at first, and the values decide; values of a class's property, and values
        // that the model's type cannot hold, do not fit.
        let isPlacing = entity.placingColumns.contains(column)
        return isStrict && !isPlacing || !types.areAlike(now.type, attribute.type)
    }

    /// The error for a context whose rows can no longer be found; nil if they can.
    func refusal(of core: ContextCore) -> KindredError? {
        for entity in (core.following?.followed ?? []).sorted() {
            if let error = tables.end(of: entity, asTable: true) { return error }
            guard let column = missing(entity) else { continue }
            return PresentTables.lacking(entity.entity.attributes[column].name, of: entity.name)
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
