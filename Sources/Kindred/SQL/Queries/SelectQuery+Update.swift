import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// `UPDATE … WHERE`, or `WITH … FOR UPDATE) UPDATE … FROM` where order, limit, joins or a lock matter: what is chosen
    /// stands before anything is written, so that no plan can choose again for each row and pass over those it has written.
    func updateStatement(
        _ update: RequestUpdate,
        of runtime: EntityRuntime,
        in schema: DatabaseSchema,
        returnsRows: Bool
    ) throws -> Statement {
        var renderer = ConditionRenderer(entity: entity, schema: schema)
        let condition = try condition.map { try renderer.condition($0.node) }
        let values = try update.expressions(&renderer)
        let sorting = try renderer.order(sort)
        var text: String
        if renderer.joins[0].isEmpty, limit == nil, offset == nil, lock == nil {
            let set = try values.map { "\(try runtime.quoted($0.column)) = \($0.sql)" }.joined(separator: ", ")
            text = "UPDATE \(try runtime.quotedName) AS t0 SET \(set)\(try runtime.versionAssignment(alias: "t0"))"
            if let condition { text += " WHERE \(condition.sql)" }
            if returnsRows { text += " RETURNING \(try runtime.selectList(alias: "t0"))" }
        } else {
            let keys = try runtime.key.map { (name: try runtime.quoted($0), alias: "k\($0)") }
            var columns = keys.map { "t0.\($0.name) AS \($0.alias)" }
            // A parameter stays outside, where its column gives it a type.
            columns += values.filter { !$0.isParameter }.map { "\($0.sql) AS v\($0.column)" }
            var selection = "SELECT \(columns.joined(separator: ", ")) FROM \(try renderer.table(entity.name)) AS t0"
            selection += renderer.joins[0]
            if let condition { selection += " WHERE \(condition.sql)" }
            selection += sort.isEmpty ? try order(&renderer) : sorting
            if let limit { selection += " LIMIT \(try renderer.bind(limit, "limit", entity))" }
            if let offset { selection += " OFFSET \(try renderer.bind(offset, "offset", entity))" }
            let (strength, waiting) = lock ?? (.forNoKeyUpdate, .wait)
            selection += " \(strength.rawValue) OF t0\(waiting.rawValue)"
            let set = try values.map { value in
                "\(try runtime.quoted(value.column)) = \(value.isParameter ? value.sql : "s.v\(value.column)")"
            }
            let same = keys.map { "t.\($0.name) = s.\($0.alias)" }.joined(separator: " AND ")
            text = """
                WITH s AS MATERIALIZED (\(selection)) UPDATE \(try runtime.quotedName) AS t \
                SET \(set.joined(separator: ", "))\(try runtime.versionAssignment(alias: "t")) FROM s WHERE \(same)
                """
            if returnsRows { text += " RETURNING \(try runtime.selectList(alias: "t"))" }
        }
        return Statement(text: StatementText(text), bindings: renderer.bindings, resultFormat: .binary)
    }
}
