import KindredPostgres

/// The sets with limits on their number of members, by the rows whose writing may change that number.
struct CountLimits: Sendable {
    /// Columns of an entity's rows that reference an owner: a foreign key of its members, or one of a helper's rows.
    struct Link: Sendable {
        /// The owner's set.
        let relationship: RelationshipRuntime
        /// The columns whose change may take a row from an owner.
        fileprivate let moving: ColumnSet
        /// The columns whose change memory cannot judge: a row that keeps its owner may count, or not count, all the same.
        let uncertain: ColumnSet

        fileprivate init(_ relationship: RelationshipRuntime) {
            self.relationship = relationship
            moving = Reads(numberOf: relationship).columns(of: relationship.linkRows)
            let filter = relationship.linkFilter
            let certain = filter.map { $0.isExact ? $0.columns : [] } ?? []
            uncertain = moving.subtracting(certain.union(ColumnSet(relationship.linkColumns)))
        }

        var columns: [Int] { relationship.linkColumns }
    }

    private var links: [EntityRuntime: [Link]] = [:]
    private var required: [EntityRuntime: [RelationshipRuntime]] = [:]
    private var paired: [EntityRuntime: [RelationshipRuntime]] = [:]

    /// Finds the sets with limits among all relationships; nil if there are none.
    init?(_ relationships: [[RelationshipRuntime]]) {
        let limited = relationships.joined().filter { $0.minimum != nil || $0.maximum != nil }
        for relationship in limited where relationship.helper != nil {
            add(relationship)
            if relationship.filter != nil { paired[relationship.destination, default: []].append(relationship) }
        }
        for relationship in limited where relationship.destinationHoldsForeignKey {
            // Both sets of a helper take limits from its key, and the same rows count for both.
            let isKnown = links(of: relationship.destination).contains {
                $0.columns == relationship.linkColumns && $0.relationship.source == relationship.source
            }
            if !isKnown { add(relationship) }
        }
        if links.isEmpty { return nil }
    }

    private mutating func add(_ relationship: RelationshipRuntime) {
        links[relationship.linkRows, default: []].append(Link(relationship))
        if relationship.minimum != nil { required[relationship.source, default: []].append(relationship) }
    }

    /// The references from an entity's rows to owners.
    func links(of entity: EntityRuntime) -> [Link] { links[entity] ?? [] }

    /// The references from an entity's rows to owners that require them, if they include any of the columns.
    func requiredLinks(of entity: EntityRuntime, among columns: [Int]? = nil) -> [Link] {
        links(of: entity).filter { link in
            link.relationship.minimum != nil && columns.map { !link.moving.isDisjoint(with: $0) } ?? true
        }
    }

    /// The many-to-many sets in which an entity's rows count as long as its filter shows them.
    func pairedSets(of entity: EntityRuntime) -> [RelationshipRuntime] { paired[entity] ?? [] }

    /// The sets of an entity's objects that may not be empty.
    func required(of entity: EntityRuntime) -> [RelationshipRuntime] { required[entity] ?? [] }

    /// Whether writing columns of an entity's rows may break a limit; nil for all columns, as in new rows.
    func concern(_ entity: EntityRuntime, _ columns: [Int]?) -> Bool {
        guard let columns else { return links[entity] != nil || required[entity] != nil }
        if paired[entity] != nil, let filter = entity.filter, !filter.columns.isDisjoint(with: columns) { return true }
        return links(of: entity).contains { !$0.moving.isDisjoint(with: columns) }
    }
}

extension RelationshipRuntime {
    /// The smallest number of members; nil if there may be none.
    var minimum: Int? { model.minimumCount.flatMap { $0 > 0 ? $0 : nil } }
    /// The largest number of members.
    var maximum: Int? { model.maximumCount }
}
