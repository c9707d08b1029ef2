import KindredPostgres
import KindredSchema

// The questions that a relationship asks for its owners.
extension Reads {
    /// The rows that tell how many members an owner has.
    init(numberOf relationship: RelationshipRuntime) { self.init(relationship, isOfNumber: true) }

    /// The rows that tell which members an owner has, and in which order.
    init(membersOf relationship: RelationshipRuntime) {
        self.init(relationship, isOfNumber: false)
        let members = relationship.destination
        note(ColumnSet(members.key), of: members.index)
    }

    private init(_ relationship: RelationshipRuntime, isOfNumber: Bool) {
        let (members, links) = (relationship.destination, relationship.linkRows)
        add(
            links.index, links.linkingColumns(of: relationship, isOfNumber: isOfNumber),
            reach: relationship.isComparedByServer ? .everything : .owners(relationship.linkColumns))
        if relationship.helper != nil, !isOfNumber || relationship.hidesMembers {
            let scope = members.scopeColumns(isFiltered: relationship.isToMany)
            add(members.index, scope.union(ColumnSet(relationship.otherColumns)))
        }
        for rows in [members, links] where rows.entity.isView { add(other: rows.name) }
    }
}

extension EntityRuntime {
    /// The columns that decide whether a row is in the scope of a statement: the tenant's column, and the filter's
    /// columns.
    func scopeColumns(isFiltered: Bool) -> ColumnSet {
        var columns = isFiltered ? filter?.columns ?? [] : []
        if let tenantColumn { columns.insert(tenantColumn) }
        return columns
    }

    /// The columns of the rows that store a relationship which decide at which owners a row is, where in their order, and
    /// whether they show it.
    fileprivate func linkingColumns(of relationship: RelationshipRuntime, isOfNumber: Bool) -> ColumnSet {
        let isFiltered = relationship.helper != nil || relationship.isToMany
        var columns = scopeColumns(isFiltered: isFiltered).union(ColumnSet(relationship.linkColumns))
        if let helper = relationship.helper {
            // Which members count is decided by their own rows, too.
            if relationship.hidesMembers { columns.formUnion(ColumnSet(helper.destinationColumns)) }
            if !isOfNumber { columns.formUnion(helper.placingColumns) }
        } else if !isOfNumber, let position = relationship.position {
            columns.insert(position)
        }
        return columns
    }

    /// The columns that decide at which owners of any relationship a row is, where in their order, and whether they show it.
    package var movingColumns: ColumnSet {
        (foreignKeys.map(\.inverse) + helperEnds).reduce(into: scopeColumns(isFiltered: true)) {
            $0.formUnion(linkingColumns(of: $1, isOfNumber: false))
        }
    }
}
