import KindredPostgres
import KindredSchema

extension KindredError {
    /// The error for pairs that are not shown after an attempt to store them, because a row that is not shown is in the
    /// way, or the new row is not shown; nil for other errors.
    init?(hiddenPairs error: PostgresError?, of relationship: RelationshipRuntime) {
        guard let helper = relationship.helper, helper.mayHidePairs, KeptRows(error) != nil else { return nil }
        let (rows, key) = (helper.entity, relationship.model.name)
        let pair = "A pair of \(relationship.source.name).\(key)"
        var code = Code.constraintViolation
        var message: String
        var cause = error
        if let mark = rows.deletionMark, !rows.restoresPairs {
            code = .accessDenied
            message = """
                \(pair) is marked as deleted by \(rows.name).\(rows.entity.attributes[mark].name), and the role lacks the privilege \
                UPDATE, which takes the mark back
                """
        } else if rows.filter != nil {
            message = """
                \(pair) would be hidden by the filter of \(rows.name) (\(rows.filterText)): a row that it hides has the key, or the \
                new row does not fulfil it
                """
        } else {
            message =
                "\(pair) cannot be stored: a row of \(rows.name) has its key that the tenant of the context does not have"
            cause = PostgresError(.server, message, sqlState: .uniqueViolation)
        }
        if rows.mayKeepRows(rows.pairTriggers(true)) {
            message += "; or a trigger, rule or policy kept it from being stored"
        }
        message += ". Nothing was written"
        self.init(
            code, message, entity: rows.name.description, key: key, underlying: cause,
            problems: [KindredError.Problem(code, message, object: nil, entity: rows.name.description, key: key)])
    }
}

extension EntityRuntime {
    /// The conditions of the filter as they were declared.
    fileprivate var filterText: String {
        [entity.softDelete.map { "\($0) == nil" }, entity.filter].compactMap(\.self).joined(separator: " && ")
    }
}
