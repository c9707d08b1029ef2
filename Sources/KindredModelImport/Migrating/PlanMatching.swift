import KindredDDL
import KindredPostgres

/// Finds the older table and column of each table and column of a newer plan.
struct PlanMatching {
    /// For each new table its old table.
    private(set) var tableBefore: [Int: Int] = [:]
    /// For each old table its new table.
    private(set) var tableAfter: [Int: Int] = [:]
    /// For each new table that was there before, the old column of each of its columns.
    private(set) var columnBefore: [Int: [String: String]] = [:]
    /// The columns that are made anew, since no value of the older type becomes one of the newer.
    private(set) var remade: [String] = []

    /// - Parameters:
    ///   - old: The older plan.
    ///   - new: The newer plan.
    ///   - matching: Which entity and property each was.
    ///   - allowsDrops: Whether a column whose values cannot be converted is dropped and made anew.
    init(from old: SchemaPlan, to new: SchemaPlan, _ matching: ModelMatching, allowsDrops: Bool) {
        for (place, table) in new.tables.enumerated() {
            guard let before = Self.before(table, in: old, matching), tableAfter[before] == nil else { continue }
            tableBefore[place] = before
            tableAfter[before] = place
            var found = Self.columns(of: table, in: old.tables[before], matching)
            for (name, earlier) in found.sorted(by: { $0.key < $1.key }) where allowsDrops {
                guard let column = table.column(named: name), let was = old.tables[before].column(named: earlier),
                    !column.isGenerated, !TypeChange(from: was.type, to: column.type).isKnown
                else { continue }
                found[name] = nil
                remade.append("\(table.name).\(name)")
            }
            columnBefore[place] = found
        }
    }

    private static func before(_ table: TablePlan, in old: SchemaPlan, _ matching: ModelMatching) -> Int? {
        guard case .helper = table.origin else {
            let origin = matching.before(table.origin)
            return origin.flatMap { origin in old.tables.firstIndex { $0.origin == origin } }
        }
        // Which end comes first depends on names, so that the pair of both counts.
        let origins = Set(table.columns.compactMap { isReference($0) ? matching.before($0.origin) : nil })
        return old.tables.firstIndex { other in
            guard case .helper = other.origin, origins.count == 2 else { return false }
            return origins == Set(other.columns.filter(isReference).map(\.origin))
        }
    }

    private static func isReference(_ column: ColumnPlan) -> Bool {
        if case .reference = column.origin { true } else { false }
    }

    private static func columns(
        of table: TablePlan, in old: TablePlan, _ matching: ModelMatching
    ) -> [String: String] {
        var free = old.columns
        var found: [String: String] = [:]
        func take(_ name: String, where isSame: (ColumnPlan) -> Bool) {
            guard found[name] == nil, let place = free.firstIndex(where: isSame) else { return }
            found[name] = free.remove(at: place).name
        }
        for column in table.columns {
            if let origin = matching.before(column.origin) { take(column.name) { $0.origin == origin } }
        }
        // A property that another entity of the same table declares now.
        for column in table.columns {
            take(column.name) { $0.name == column.name && kind($0.origin) == kind(column.origin) }
        }
        return found
    }

    private static func kind(_ origin: PlanOrigin) -> Int {
        switch origin {
        case .entity, .helper: 0
        case .key: 1
        case .discriminator: 2
        case .attribute: 3
        case .reference: 4
        case .position: 5
        }
    }
}

extension TypeChange {
    /// A change of types as plans write them: without modifiers.
    init(from old: String, to new: String) {
        func column(_ type: String) -> ColumnItem {
            ColumnItem(type: type, isNotNull: false, identityOptions: [], base: type, isText: type == "text")
        }
        self.init(from: column(old), to: column(new))
    }
}
