import KindredPostgres
import KindredSchema

/// The statements that mark rows as deleted, and take the marks back.
enum MarkStatements {
    /// `UPDATE … SET mark = now() WHERE key IN (…) RETURNING …`, or `SET mark = NULL`; with rules, a query follows that
    /// fails unless the rows have the new mark.
    ///
    /// A row that is marked keeps the moment of its deletion. A trigger may choose another moment, but has to leave the mark.
    static func write(
        _ keys: [ObjectKey], of entity: EntityRuntime, at mark: Int, versions: [PostgresValue?]? = nil, isMarked: Bool
    ) throws -> [Statement] {
        var parameters = Parameters()
        let (keys, versioned) = try parameters.keys(keys, versions: versions, of: entity)
        let shape = parameters.shape("mark \(isMarked) \(versioned != nil)")
        let column = try entity.texts.quoted(mark)
        let text = try entity.texts.statement(shape) {
            let isByMoment = isMarked && entity.distributionColumn != nil
            let moment = "now()::\(entity.texts.markType)"
            let value = isMarked ? "coalesce(t.\(column), \(isByMoment ? "marked.moment" : moment))" : "NULL"
            let rows = entity.all(as: .row, .all)
            let found = "\(try keys.condition("t"))\(try versioned.map { " AND \(try $0.exists("t"))" } ?? "")"
            guard entity.isChecked(.updateTriggers) else {
                return try rows.update(
                    // Citus takes no now() in a coalesce.
                    set: ["\(column) = \(value)"],
                    from: isByMoment ? "(SELECT \(moment) AS moment) AS marked" : nil, where: found,
                    returning: try entity.texts.selectList(alias: "t"))
            }
            return try entity.texts.checkedRows(
                try rows.checkedUpdate(
                    set: ["\(column) = \(value)"], where: found,
                    isRight: "t.\(column) IS \(isMarked ? "NOT " : "")NULL", keepsKeys: true))
        }
        guard entity.hasRules else { return [parameters.statement(text)] }
        let check = try entity.texts.statement("check \(shape)") {
            try entity.all(as: .row, .all).absence(
                of: "\(try keys.condition("t")) AND t.\(column) IS \(isMarked ? "" : "NOT ")NULL")
        }
        return [parameters.statement(text), parameters.statement(check)]
    }

    /// `SELECT key … FOR UPDATE`: the rows at the other end of a step that were marked together with their sources.
    static func marked(
        with sources: [ObjectKey], of step: DeletionStep, _ source: (entity: EntityRuntime, mark: Int), _ mark: Int
    ) throws -> Statement {
        let (entity, owners) = (step.destination, source.entity)
        var parameters = Parameters()
        let keys = try parameters.keysToLock(sources, of: owners.key, in: owners)
        let shape = "marked together \(owners.index).\(step.relationship.slot) \(step.helper != nil)"
        return try parameters.statement(shape, in: entity) {
            var joins = ""
            if let helper = step.helper {
                let isLinked = try helper.isLinked("h", to: "t", of: step.relationship)
                // Whether their filter shows them or not: they may have been marked with both ends.
                joins = try helper.entity.all(as: .pair, .own).join(on: isLinked)
            }
            var pairs = [try step.relationship.isLinked(step.helper == nil ? "t" : "h", to: "o")]
            pairs.append("t.\(try entity.texts.quoted(mark)) = o.\(try owners.texts.quoted(source.mark))")
            joins += try owners.all(as: .owner, .all).join(on: pairs.joined(separator: " AND "))
            return """
                SELECT \(try entity.texts.selectList(of: entity.key, alias: "t")) \
                FROM \(try entity.all(as: .row, .all).from(where: try keys.condition("o"), joining: joins))\(try entity.texts.locking("t"))
                """
        }
    }
}
