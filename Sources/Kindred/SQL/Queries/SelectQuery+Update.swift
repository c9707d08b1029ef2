import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// `UPDATE … WHERE`, or `WITH … FOR UPDATE) UPDATE … FROM` where order, limit, joins or a lock matter: what is chosen
    /// stands before anything is written, so that no plan can choose again for each row and pass over those it has written.
    func updateStatement(
        _ update: ColumnUpdates,
        of runtime: EntityRuntime,
        in schema: DatabaseSchema,
        returnsRows: Bool
    ) throws -> Statement {
        var renderer = ConditionRenderer(entity: entity, schema: schema)
        let condition = try condition.map { try renderer.condition($0.node) }
        let values = try update.expressions(&renderer)
        let sorting = try renderer.order(sort)
        let text: String
        if renderer.joins[0].isEmpty, limit == nil, offset == nil, lock == nil {
            text = try runtime.update(
                alias: "t0", set: try values.map { "\(try runtime.quoted($0.column)) = \($0.sql)" },
                where: condition?.sql, returning: returnsRows ? try runtime.selectList(alias: "t0") : nil)
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
            let change = try runtime.update(
                alias: "t", set: set, from: "s", where: same,
                returning: returnsRows ? try runtime.selectList(alias: "t") : nil)
            text = "WITH s AS MATERIALIZED (\(selection)) \(change)"
        }
        return Statement(text: StatementText(text), bindings: renderer.bindings, resultFormat: .binary)
    }
}
