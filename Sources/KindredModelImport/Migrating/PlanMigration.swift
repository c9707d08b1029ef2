import KindredPostgres

/// The statements that lead from one plan to another.
struct PlanMigration {
    let old: SchemaPlan
    let new: SchemaPlan
    let matching: ModelMatching
    let allowsDrops: Bool
    private(set) var statements: [String] = []
    private(set) var reports: [ModelReport] = []

    /// For each new table the old one that it was.
    var tableBefore: [Int: Int] = [:]
    /// The same the other way.
    var tableAfter: [Int: Int] = [:]
    /// For each new table that was there before, the old column of each of its columns.
    var columnBefore: [Int: [String: String]] = [:]
    /// The same the other way: new names of old columns.
    var columnAfter: [Int: [String: String]] = [:]

    init(from old: SchemaPlan, to new: SchemaPlan, _ matching: ModelMatching, allowsDrops: Bool) {
        self.old = old
        self.new = new
        self.matching = matching
        self.allowsDrops = allowsDrops
    }

    /// Drops what stands in the way and what is gone, renames, changes, and adds, in this order.
    mutating func run() throws {
        matchTables()
        for table in new.tables.indices { if let before = tableBefore[table] { matchColumns(of: table, before) } }
        let kept = keptParts()
        try dropParts(except: kept)
        try dropTables()
        try renameTables()
        for table in new.tables.indices { try renameColumns(of: table) }
        try renameParts(kept)
        try changeTypes()
        for table in new.tables.indices where tableBefore[table] != nil { try changeColumns(of: table) }
        try addParts(except: kept)
    }

    mutating func send(_ statement: String) { statements.append(statement) }

    mutating func report(_ level: ModelReport.Level, _ subject: String, _ reason: String) {
        reports.append(ModelReport(level, subject, reason))
    }

    func quote(_ name: String) throws -> String { try SQLIdentifier.quote(name) }
    func qualified(_ name: String) throws -> String { try PlanWriter(new).qualified(name) }

    // MARK: Matching

    mutating func matchTables() {
        for (place, table) in new.tables.enumerated() {
            let before: Int?
            if case .helper = table.origin {
                // Which end comes first depends on names, so that the pair of both counts.
                let origins = Set(table.columns.compactMap { isReference($0) ? matching.before($0.origin) : nil })
                before = old.tables.firstIndex { other in
                    guard case .helper = other.origin, origins.count == 2 else { return false }
                    return origins == Set(other.columns.filter(isReference).map(\.origin))
                }
            } else {
                let origin = matching.before(table.origin)
                before = origin.flatMap { origin in old.tables.firstIndex { $0.origin == origin } }
            }
            guard let before, tableAfter[before] == nil else { continue }
            tableBefore[place] = before
            tableAfter[before] = place
        }
    }

    func isReference(_ column: ColumnPlan) -> Bool {
        if case .reference = column.origin { true } else { false }
    }

    mutating func matchColumns(of table: Int, _ before: Int) {
        var free = old.tables[before].columns
        var found: [String: String] = [:]
        func take(_ name: String, where isSame: (ColumnPlan) -> Bool) {
            guard found[name] == nil, let place = free.firstIndex(where: isSame) else { return }
            found[name] = free.remove(at: place).name
        }
        for column in new.tables[table].columns {
            if let origin = matching.before(column.origin) { take(column.name) { $0.origin == origin } }
        }
        // A property that another entity of the same table declares now.
        for column in new.tables[table].columns {
            take(column.name) { $0.name == column.name && Self.kind($0.origin) == Self.kind(column.origin) }
        }
        columnBefore[table] = found
        columnAfter[before] = Dictionary(found.map { ($1, $0) }) { first, _ in first }
    }

    static func kind(_ origin: PlanOrigin) -> Int {
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
