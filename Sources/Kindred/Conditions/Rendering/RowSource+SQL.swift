import KindredPostgres
import KindredSchema

// The text of FROM clauses.
extension RowSource {
    func write(to text: inout String) throws {
        if isOnly { text += "ONLY " }
        text += try table.quoted
        text += " AS t\(alias)"
    }
}

extension RowJoin {
    /// Writes the join behind the earlier rows of its FROM clause, with a space before.
    func write(to text: inout String) throws {
        switch kind {
        case .inner, .left:
            text += kind == .inner ? " JOIN " : " LEFT JOIN "
            try source.write(to: &text)
            text += " ON "
            try ConditionTerm.all(condition + source.scope.terms).write(to: &text)
        case .one:
            text += " LEFT JOIN LATERAL (SELECT *"
            if let hidden { text += ", t\(source.alias).\(try SQLIdentifier.quote(hidden))" }
            text += " FROM "
            try source.write(to: &text)
            text += " WHERE "
            try ConditionTerm.all(condition + source.scope.terms).write(to: &text)
            text += " LIMIT 1) AS t\(source.alias) ON TRUE"
        }
    }
}

extension MemberRows {
    /// Writes the rows of the subquery from its FROM on.
    func write(to text: inout String) throws {
        try source.write(to: &text)
        for join in joins { try join.write(to: &text) }
        text += " WHERE "
        try ConditionTerm.all(link + source.scope.terms).write(to: &text)
        guard let condition else { return }
        text += " AND "
        try condition.writeClosed(to: &text)
    }
}

extension [ResolvedSortKey] {
    /// ` ORDER BY …`, or nothing for no keys.
    var sql: String {
        get throws {
            var text = ""
            for key in self {
                text += text.isEmpty ? " ORDER BY " : ", "
                try key.value.write(to: &text)
                text += key.direction
            }
            return text
        }
    }
}
