import KindredPostgres
import KindredSchema

/// An entity's relationships and class, with the look-ups and checks made from them.
struct EntityLinks: Sendable {
    /// By slot.
    fileprivate var relationships: [RelationshipRuntime] = []
    fileprivate var foreignKeys: [RelationshipRuntime] = []
    fileprivate var helperEnds: [RelationshipRuntime] = []
    /// By name and alias, if they are many.
    fileprivate var names: [ServerText: RelationshipRuntime] = [:]
    /// Relationships by name and alias, if they are few: to hash a name costs more than to compare it with a few names.
    fileprivate var fewNames: [(name: String, relationship: RelationshipRuntime)] = []
    fileprivate var findingColumns: [Int] = []
    fileprivate var joinsOrderedSets = false
    fileprivate var changesMayMakeStale = false
    fileprivate var uniqueChecks: [UniqueCheckRuntime] = []
    fileprivate var uniqueColumns = ColumnSet()
    fileprivate var orderedColumns = ColumnSet()
    fileprivate var fixedColumns = ColumnSet()
    fileprivate var placingColumns = ColumnSet()
    fileprivate var shardColumns: [Int] = []
    fileprivate var layout: TypedLayout?
    /// The names of the constraints of all entities.
    fileprivate var constraintNames: Set<ServerText> = []

    /// The links of an entity that is not connected yet.
    init() {}

    init(
        _ runtime: EntityRuntime, _ relationships: [RelationshipRuntime], helperEnds: [RelationshipRuntime],
        layout: TypedLayout?, constraintNames: Set<ServerText>
    ) {
        self.constraintNames = constraintNames
        let entity = runtime.entity
        self.relationships = relationships
        self.helperEnds = helperEnds
        self.layout = layout
        if relationships.reduce(0, { $0 + 1 + $1.model.aliases.count }) <= 16 {
            for relationship in relationships {
                fewNames.append((relationship.model.name, relationship))
                for alias in relationship.model.aliases { fewNames.append((alias, relationship)) }
            }
        } else {
            for relationship in relationships {
                for name in [relationship.model.name] + relationship.model.aliases { names[name] = relationship }
            }
        }
        // The table's own relationships come first: errors name them.
        let held = relationships.filter(\.holdsForeignKey)
        foreignKeys = held.filter { !$0.model.isByView } + held.filter(\.model.isByView)
        joinsOrderedSets = foreignKeys.contains { $0.inversePosition != nil }
        changesMayMakeStale =
            !helperEnds.isEmpty || runtime.filter != nil || foreignKeys.contains(where: \.isComparedByServer)
        findingColumns = runtime.key
        for relationship in relationships where !relationship.holdsForeignKey {
            for column in relationship.ownColumns where !findingColumns.contains(column) {
                findingColumns.append(column)
            }
        }
        var checks = entity.uniqueChecks.compactMap { UniqueCheckRuntime($0, of: entity) }
        let ownKey = runtime.rowTable == nil ? runtime.key : Array(runtime.key.dropLast())
        let others = [ownKey] + foreignKeys.filter { $0.model.kind == .oneToOne }.map(\.ownColumns)
        for columns in others where !columns.isEmpty && !checks.contains(where: { $0.covers(columns) }) {
            checks.append(UniqueCheckRuntime(columns))
        }
        if let rowTable = runtime.rowTable { checks = checks.map { $0.within(rowTable.column) } }
        uniqueChecks = checks
        uniqueColumns = (checks.map(\.concerned) + runtime.serverChecks.map(\.concerned))
            .reduce(ColumnSet()) { $0.union($1) }
        orderedColumns = uniqueColumns.union(ColumnSet(findingColumns))
        for constraint in entity.deferrableConstraints {
            // A constraint of expressions names no columns, and may concern all.
            let columns = constraint.columns.compactMap { entity.attributeIndex(of: $0) }
            orderedColumns.formUnion(ColumnSet(columns.isEmpty ? Array(entity.attributes.indices) : columns))
        }
        placingColumns = ColumnSet(runtime.versionedKey + findingColumns)
        placingColumns.formUnion(ColumnSet(foreignKeys.compactMap(\.inversePosition)))
        for relationship in relationships { placingColumns.formUnion(ColumnSet(relationship.ownColumns)) }
        if let filter = runtime.filter { placingColumns.formUnion(filter.columns) }
        let helpers = helperEnds.compactMap(\.helper)
        shardColumns = Self.shardColumns(
            runtime, foreignKeys.map(\.ownColumns) + helpers.flatMap { [$0.sourceColumns, $0.destinationColumns] })
        for helper in helpers { placingColumns.formUnion(helper.placingColumns) }
        fixedColumns = uniqueColumns.union(placingColumns)
    }

    private static func shardColumns(_ runtime: EntityRuntime, _ references: [[Int]]) -> [Int] {
        let entity = runtime.entity
        if !entity.partitionColumns.isEmpty { return entity.partitionColumns.compactMap(entity.attributeIndex(of:)) }
        let keys = Set(([entity.primaryKey.compactMap(entity.attributeIndex(of:))] + references).map { Set($0) })
            .filter { $0.count > 1 }
        let uses = entity.attributes.indices.map { column in keys.count { $0.contains(column) } }
        return uses.indices.filter { uses[$0] > 1 }.sorted { (uses[$1], $0) < (uses[$0], $1) }
    }
}

extension EntityRuntime {
    package var relationships: [RelationshipRuntime] { links.relationships }

    /// The relationships whose foreign key this entity's rows hold.
    package var foreignKeys: [RelationshipRuntime] { links.foreignKeys }

    /// Many-to-many relationships of other entities stored in this entity's rows, from each of their ends.
    package var helperEnds: [RelationshipRuntime] { links.helperEnds }

    /// Whether a row may have a position among the members of an owner.
    var joinsOrderedSets: Bool { links.joinsOrderedSets }

    /// Whether a change of a row may make an answer in memory stale, because the row alone does not say which answers show it.
    var changesMayMakeStale: Bool { links.changesMayMakeStale }

    /// The columns by which a row is looked up: its key, and columns that foreign keys reference.
    var findingColumns: [Int] { links.findingColumns }

    /// The server's uniqueness checks: the key, other constraints and indexes, foreign keys of one-to-one
    /// relationships.
    var uniqueChecks: [UniqueCheckRuntime] { links.uniqueChecks }

    /// The columns of all checks for conflicts: `uniqueChecks` and `serverChecks`.
    var uniqueColumns: ColumnSet { links.uniqueColumns }

    /// The columns whose changes a save has to put in order: of unique values, of keys by which rows are found, and of
    /// constraints that can be deferred.
    var orderedColumns: ColumnSet { links.orderedColumns }

    /// The columns that are always read: columns of keys, unique indexes, relationships, orders, the filter and the
    /// version.
    var fixedColumns: ColumnSet { links.fixedColumns }

    /// The columns that are always read and by which rows and relationships are found: not columns of unique indexes
    /// alone.
    package var placingColumns: ColumnSet { links.placingColumns }

    /// The names of the constraints of all entities.
    var constraintsOfModel: Set<ServerText> { links.constraintNames }

    /// The columns by which rows are distributed: the catalog's columns of partitions or of shards; else columns that
    /// two of its composite keys and foreign keys have in common, such as a tenant's, the column of most keys first.
    var shardColumns: [Int] { links.shardColumns }

    /// The class of the entity's objects and its properties; nil for untyped objects.
    package var layout: TypedLayout? { links.layout }

    /// The relationship of a name, an alias, or a property of the entity's class.
    package func relationship(named name: String) -> RelationshipRuntime? {
        if let relationship = relationship(ofProperty: name) { return relationship }
        let known = links.fewNames
        if known.isEmpty { return links.names[name] }
        for place in known.indices.reversed() where known[place].name == name { return known[place].relationship }
        return nil
    }

    /// The relationship of a property of the entity's class; nil for other keys.
    package func relationship(ofProperty key: String) -> RelationshipRuntime? {
        key.propertyKey.flatMap { layout?.propertyRelationships[$0] }
    }
}

extension EntityRuntime: Hashable, Comparable {
    /// By the positions in the schema.
    package static func < (left: EntityRuntime, right: EntityRuntime) -> Bool { left.index < right.index }

    package static func == (left: EntityRuntime, right: EntityRuntime) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
