import KindredPostgres
import KindredSchema

// Proof that a condition leaves at most one member: its value is a subquery, which the server refuses for several rows.
extension ConditionResolver {
    /// Throws if a condition may leave several members.
    ///
    /// The relationship and equalities of the condition fix columns; a unique key among these columns leaves one row.
    func requireOneMember(
        of relationship: Relationship, named label: String, at place: Int, where condition: MemberCondition
    ) throws {
        let entity = places[place].entity
        var fixed = relationship.helper == nil ? Set(texts: relationship.destinationColumns) : []
        addColumns(fixedBy: condition.condition, of: condition.scope, entity, to: &fixed)
        // Rows of inheriting tables are not among a unique key's.
        let keys = entity.rowTables == nil ? [entity.primaryKey] + entity.uniqueKeys : []
        if keys.contains(where: { !$0.isEmpty && fixed.isSuperset(of: Set(texts: $0)) }) { return }
        let known = keys.filter { !$0.isEmpty }.map { "(\($0.joined(separator: ", ")))" }
        throw KindredError(
            .invalidRequest,
            """
            The condition on \(label) may leave several members, so that there is no one value: compare the columns of a \
            unique key with ==\(known.isEmpty ? "" : ", such as \(known.joined(separator: " or "))"), or take the \
            smallest or greatest value, by min or max
            """,
            entity: relationship.source.description, key: relationship.name)
    }

    /// Adds the columns that each row has the same value of, which is not NULL, if the condition holds.
    private func addColumns(
        fixedBy node: ConditionNode, of scope: ColumnScope, _ entity: Entity, to fixed: inout Set<ServerText>
    ) {
        switch node {
        case .all(let parts): for part in parts { addColumns(fixedBy: part, of: scope, entity, to: &fixed) }
        case .comparison(let comparison):
            guard comparison.operation == .equal, comparison.quantifier == nil, !comparison.ignoresCase else { return }
            for (own, other) in [(comparison.left, comparison.right), (comparison.right, comparison.left)] {
                guard case .path(let path) = own, path.scope == scope, path.keys.count == 1 else { continue }
                let columns: [String]
                if let attribute = entity.attribute(named: path.keys[0]) {
                    columns = [attribute.name]
                } else if let relationship = entity.relationship(named: path.keys[0]), relationship.holdsForeignKey,
                    !relationship.isToMany
                {
                    columns = relationship.columns
                } else {
                    continue
                }
                switch other {
                case .value(_?), .object: fixed.formUnion(Set(texts: columns))
                // Two NULLs are equal in a condition, and not to a key.
                case .path(let outer) where outer.scope != scope:
                    fixed.formUnion(Set(texts: columns.filter { entity.attribute(named: $0)?.isNotNull == true }))
                default: break
                }
            }
        default: break
        }
    }
}
