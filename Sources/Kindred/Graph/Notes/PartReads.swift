import KindredPostgres
import KindredSchema

/// The columns that decide which members a part of a relationship has, and in which order, by the entity that has them.
struct PartReads: Sendable {
    private var columns: [Int: ColumnSet] = [:]
    /// Whether any change may concern the part, because it reads views, whose tables are not known.
    private(set) var isAnything = false
    /// The entity whose rows tell by themselves which owner they concern; nil if there is none.
    private var owned: Int?

    init(_ part: PartQuery, in runtime: SchemaRuntime) {
        let relationship = part.relationship
        let link = relationship.linkRows
        var uses = 0
        for place in part.reads.places {
            guard let entity = runtime[place.entity], !entity.entity.isView else {
                isAnything = true
                continue
            }
            uses += entity == link ? 1 : 0
            add(place.columns, of: entity)
            guard let name = place.link?.relationship.helper?.entity, !place.helperColumns.isEmpty else { continue }
            guard let helper = runtime[name] else {
                isAnything = true
                continue
            }
            uses += helper == link ? 1 : 0
            add(place.helperColumns, of: helper)
        }
        if link.entity.isView { isAnything = true }
        columns[link.index, default: []].formUnion(ColumnSet(relationship.linkColumns))
        if let helper = relationship.helper {
            columns[link.index]?.formUnion(ColumnSet(helper.destinationColumns))
            columns[relationship.destination.index, default: []].formUnion(ColumnSet(relationship.otherColumns))
        }
        if uses <= 1, !relationship.isComparedByServer { owned = link.index }
    }

    private mutating func add(_ names: [String], of entity: EntityRuntime) {
        var set = columns[entity.index] ?? []
        for name in names {
            if let column = entity.entity.attributeIndex(of: name) { set.insert(column) }
        }
        columns[entity.index] = set
    }

    /// The entities whose rows are read, by position.
    var entities: [Int] { Array(columns.keys) }

    /// The columns that are read of an entity's rows; nil if none of its rows are.
    func columns(of entity: EntityRuntime) -> ColumnSet? { columns[entity.index] }

    /// Whether a row of an entity concerns the part of the owner alone that it refers to.
    func tellsOwner(_ entity: EntityRuntime) -> Bool { owned == entity.index }
}
