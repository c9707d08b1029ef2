import Kindred
import TypeModels

/// The columns of an object around a condition.
enum ScopeColumns {
    case keeper(Columns<Keeper>)
    case pet(Columns<Pet>)
    case club(Columns<Club>)

    struct NoColumn: Error {}

    func one(_ key: String) throws -> ScopeColumns {
        switch (self, key) {
        case (.keeper(let columns), "boss"): return .keeper(columns.boss)
        case (.keeper(let columns), "club"): return .club(columns.club)
        case (.pet(let columns), "keeper"): return .keeper(columns.keeper)
        default: throw NoColumn()
        }
    }

    func keeper() throws -> Columns<Keeper> {
        guard case .keeper(let columns) = self else { throw NoColumn() }
        return columns
    }

    func number(_ key: String) throws -> ColumnExpression<Int> {
        switch (self, key) {
        case (.keeper(let columns), "id"): return columns.id
        case (.keeper(let columns), "age"): return columns.age
        case (.keeper(let columns), "rank"): return columns.rank
        case (.keeper(let columns), "size"): return columns.size
        case (.pet(let columns), "id"): return columns.id
        case (.pet(let columns), "weight"): return columns.weight
        case (.club(let columns), "id"): return columns.id
        default: throw NoColumn()
        }
    }

    func text(_ key: String) throws -> ColumnExpression<String> {
        switch (self, key) {
        case (.keeper(let columns), "name"): return columns.name
        case (.keeper(let columns), "code"): return columns.code
        case (.pet(let columns), "name"): return columns.name
        case (.club(let columns), "name"): return columns.name
        default: throw NoColumn()
        }
    }

    func members<Result>(_ key: String, _ use: ScopeMembersUse<Result>) throws -> Result {
        switch (self, key) {
        case (.keeper(let columns), "pets"): return try use.pets(columns.pets)
        case (.keeper(let columns), "keepers"): return try use.keepers(columns.keepers)
        case (.keeper(let columns), "clubs"): return try use.clubs(columns.clubs)
        case (.club(let columns), "members"): return try use.keepers(columns.members)
        default: throw NoColumn()
        }
    }
}

/// The use of members, for each class.
struct ScopeMembersUse<Result> {
    let pets: (MemberColumns<Pet>) throws -> Result
    let keepers: (MemberColumns<Keeper>) throws -> Result
    let clubs: (MemberColumns<Club>) throws -> Result
}

// The tree as a closure.
extension ScopeTree {
    func condition(_ scopes: [ScopeColumns]) throws -> Condition {
        switch self {
        case .all(let parts): return try parts[0].condition(scopes) && parts[1].condition(scopes)
        case .any(let parts): return try parts[0].condition(scopes) || parts[1].condition(scopes)
        case .not(let part): return !(try part.condition(scopes))
        case .numbers(let left, let operation, let right):
            return Self.compare(try left.number(scopes), operation, try right.number(scopes))
        case .texts(let left, let operation, let right):
            return Self.compare(try left.text(scopes), operation, try right.text(scopes))
        case .same(let left, let right): return try left.keeper(scopes) == right.keeper(scopes)
        case .contains(let members, let part):
            return try members.members(
                scopes,
                ScopeMembersUse(
                    pets: { try $0.contains { try part.condition(scopes + [.pet($0)]) } },
                    keepers: { try $0.contains { try part.condition(scopes + [.keeper($0)]) } },
                    clubs: { try $0.contains { try part.condition(scopes + [.club($0)]) } }))
        case .allSatisfy(let members, let part):
            return try members.members(
                scopes,
                ScopeMembersUse(
                    pets: { try $0.allSatisfy { try part.condition(scopes + [.pet($0)]) } },
                    keepers: { try $0.allSatisfy { try part.condition(scopes + [.keeper($0)]) } },
                    clubs: { try $0.allSatisfy { try part.condition(scopes + [.club($0)]) } }))
        }
    }

    private static func compare<Value>(
        _ left: ColumnExpression<Value>, _ operation: String, _ right: ColumnExpression<Value>
    ) -> Condition {
        switch operation {
        case "==": left == right
        case "!=": left != right
        case "<": left < right
        default: left >= right
        }
    }
}

extension ScopeValue {
    private func start(_ scopes: [ScopeColumns]) throws -> (ScopeColumns, String) {
        guard case .path(let scope, let keys) = self else { throw ScopeColumns.NoColumn() }
        return (try keys.dropLast().reduce(scopes[scope]) { try $0.one($1) }, keys[keys.count - 1])
    }

    func number(_ scopes: [ScopeColumns]) throws -> ColumnExpression<Int> {
        switch self {
        case .path:
            let (columns, key) = try start(scopes)
            return try columns.number(key)
        // A constant is no column: it is added to nothing.
        case .constant(let value): return try scopes[0].number("id") * 0 + value
        case .plus(let left, let right): return try left.number(scopes) + right.number(scopes)
        case .count(let members, let part):
            return try members.members(
                scopes,
                ScopeMembersUse(
                    pets: { try $0.count { try part.condition(scopes + [.pet($0)]) } },
                    keepers: { try $0.count { try part.condition(scopes + [.keeper($0)]) } },
                    clubs: { try $0.count { try part.condition(scopes + [.club($0)]) } }))
        }
    }

    func keeper(_ scopes: [ScopeColumns]) throws -> Columns<Keeper> {
        guard case .path(let scope, let keys) = self else { throw ScopeColumns.NoColumn() }
        return try keys.reduce(scopes[scope]) { try $0.one($1) }.keeper()
    }

    func text(_ scopes: [ScopeColumns]) throws -> ColumnExpression<String> {
        let (columns, key) = try start(scopes)
        return try columns.text(key)
    }

    func members<Result>(_ scopes: [ScopeColumns], _ use: ScopeMembersUse<Result>) throws -> Result {
        let (columns, key) = try start(scopes)
        return try columns.members(key, use)
    }
}

// The tree as a format, and as SQL, where each path is a scalar subquery and each comparison is two-valued.
extension ScopeTree {
    func format(_ tables: [String]) -> String {
        switch self {
        case .all(let parts): return "(\(parts.map { $0.format(tables) }.joined(separator: " AND ")))"
        case .any(let parts): return "(\(parts.map { $0.format(tables) }.joined(separator: " OR ")))"
        case .not(let part): return "NOT (\(part.format(tables)))"
        case .numbers(let left, let operation, let right), .texts(let left, let operation, let right):
            return "\(left.format(tables)) \(operation) \(right.format(tables))"
        case .same(let left, let right): return "\(left.objectFormat) == \(right.objectFormat)"
        case .contains(let members, let part): return "\(members.subquery(part, tables)) > 0"
        case .allSatisfy(let members, let part): return "NOT \(members.subquery(.not(part), tables)) > 0"
        }
    }

    func sql(_ tables: [String]) -> String {
        switch self {
        case .all(let parts): return "(\(parts.map { $0.sql(tables) }.joined(separator: " AND ")))"
        case .any(let parts): return "(\(parts.map { $0.sql(tables) }.joined(separator: " OR ")))"
        case .not(let part): return "NOT (\(part.sql(tables)))"
        case .numbers(let left, let operation, let right), .texts(let left, let operation, let right):
            let (left, right) = (left.sql(tables), right.sql(tables))
            switch operation {
            case "==": return "(\(left) IS NOT DISTINCT FROM \(right))"
            case "!=": return "(\(left) IS DISTINCT FROM \(right))"
            default: return "coalesce(\(left) \(operation) \(right), FALSE)"
            }
        case .same(let left, let right):
            return "(\(left.object(tables)) IS NOT DISTINCT FROM \(right.object(tables)))"
        case .contains(let members, let part):
            let (rows, inner) = members.rows(tables)
            return "EXISTS (SELECT FROM \(rows) AND \(part.sql(inner)))"
        case .allSatisfy(let members, let part):
            let (rows, inner) = members.rows(tables)
            return "NOT EXISTS (SELECT FROM \(rows) AND NOT \(part.sql(inner)))"
        }
    }
}

extension ScopeValue {
    /// The table at the end of to-one keys, and the value of its key.
    private func end(_ tables: [String]) -> (table: String, key: String, last: String) {
        guard case .path(let scope, let keys) = self else { return ("", "", "") }
        var (table, key) = (tables[scope], "s\(scope).id")
        for (number, name) in keys.dropLast().enumerated() {
            guard let one = ScopeTable.all[table]?.ones.first(where: { $0.0 == name }) else { continue }
            key = "(SELECT o\(number).\(one.column) FROM \(table) o\(number) WHERE o\(number).id = \(key))"
            table = one.table
        }
        return (table, key, keys[keys.count - 1])
    }

    /// The key of the object at the end of to-one keys.
    fileprivate func object(_ tables: [String]) -> String {
        guard case .path(let scope, let keys) = self else { return "" }
        return ScopeValue.path(scope: scope, keys + ["id"]).end(tables).key
    }

    fileprivate var objectFormat: String {
        guard case .path(let scope, let keys) = self else { return "" }
        return ([scope > 0 ? "$v\(scope)" : "SELF"] + keys).joined(separator: ".")
    }

    /// The members as rows of the next scope, with a condition that they are members, and the tables of the scopes.
    fileprivate func rows(_ tables: [String]) -> (sql: String, tables: [String]) {
        let (table, key, last) = end(tables)
        guard let many = ScopeTable.all[table]?.many.first(where: { $0.0 == last }) else { return ("", tables) }
        return (many.rows("s\(tables.count)", key), tables + [many.table])
    }

    func sql(_ tables: [String]) -> String {
        switch self {
        case .path:
            let (table, key, column) = end(tables)
            return "(SELECT c.\(column) FROM \(table) c WHERE c.id = \(key))"
        case .constant(let value): return "\(value)"
        case .plus(let left, let right): return "(\(left.sql(tables)) + \(right.sql(tables)))"
        case .count(let members, let part):
            let (rows, inner) = members.rows(tables)
            let owner = members.end(tables).key
            return "CASE WHEN \(owner) IS NOT NULL THEN (SELECT count(*) FROM \(rows) AND \(part.sql(inner))) END"
        }
    }

    func format(_ tables: [String]) -> String {
        switch self {
        case .path(let scope, var keys):
            if let many = ScopeTable.all[end(tables).table]?.many.first(where: { $0.0 == keys.last }) {
                keys[keys.count - 1] = many.name
            }
            return ((scope > 0 ? ["$v\(scope)"] : []) + keys).joined(separator: ".")
        case .constant(let value): return "\(value)"
        case .plus(let left, let right): return "(\(left.format(tables)) + \(right.format(tables)))"
        case .count(let members, let part): return members.subquery(part, tables)
        }
    }

    fileprivate func subquery(_ part: ScopeTree, _ tables: [String]) -> String {
        let inner = rows(tables).tables
        return "SUBQUERY(\(format(tables)), $v\(tables.count), \(part.format(inner))).@count"
    }
}
