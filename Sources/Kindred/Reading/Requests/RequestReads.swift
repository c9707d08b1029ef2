import KindredPostgres
import KindredSchema

/// The rows, columns and relationships that a whole request reads: by its condition, its sort keys and its prefetched
/// relationships.
///
/// It is known before anything is sent, and tells which changes may concern the request: an inserted or deleted row of
/// a place, and an updated row if a column that the place reads has changed. Its relationships and entities belong to
/// the context's model, which must be held as long as they are used.
struct RequestReads: Sendable {
    /// The rows at one path from the request's entity.
    struct Place: Sendable {
        /// The relationships from the request's entity to these rows; none for its own rows.
        let path: [RelationshipRuntime]
        let entity: EntityRuntime
        /// The columns that decide which objects the request finds, and in which order.
        fileprivate(set) var decidingColumns = ColumnSet()
        /// The columns of the last relationship's helper rows that decide the same.
        fileprivate(set) var decidingHelperColumns = ColumnSet()
        /// Whether the rows become objects, as the request's own and prefetched rows do.
        fileprivate(set) var isShown = false

        /// The columns of rows that become objects, which are not read.
        fileprivate(set) var leftOut = ColumnSet()

        /// The columns that are read; none if the place only leads to other places.
        var columns: ColumnSet {
            if !isShown { return decidingColumns }
            let read = ColumnSet(entity.entity.attributes.indices).subtracting(leftOut).union(decidingColumns)
            // A set also reads the columns of its filter, which may be left out.
            return read.union(path.last?.filter?.columns ?? [])
        }

        /// The helper of the path's last relationship; nil without a helper.
        var helper: RelationshipRuntime.HelperLink? { path.last?.helper }

        /// The columns of the helper's rows that are read.
        var helperColumns: ColumnSet {
            guard isShown, let helper else { return decidingHelperColumns }
            var columns = decidingHelperColumns.union(helper.placingColumns)
            // The filter's and the tenant's columns decide which rows are pairs.
            if let filter = helper.entity.filter { columns.formUnion(filter.columns) }
            if let tenantColumn = helper.entity.tenantColumn { columns.insert(tenantColumn) }
            return columns
        }
    }

    /// The places, each behind the places that lead to it; the request's own rows are the first.
    let places: [Place]
    /// The tables and views that are read without a relationship of the model to them: any change of them may concern
    /// the request.
    let others: Set<QualifiedName>

    /// The entities whose rows are read, including helpers.
    var entities: Set<EntityRuntime> {
        var entities: Set<EntityRuntime> = []
        for place in places {
            if place.isShown || !place.columns.isEmpty { entities.insert(place.entity) }
            if let helper = place.helper, !place.helperColumns.isEmpty { entities.insert(helper.entity) }
        }
        return entities
    }

    /// The columns of an entity that are read at any place.
    func columns(of entity: EntityRuntime) -> ColumnSet {
        var columns = ColumnSet()
        for place in places {
            if place.entity == entity { columns.formUnion(place.columns) }
            if let helper = place.helper, helper.entity == entity { columns.formUnion(place.helperColumns) }
        }
        return columns
    }

    /// Throws `KindredError` as a request that is sent does.
    init(
        of query: SelectQuery, prefetching tree: PrefetchTree = PrefetchTree(), in runtime: SchemaRuntime
    ) throws {
        guard let entity = runtime[query.entity.name] else {
            throw KindredError(
                .unknownEntity, "No entity is named \"\(query.entity.name)\"", entity: query.entity.name.description)
        }
        var builder = Builder(entity)
        builder.note(try query.reads(in: runtime.schema), at: 0)
        var shown = tree
        shown.leftOut = query.leftOut
        builder.show(shown, at: 0)
        places = builder.places
        others = builder.others
    }

    /// Turns the places of a query into ends of the model's relationships, and adds prefetched relationships.
    private struct Builder {
        var places: [Place]
        var others: Set<QualifiedName> = []

        init(_ entity: EntityRuntime) { places = [Place(path: [], entity: entity)] }

        /// Notes the reads of a query of the rows at a place.
        mutating func note(_ reads: ConditionReads, at start: Int) {
            // By the query's places; nil for rows to which no relationship of the model leads.
            var numbers: [Int?] = []
            for read in reads.places {
                guard let link = read.link else {
                    numbers.append(start)
                    note(read.columns, at: start)
                    continue
                }
                let helper = link.relationship.helper
                guard let from = numbers[link.from],
                    let relationship = places[from].entity.relationships.first(where: {
                        $0.model === link.relationship
                    })
                else {
                    numbers.append(nil)
                    if !read.columns.isEmpty { others.insert(read.entity) }
                    if let helper, !read.helperColumns.isEmpty { others.insert(helper.entity) }
                    continue
                }
                let number = place(relationship, from: from)
                numbers.append(number)
                note(read.columns, at: number)
                noteHelper(read.helperColumns, at: number)
            }
        }

        /// Marks the rows that become objects.
        mutating func show(_ tree: PrefetchTree, at number: Int) {
            places[number].isShown = true
            places[number].leftOut = tree.leftOut ?? places[number].entity.lazyColumns
            for branch in tree.branches {
                let members = place(branch.relationship, from: number)
                if let part = branch.part { note(part.reads, at: members) }
                show(branch.tree, at: members)
            }
        }

        private mutating func place(_ relationship: RelationshipRuntime, from: Int) -> Int {
            let path = places[from].path + [relationship]
            if let known = places.firstIndex(where: { $0.path == path }) { return known }
            places.append(Place(path: path, entity: relationship.destination))
            return places.count - 1
        }

        private mutating func note(_ columns: [String], at number: Int) {
            let entity = places[number].entity
            for name in columns {
                guard let column = entity.entity.attributeIndex(of: name) else {
                    others.insert(entity.name)
                    continue
                }
                places[number].decidingColumns.insert(column)
            }
        }

        private mutating func noteHelper(_ columns: [String], at number: Int) {
            guard let helper = places[number].helper?.entity else { return }
            for name in columns {
                guard let column = helper.entity.attributeIndex(of: name) else {
                    others.insert(helper.name)
                    continue
                }
                places[number].decidingHelperColumns.insert(column)
            }
        }
    }
}
