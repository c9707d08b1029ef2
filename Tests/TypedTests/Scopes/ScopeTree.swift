import Kindred
import TestSupport
import TypeModels

/// A random condition over keepers, pets and clubs, whose columns are of any object around it.
///
/// It is written three times, as a closure, as a format and as SQL, by functions that share nothing but the tree.
indirect enum ScopeTree {
    case all([ScopeTree])
    case any([ScopeTree])
    case not(ScopeTree)
    case numbers(ScopeValue, String, ScopeValue)
    case texts(ScopeValue, String, ScopeValue)
    /// Whether two paths lead to the same keeper, or none does.
    case same(ScopeValue, ScopeValue)
    case contains(ScopeValue, ScopeTree)
    case allSatisfy(ScopeValue, ScopeTree)
}

/// A value of an object, or its members.
indirect enum ScopeValue {
    /// To-one keys from the object of a scope to a column, or to a to-many relationship.
    case path(scope: Int, [String])
    case constant(Int)
    case plus(ScopeValue, ScopeValue)
    case count(ScopeValue, ScopeTree)
}

/// Tables with their columns and relationships, by the names of properties.
struct ScopeTable {
    let name: String
    let numbers: [String]
    let texts: [String]
    /// To-one relationships: property, column, table.
    let ones: [(String, column: String, table: String)]
    /// To-many relationships: property, name in formats, FROM and condition in SQL, table.
    let many: [(String, name: String, rows: (_ alias: String, _ key: String) -> String, table: String)]

    static var all: [String: ScopeTable] {
        [
            "keeper": ScopeTable(
                name: "keeper", numbers: ["id", "age", "rank", "size"], texts: ["name", "code"],
                ones: [("boss", "boss_id", "keeper"), ("club", "club_id", "club")],
                many: [
                    ("pets", "petSet", { "pet \($0) WHERE \($0).keeper_id = \($1)" }, "pet"),
                    ("keepers", "keeperSet", { "keeper \($0) WHERE \($0).boss_id = \($1)" }, "keeper"),
                    (
                        "clubs", "clubs",
                        {
                            "club \($0) WHERE \($0).id IN (SELECT m.club_id FROM membership m WHERE m.keeper_id = \($1))"
                        },
                        "club"
                    ),
                ]),
            "pet": ScopeTable(
                name: "pet", numbers: ["id", "weight"], texts: ["name"], ones: [("keeper", "keeper_id", "keeper")],
                many: []
            ),
            "club": ScopeTable(
                name: "club", numbers: ["id"], texts: ["name"], ones: [],
                many: [
                    (
                        "members", "members",
                        {
                            "keeper \($0) WHERE \($0).id IN (SELECT m.keeper_id FROM membership m WHERE m.club_id = \($1))"
                        },
                        "keeper"
                    )
                ]),
        ]
    }
}

/// Makes random trees.
struct ScopeMaker {
    var random: SeededGenerator
    /// The tables of the scopes around, the request's first.
    var scopes = ["keeper"]
    var budget = 12

    private func table(_ name: String) -> ScopeTable? { ScopeTable.all[name] }

    /// A path of to-one relationships from any object around, and where it leads.
    private mutating func start() -> (scope: Int, keys: [String], table: ScopeTable)? {
        let scope = Int.random(in: 0..<scopes.count, using: &random)
        guard var end = table(scopes[scope]) else { return nil }
        var keys: [String] = []
        while keys.count < 2, !end.ones.isEmpty, random.once(in: 4) {
            let (key, _, name) = random.pick(end.ones)
            keys.append(key)
            end = table(name) ?? end
        }
        return (scope, keys, end)
    }

    private mutating func column(_ columns: (ScopeTable) -> [String]) -> ScopeValue {
        guard let (scope, keys, end) = start() else { return .constant(1) }
        return .path(scope: scope, keys + [random.pick(columns(end))])
    }

    /// A path to a keeper: of any object around, one of these, or at a to-one end of one.
    private mutating func keeper() -> ScopeValue {
        while true {
            let scope = Int.random(in: 0..<scopes.count, using: &random)
            switch scopes[scope] {
            case "pet": return .path(scope: scope, ["keeper"])
            case "keeper":
                return .path(scope: scope, Array(repeating: "boss", count: Int.random(in: 0...2, using: &random)))
            default: continue
            }
        }
    }

    private mutating func members() -> (ScopeValue, String)? {
        guard let (scope, keys, end) = start(), !end.many.isEmpty else { return nil }
        let (key, _, _, name) = random.pick(end.many)
        return (.path(scope: scope, keys + [key]), name)
    }

    private mutating func inner(_ table: String, _ depth: Int) -> ScopeTree {
        scopes.append(table)
        defer { scopes.removeLast() }
        return tree(depth - 1)
    }

    private mutating func number(_ depth: Int) -> ScopeValue {
        budget -= 1
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .constant(Int.random(in: 0...4, using: &random))
        case 1 where budget > 0: return .plus(number(0), number(0))
        case 2 where depth > 0 && budget > 0:
            guard let (members, table) = members() else { return column(\.numbers) }
            return .count(members, inner(table, depth))
        default: return column(\.numbers)
        }
    }

    mutating func tree(_ depth: Int) -> ScopeTree {
        budget -= 1
        if depth > 0, budget > 0 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return .all([tree(depth - 1), tree(depth - 1)])
            case 1: return .any([tree(depth - 1), tree(depth - 1)])
            case 2: return .not(tree(depth - 1))
            case 3, 4, 5, 6:
                guard let (members, table) = members() else { break }
                let condition = inner(table, depth)
                return random.once(in: 3) ? .allSatisfy(members, condition) : .contains(members, condition)
            default: break
            }
        }
        if random.once(in: 5) { return .same(keeper(), keeper()) }
        if random.once(in: 3) {
            return .texts(column(\.texts), random.pick(["==", "!=", "<", ">="]), column(\.texts))
        }
        // A column on the left, for a comparison of constants has another meaning.
        return .numbers(column(\.numbers), random.pick(["==", "!=", "<", ">="]), number(depth))
    }
}
