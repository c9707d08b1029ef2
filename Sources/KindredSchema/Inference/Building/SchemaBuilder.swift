package import KindredPostgres

/// Makes the model from the catalog's rows.
///
/// Names are assigned over the whole database, and relations that the role may not read are removed at the end, so that
/// all roles see the same names.
final class SchemaBuilder {
    let catalog: Catalog
    let types: TypeResolver
    var annotations: Annotations
    /// Every possible entity, including unreadable and ignored ones, sorted by name.
    var tables: [Table] = []
    var tableIndexes: [UInt32: Int] = [:]
    /// The reasons why relations are not entities.
    var hidden: [QualifiedName: DatabaseSchema.HiddenReason] = [:]
    /// The names of relations that are not among `tables`: partitions.
    var otherNames: [UInt32: QualifiedName] = [:]
    /// The foreign keys that make relationships, sorted by table and name.
    var keys: [ForeignKey] = []
    /// The foreign keys that hold for single partitions only.
    var partitionKeys: [PartitionKey] = []
    /// The pairs of foreign keys that make helper tables.
    var helpers: [HelperPair] = []
    /// Every end of every relationship; the inverse of an end is its neighbour, `index ^ 1`.
    var ends: [RelationshipEnd] = []
    var diagnostics: [SchemaDiagnostic] = []
    /// The origins of views' columns by view, once asked for.
    var viewOrigins: [UInt32: Catalog.ViewOrigins]?
    /// The obstacles of all relations, partitions too, once asked for.
    var relationObstacles: [UInt32: RowObstacles] = [:]
    /// The tables that each view shows, once found.
    var shownTables: [Int: [ShownTable]] = [:]

    init(
        _ catalog: Catalog, overrides: [SchemaOverride], registry: TypeRegistry?, omitting omitted: Set<ServerText> = []
    ) {
        self.catalog = catalog
        types = TypeResolver(catalog, registry)
        annotations = Annotations(catalog, overrides: overrides, omitting: omitted)
    }

    /// Makes the model.
    func build() throws(SchemaError) -> DatabaseSchema {
        let schema = make()
        if let error = annotations.error() { throw error }
        return schema
    }

    /// Makes the model; `annotations` then holds the invalid annotations.
    fileprivate func make() -> DatabaseSchema {
        makeTables()
        makeColumns()
        makeUniqueKeys()
        makeForeignKeys()
        makeHelpers()
        makeIdentities()
        makeEnds()
        for table in tables.indices where !tables[table].ends.isEmpty { settleNames(of: table) }
        let relationships = tables.indices.map { makeRelationships(of: $0) }
        let entities = makeEntities(relationships)
        diagnostics.sort {
            if $0.entity != $1.entity { return $0.entity < $1.entity }
            return ($0.code.description, $0.constraints.joined(separator: "\n"), $0.message)
                < ($1.code.description, $1.constraints.joined(separator: "\n"), $1.message)
        }
        return DatabaseSchema(
            entities: entities,
            searchPath: catalog.searchPath,
            types: types.userTypes(),
            diagnostics: diagnostics,
            hidden: hidden,
            partitionKeys: partitionKeys
        )
    }

    /// Notes an invalid annotation.
    func report(_ reason: String, of table: Int, at location: String) {
        annotations.problems.append(.init(entity: tables[table].name, location: location, reason: reason))
    }

    private func makeEntities(_ relationships: [[Relationship]]) -> [Entity] {
        var entities: [Entity] = []
        entities.reserveCapacity(tables.count)
        let relatives = findRelatives()
        let constraintNames = catalog.constraints.reduce(into: [UInt32: Set<ServerText>]()) {
            $0[$1.relation, default: []].insert($1.name)
        }
        for (index, table) in tables.enumerated() where table.isVisible {
            checkLazyColumns(of: index, relationships[index])
            let rowTables = rowTables(of: index)
            let identity = table.columnNames(table.identity)
            let isReadOnly = identity.isEmpty || table.kind == .materializedView || !table.relation.isUpdatable
            // The role must not learn of a column that it may not read.
            let locking = optimisticLocking(of: index)
            let isLocking =
                if case .column(let name) = locking {
                    table.visibleAttributes.contains { $0.name == name }
                } else {
                    locking != nil && table.relation.isReadable
                }
            let written = annotations.tables[table.relation.oid]?.options
            let hidden =
                (isLocking && locking == .xmin ? [Attribute.xmin] : []) + (rowTables == nil ? [] : [Attribute.table])
            let shown = Set((shownTables[index] ?? []).map(\.table))
            if identity.isEmpty {
                diagnostics.append(
                    SchemaDiagnostic(
                        .missingKey,
                        entity: table.name,
                        message: "\(table.name) has no key, so its objects are read-only and not uniqued"
                    )
                )
            }
            entities.append(
                Entity(
                    name: table.name,
                    kind: table.kind,
                    oid: table.relation.oid,
                    attributes: table.visibleAttributes + hidden,
                    attributeIndexes: table.showsAll && hidden.isEmpty ? table.attributeIndexes : nil,
                    primaryKey: identity,
                    isReadOnly: isReadOnly,
                    relationships: relationships[index],
                    optimisticLocking: isLocking ? locking : nil,
                    filter: written?.filter,
                    softDelete: softDelete(of: index),
                    belongsToTenants: written?.tenant ?? true,
                    comment: annotations.tableComments[table.relation.oid],
                    group: written?.group,
                    privileges: table.relation.privileges,
                    hasInsertTrigger: table.relation.hasInsertTrigger,
                    obstacles: obstacles(of: index),
                    hasActivePolicies: table.relation.hasActivePolicies,
                    updatableColumns: table.columnNames(table.relation.updatableColumns),
                    uniqueKeys: table.uniqueAttributes,
                    choosableKeys: table.primaryKey == nil && written?.key == nil
                        ? identifyingKeys(of: index).map { table.columnNames($0.orderedColumns) } : [],
                    partialKeys: table.partialKeys,
                    uniqueChecks: table.uniqueChecks,
                    serverChecks: table.serverChecks,
                    hasDeferrableKeys: table.hasDeferrableKeys,
                    deferrableConstraints: table.deferrableConstraints,
                    checkedColumns: table.checkedColumns,
                    constraintNames: constraintNames[table.relation.oid] ?? [],
                    partitionColumns: table.columnNames(table.relation.partitionColumns.filter { $0 != 0 }),
                    isDistributed: table.relation.isDistributed,
                    shownTables: shown.map { tables[$0].name }.sorted(),
                    rowTables: rowTables,
                    // A write through a view changes rows that relatives of its tables may show.
                    relatives: Set(([index] + shown).flatMap { relatives[$0] ?? [] }).sorted()
                )
            )
        }
        return entities
    }
}

extension DatabaseSchema {
    /// Makes the model from the catalog's rows: a pure function, independent of their order.
    ///
    /// - Throws: ``SchemaError`` with the code `invalidAnnotation`, which lists every annotation and override that is
    ///   malformed, names nothing, or clashes.
    package init(
        catalog: Catalog,
        overrides: [SchemaOverride] = [],
        types: TypeRegistry? = nil
    ) throws(SchemaError) {
        let builder = SchemaBuilder(catalog, overrides: overrides, registry: types)
        self = try builder.build()
    }

    /// Makes the model without the comments' annotations that are invalid, and returns the problem of each.
    package static func diagnosed(
        catalog: Catalog, types: TypeRegistry? = nil
    ) -> (schema: DatabaseSchema, problems: [AnnotationProblem]) {
        let (schema, problems, _) = diagnosed(catalog: catalog, overrides: [], types: types)
        return (schema, problems)
    }

    private static func diagnosed(
        catalog: Catalog, overrides: [SchemaOverride], types: TypeRegistry?
    ) -> (schema: DatabaseSchema, problems: [AnnotationProblem], overridden: Set<QualifiedName>) {
        var problems: [AnnotationProblem] = []
        var omitted: Set<ServerText> = []
        while true {
            let builder = SchemaBuilder(catalog, overrides: overrides, registry: types, omitting: omitted)
            let schema = builder.make()
            // Without an annotation another annotation may no longer fit.
            let found = builder.annotations.problems
            problems += found.filter { !omitted.contains($0.location) }
            let before = omitted.count
            omitted.formUnion(texts: found.map(\.location))
            if omitted.count == before { return (schema, problems, builder.annotations.overridden) }
        }
    }

    /// Makes the model for a program, without the comments' annotations that are invalid.
    ///
    /// The entities that they are on have an error, which each use of them throws. So the comment of a table that the program does
    /// not use stops nothing.
    ///
    /// - Throws: ``SchemaError`` with the code `invalidAnnotation` for overrides that are invalid, and for annotations of the
    ///   tables that overrides name.
    package static func serving(
        catalog: Catalog, overrides: [SchemaOverride], types: TypeRegistry?
    ) throws(SchemaError) -> DatabaseSchema {
        var (schema, problems, overridden) = diagnosed(catalog: catalog, overrides: overrides, types: types)
        let own = problems.filter { $0.location.contains(Annotations.override) || overridden.contains($0.entity) }
        if let error = Annotations.error(own) { throw error }
        schema.overridden = overridden
        for (entity, problems) in Dictionary(grouping: problems, by: \.entity) {
            schema.annotationErrors[entity] = Annotations.error(problems)
        }
        return schema
    }
}
