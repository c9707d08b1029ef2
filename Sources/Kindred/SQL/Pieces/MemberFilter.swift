import KindredPostgres
import KindredSchema

/// The condition by which the members of a relationship are shown, in a statement over the rows that store it.
struct MemberFilter {
    private let relationship: RelationshipRuntime
    /// nil where members are shown that are the tenant's.
    private let term: ConditionTerm?

    fileprivate init(_ relationship: RelationshipRuntime, _ term: ConditionTerm?) {
        (self.relationship, self.term) = (relationship, term)
    }

    /// Whether the member of a row `t`, a member's or a helper's, is shown.
    var condition: String {
        get throws {
            let shown = try term.map { " AND (\(try $0.sql))" } ?? ""
            guard let helper = relationship.helper else { return try "(\((term ?? .always).sql))" }
            let (rows, members) = (helper.entity, relationship.destination)
            let pairs = try zip(helper.destinationColumns, relationship.otherColumns).map {
                "\(try members.compared($1, alias: "m")) = \(try rows.compared($0, alias: "t"))"
            }
            return """
                EXISTS (SELECT FROM \(try members.ownTableName) AS m \
                WHERE \(pairs.joined(separator: " AND "))\(try members.tenantClause("m"))\(shown))
                """
        }
    }
}

extension MemberFilter? {
    /// The condition after others, with ` AND `; nothing without a filter.
    var clause: String { get throws { try self.map { " AND \(try $0.condition)" } ?? "" } }
}

// Filters in statements that are made for relationships and rows; requests have them in their conditions.
extension Parameters {
    private static let noSchema = DatabaseSchema(entities: [], searchPath: [])

    /// The condition by which the members of a relationship are shown; nil if all are.
    ///
    /// - Parameter countsUnseen: whether pairs count whose members a policy hides.
    mutating func filter(of relationship: RelationshipRuntime, countsUnseen: Bool = false) throws -> MemberFilter? {
        guard countsUnseen ? relationship.hidesMembersByModel : relationship.hidesMembers else { return nil }
        let alias = relationship.helper == nil ? NamedAlias.row : NamedAlias.member
        return MemberFilter(relationship, try filter(of: relationship.destination, alias: alias))
    }

    /// ` AND …`: the condition by which an entity's rows are shown, with its values as parameters; nothing if all are.
    mutating func filterClause(of entity: EntityRuntime) throws -> String {
        try filter(of: entity, alias: NamedAlias.row).map { " AND (\(try $0.sql))" } ?? ""
    }

    private mutating func filter(of entity: EntityRuntime, alias: Int) throws -> ConditionTerm? {
        guard let filter = entity.filter else { return nil }
        // It reads columns of its own rows alone, and so needs no other entity.
        var resolver = ConditionResolver(entity: entity.entity, schema: Self.noSchema, alias: alias)
        resolver.parameters = self
        let term = try resolver.condition(try filter.model.node).term
        self = resolver.parameters
        return term
    }
}
