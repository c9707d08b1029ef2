import KindredDDL
import KindredPostgres

/// Inserts, updates and deletes a row of made-up values in tables, and takes everything back.
///
/// Triggers, defaults, generated columns and the functions that they call run only when there is a row: a server does
/// not know the objects that their texts name. The rows that a row refers to are inserted first. Rows are written by
/// the owner, so that policies are not asked.
struct Smoke {
    let client: PostgresClient
    let tables: [ItemName]

    /// The end of a table's row.
    enum Outcome {
        case done
        /// A constraint, or a function by RAISE, does not take the values, or there are none.
        case refused(String)
        case failed(Failure)
    }

    /// A statement that fails for another reason than its values.
    struct Failure {
        let table: ItemName
        let sql: String
        let sqlState: String
        let message: String

        /// Whether one of other failures has the same fault.
        func isKnown(among others: [Failure]) -> Bool {
            others.contains { ($0.sqlState, $0.message) == (sqlState, message) }
        }

        var sentence: String { "A row of the \(table.described) fails (\(message)): \(sql)." }
    }

    /// Tries each table that is there, in a transaction of its own.
    func outcomes() async throws -> [(table: ItemName, outcome: Outcome)] {
        guard !tables.isEmpty else { return [] }
        let rows = try await SampleRows.read(from: client)
        var result: [(ItemName, Outcome)] = []
        for table in tables where rows.has(table) {
            var outcome = try await outcome(of: table, rows.statements(for: table, isFilled: true))
            // Fewer values offend fewer constraints.
            if case .refused = outcome {
                let second = try await self.outcome(of: table, rows.statements(for: table, isFilled: false))
                if case .refused = second {} else { outcome = second }
            }
            result.append((table, outcome))
        }
        return result
    }

    private func outcome(of table: ItemName, _ statements: SampleRows.Statements) async throws -> Outcome {
        guard case .statements(let statements) = statements else {
            if case .none(let reason) = statements { return .refused(reason) }
            return .done
        }
        var current = ""
        do {
            try await client.undone {
                try await ScratchServer.run("SET CONSTRAINTS ALL DEFERRED", on: client)
                for statement in statements {
                    current = statement
                    try await ScratchServer.run(statement, on: client)
                }
            }
            return .done
        } catch let error as PostgresError {
            if error.server == nil, error.isCut { return .refused(error.message) }
            guard let server = error.server, let state = error.sqlState?.rawValue else { throw error }
            // Constraints, RAISE without a code, the time limit, and materialized views, which have no rows here.
            if state.hasPrefix("23") || ["P0001", "57014", "55000"].contains(state) { return .refused(server.message) }
            return .failed(Failure(table: table, sql: current, sqlState: state, message: server.message))
        }
    }
}

/// The tables whose rows a change of a schema may break.
struct TouchedTables {
    private let before: SchemaSnapshot
    private let after: SchemaSnapshot

    init(from before: SchemaSnapshot, to after: SchemaSnapshot) { (self.before, self.after) = (before, after) }

    /// The tables that changed, or whose dependencies changed, and all tables that have triggers or call functions: a
    /// function's text may name any table.
    var names: [ItemName] {
        let changed = Set(before.items.keys).union(after.items.keys).filter {
            before[$0]?.content != after[$0]?.content
        }
        if changed.isEmpty { return [] }
        let dependents = before.dependents.merging(after.dependents) { $0.union($1) }
        var (seen, waiting): (Set<ItemName>, [ItemName]) = (changed, Array(changed))
        for name in after.items.keys where name.kind == .function && seen.insert(name).inserted { waiting.append(name) }
        var found: Set<ItemName> = []
        while let name = waiting.popLast() {
            found.formUnion(tables(of: name))
            for dependent in dependents[name] ?? [] where seen.insert(dependent).inserted { waiting.append(dependent) }
        }
        for name in after.items.keys where name.kind == .trigger { found.insert(name.owner()) }
        return found.filter { after.table($0) != nil }.sorted()
    }

    private func tables(of name: ItemName) -> [ItemName] {
        switch name.kind {
        case .table, .column, .constraint, .trigger, .policy: [name.owner()]
        case .index: [after.index(name)?.relation, before.index(name)?.relation].compactMap { $0 }
        case .other: (after[name]?.dependencies ?? []).filter { $0.kind == .table }
        default: []
        }
    }
}
