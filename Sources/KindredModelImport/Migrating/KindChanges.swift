import KindredDDL
import KindredPostgres

/// Changes of rows whose column names an entity that has another name now, or is gone.
struct KindChanges {
    private(set) var statements: [SchemaStatement] = []
    private(set) var reports: [ModelReport] = []

    /// - Parameters:
    ///   - old: The older plan.
    ///   - new: The newer one, whose names the statements use.
    ///   - tables: Which tables and columns are the same.
    ///   - entities: The older name of each entity that there was.
    ///   - allowsDrops: Whether rows of entities that are gone are deleted.
    init(
        from old: SchemaPlan, to new: SchemaPlan, _ tables: PlanMatching, entities: [String: String], allowsDrops: Bool
    ) throws {
        for (place, table) in new.tables.enumerated() {
            guard let before = tables.tableBefore[place],
                let column = table.columns.first(where: { $0.origin == .discriminator }),
                tables.columnBefore[place]?[column.name] != nil
            else { continue }
            let (path, quoted) = (try DDL.path(new.name(of: table)), try DDL.name(column.name))
            let lock = "ROW EXCLUSIVE on \(new.name(of: table).shown)"
            let names = table.kinds.compactMap { kind in entities[kind].map { (new: kind, old: $0) } }
            let gone = old.tables[before].kinds.filter { kind in !names.contains { $0.old == kind } }
            if !gone.isEmpty, allowsDrops {
                statements.append(
                    SchemaStatement(
                        "DELETE FROM \(path) WHERE \(quoted) IN (\(Self.list(gone)))", lock: lock, canLoseData: true))
            } else if !gone.isEmpty {
                reports.append(
                    ModelReport(
                        .changed, table.name,
                        "\(gone.joined(separator: ", ")) is no longer among its entities, which fails where there are such rows"
                    ))
            }
            let renamed = names.filter { $0.new != $0.old }
            guard !renamed.isEmpty else { continue }
            let cases = renamed.map { "WHEN \(DDL.literal($0.old)) THEN \(DDL.literal($0.new))" }
            statements.append(
                SchemaStatement(
                    "UPDATE \(path) SET \(quoted) = CASE \(quoted) \(cases.joined(separator: " ")) END "
                        + "WHERE \(quoted) IN (\(Self.list(renamed.map(\.old))))", lock: lock))
        }
    }

    private static func list(_ names: [String]) -> String { names.map(DDL.literal).joined(separator: ", ") }
}
