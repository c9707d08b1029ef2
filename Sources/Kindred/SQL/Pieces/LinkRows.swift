import KindredPostgres
import KindredSchema

/// The rows that store a relationship, in a statement about members: the shown rows of members, or of pairs.
///
/// A pair is shown if its own row is, and its member.
struct LinkRows {
    /// The rows `t`, of members or of a helper.
    let rows: ScopedRows
    private let relationship: RelationshipRuntime
    /// The members `m` behind a helper's rows; nil where none of them is hidden.
    private let members: ScopedRows?

    fileprivate init(_ relationship: RelationshipRuntime, _ rows: ScopedRows, members: ScopedRows? = nil) {
        (self.relationship, self.rows, self.members) = (relationship, rows, members)
    }

    /// The rows `t` and the condition on them.
    func from(where condition: String) throws -> String { try rows.from(where: "\(condition)\(memberClause)") }

    /// ` JOIN … AS t ON …`.
    func join(on condition: String) throws -> String { try rows.join(on: "\(condition)\(memberClause)") }

    /// Whether the row `t` and its member are shown; to be asked for where either may be hidden.
    var isShown: String {
        get throws { "(\("\(try rows.clause)\(try memberClause)".dropFirst(" AND ".count))) IS TRUE" }
    }

    /// Whether the row `t` is shown, whatever its member is; to be asked for where it may be hidden.
    var isPair: String { get throws { "(\(try rows.clause.dropFirst(" AND ".count))) IS TRUE" } }

    /// The condition, with a space before, by which the member of a row `t` is shown; empty where no member is hidden.
    var memberClause: String {
        get throws {
            guard let members, let helper = relationship.helper else { return "" }
            let isMember = try helper.isLinked("t", to: "m", of: relationship, isMemberFirst: true)
            return " AND EXISTS (SELECT FROM \(try members.from(where: isMember)))"
        }
    }
}

extension Parameters {
    /// The rows that store a relationship, of members that are shown.
    ///
    /// - Parameter countsUnseen: whether pairs count whose members a policy hides.
    mutating func shownLinks(
        _ relationship: RelationshipRuntime, countsUnseen: Bool = false
    ) throws -> LinkRows {
        let (rows, isHelper) = (relationship.linkRows, relationship.helper != nil)
        let shown = try shown(rows, as: .row, isHelper ? .own : .all)
        let hasMembers = isHelper && (countsUnseen ? relationship.hidesMembersByModel : relationship.hidesMembers)
        let members = hasMembers ? try self.shown(relationship.destination, as: .member, .own) : nil
        return LinkRows(relationship, shown, members: members)
    }

    /// The rows that store a relationship, of all members; only shown rows of a helper, since a hidden row is no pair.
    mutating func allLinks(_ relationship: RelationshipRuntime) throws -> LinkRows {
        guard let helper = relationship.helper else {
            return LinkRows(relationship, relationship.linkRows.all(as: .row, .all))
        }
        return LinkRows(relationship, try shown(helper.entity, as: .row, .own))
    }
}
