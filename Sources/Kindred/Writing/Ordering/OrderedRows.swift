import KindredPostgres
import KindredSchema

/// The rows that hold an owner's order, and the keys of members in them.
struct OrderedRows {
    enum Link {
        case members(MemberWriter)
        case helper(PairWriter)
    }

    let owner: DatabaseObject
    let statements: OrderStatements
    let link: Link

    init(_ writer: MemberWriter, position: Int) {
        let members = writer.statements
        owner = writer.owner
        link = .members(writer)
        statements = OrderStatements(
            relationship: members.relationship,
            position: position,
            rows: members.members,
            ownerColumns: members.columns,
            ownerValues: members.ownerValues,
            memberColumns: members.members.key
        )
    }

    init(_ writer: PairWriter, position: Int) {
        let helper = writer.statements
        owner = writer.owner
        link = .helper(writer)
        statements = OrderStatements(
            relationship: helper.relationship,
            position: position,
            rows: helper.helper,
            ownerColumns: helper.link.sourceColumns,
            ownerValues: helper.ownerValues,
            memberColumns: helper.memberColumns
        )
    }

    /// The row keys of the objects.
    func keys(of objects: [DatabaseObject]) throws -> [ObjectKey] {
        switch link {
        case .members: try objects.map { try $0.requireKey() }
        case .helper(let writer): try writer.statements.keys(of: objects)
        }
    }

    /// The row key of a loaded member; nil if it has a NULL.
    func key(of member: Member) throws -> ObjectKey? {
        switch link {
        case .members: return member.key
        case .helper(let writer):
            let helper = writer.statements
            let values = try helper.relationship.otherColumns.map { try member.row[$0] }
            guard !values.contains(nil) else { return nil }
            return helper.memberKey(values.compactMap { $0 })
        }
    }

    /// The range of positions that the column can hold.
    var plan: PositionPlan {
        let range: ClosedRange<Int64> =
            switch statements.rows.entity.attributes[statements.position].baseType {
            case .int2: Int64(Int16.min)...Int64(Int16.max)
            case .int4: Int64(Int32.min)...Int64(Int32.max)
            default: PositionPlan.widest
            }
        return PositionPlan(range: range)
    }

    /// Whether a unique key would refuse an UPDATE that exchanges positions.
    var isUnique: Bool { statements.relationship.model.isPositionUnique }
}
