import Kindred
import TestSupport

/// A random schema of small tables with random rules, its rows, and what deleting some of them must do: a model of sets
/// that knows nothing of SQL.
struct DeletionWorld {
    /// A foreign key; in a helper table one of two.
    struct Key {
        let name: String
        let table: Int
        let column: String
        let target: Int
        let isRequired: Bool
        let action: DeleteRuleCase.Action
        var rule: DeleteRule?
        var toOneRule: DeleteRule?
        var manyToManyRule: DeleteRule?

        var effectiveRule: DeleteRule {
            if let rule { return rule }
            return switch action {
            case .noAction: .noAction
            case .restrict: .deny
            case .cascade: .cascade
            case .setNull: .nullify
            }
        }
    }

    struct ID: Hashable, Comparable {
        let table: Int
        let id: Int
        static func < (left: Self, right: Self) -> Bool { (left.table, left.id) < (right.table, right.id) }
    }

    enum Outcome: Equatable { case done, denied }

    /// The rule of the many-to-many relationship that leads over a helper's key.
    func manyToManyRule(_ key: Key) -> DeleteRule {
        if let rule = key.manyToManyRule { return rule }
        if key.effectiveRule == .deny { return .deny }
        return key.effectiveRule == .cascade || !payloads.contains(key.table) ? .nullify : .noAction
    }

    /// Whether a helper's rows go with a row that one of its keys refers to.
    private func takesHelperRows(_ key: Key) -> Bool {
        switch manyToManyRule(key) {
        case .nullify, .cascade: true
        case .deny: !payloads.contains(key.table)
        case .noAction: false
        }
    }

    let schema: String
    let isComposite: Bool
    let tableCount: Int
    /// Tables that are nothing but two keys, and a payload in some of them.
    let helpers: Set<Int>
    let payloads: Set<Int>
    let keys: [Key]
    /// The value of each key, in the order of the table's keys.
    var rows: [ID: [Int: Int]] = [:]

    init(schema: String, _ random: inout SeededGenerator) {
        self.schema = schema
        isComposite = random.chance(30)
        let plain = Int.random(in: 2...4, using: &random)
        let helperCount = Int.random(in: 0...2, using: &random)
        tableCount = plain + helperCount
        helpers = Set(plain..<plain + helperCount)
        payloads = helpers.filter { _ in random.chance(40) }
        var keys: [Key] = []
        let rules: [DeleteRule?] = [nil, nil, .cascade, .nullify, .deny, .noAction]
        func add(_ table: Int, _ target: Int, isRequired: Bool, _ random: inout SeededGenerator) {
            let number = keys.count
            let rule = random.pick(rules)
            // The effect of RESTRICT beside other actions depends on their order, so it comes with its own rule alone.
            let actions: [DeleteRuleCase.Action] =
                rule == nil ? [.noAction, .restrict, .cascade, .cascade, .setNull] : [.noAction, .cascade, .setNull]
            let isHelper = table >= plain
            keys.append(
                Key(
                    name: "k\(number)", table: table, column: "f\(number)", target: target, isRequired: isRequired,
                    action: random.pick(actions), rule: rule,
                    toOneRule: !isHelper && random.chance(20) ? random.pick([.cascade, .deny]) : nil,
                    manyToManyRule: isHelper && random.chance(50) ? random.pick([.cascade, .deny, .noAction]) : nil))
        }
        for table in 0..<plain {
            for _ in 0..<Int.random(in: table == 0 ? 0...1 : 1...2, using: &random) {
                let target = Int.random(in: 0..<plain, using: &random)
                add(table, target, isRequired: target < table && random.chance(30), &random)
            }
        }
        for table in plain..<tableCount {
            for _ in 0..<2 { add(table, Int.random(in: 0..<plain, using: &random), isRequired: true, &random) }
        }
        self.keys = keys
        fill(plain, &random)
    }

    /// Gives the tables other rows.
    mutating func refill(_ random: inout SeededGenerator) {
        rows = [:]
        fill(tableCount - helpers.count, &random)
    }

    private mutating func fill(_ plain: Int, _ random: inout SeededGenerator) {
        let count = 5
        for table in 0..<tableCount {
            var pairs: Set<[Int]> = []
            for id in 1...count {
                var values: [Int: Int] = [:]
                for (number, key) in keys.enumerated() where key.table == table {
                    if key.isRequired || random.chance(75) {
                        values[number] = Int.random(in: 1...count, using: &random)
                    }
                }
                let pair = values.sorted { $0.key < $1.key }.map(\.value)
                if helpers.contains(table), !pairs.insert(pair).inserted { continue }
                rows[ID(table: table, id: helpers.contains(table) ? Self.pairID(pair) : id)] = values
            }
        }
    }

    /// Helper rows are told apart by their pair.
    static func pairID(_ pair: [Int]) -> Int { pair[0] * 100 + pair[1] }

    func keys(of table: Int) -> [(number: Int, key: Key)] {
        keys.enumerated().filter { $0.element.table == table }.map { ($0.offset, $0.element) }
    }

    /// Whether the database may delete rows that the rules do not reach.
    var hasUnruledCascades: Bool { keys.contains { $0.action == .cascade && $0.rule == .noAction } }

    // MARK: What deleting must do

    /// Deletes rows as the rules say, or leaves everything as it is.
    mutating func delete(_ roots: Set<ID>) -> Outcome {
        var gone = roots
        var pending = Array(roots)
        func take(_ id: ID) {
            if gone.insert(id).inserted { pending.append(id) }
        }
        while let next = pending.popLast() {
            for (number, key) in keys.enumerated() {
                if key.target == next.table {
                    for id in referring(number, to: next) {
                        if key.effectiveRule == .cascade { take(id) }
                        guard helpers.contains(key.table), takesHelperRows(key) else { continue }
                        take(id)
                        if manyToManyRule(key) == .cascade, let partner = partner(id, number) { take(partner) }
                    }
                }
                if key.table == next.table, key.toOneRule == .cascade, let id = rows[next]?[number] {
                    take(ID(table: key.target, id: id))
                }
            }
        }
        for id in gone {
            for (number, key) in keys.enumerated() {
                if key.target == id.table {
                    for other in referring(number, to: id) {
                        if key.effectiveRule == .deny, !gone.contains(other) { return .denied }
                        if key.effectiveRule == .nullify, key.isRequired, !gone.contains(other) { return .denied }
                        if helpers.contains(key.table), manyToManyRule(key) == .deny,
                            let partner = partner(other, number), !gone.contains(partner)
                        {
                            return .denied
                        }
                    }
                }
                if key.table == id.table, key.toOneRule == .deny, let target = rows[id]?[number],
                    !gone.contains(ID(table: key.target, id: target))
                {
                    return .denied
                }
            }
        }
        var left = rows
        for id in gone {
            for (number, key) in keys.enumerated() where key.target == id.table && key.effectiveRule == .nullify {
                for other in referring(number, to: id) { left[other]?[number] = nil }
            }
        }
        for id in gone { left[id] = nil }
        guard let settled = settle(left, Array(gone)) else { return .denied }
        rows = settled
        return .done
    }

    /// The remaining rows after the database's own actions; nil if it refuses.
    private func settle(_ left: [ID: [Int: Int]], _ gone: [ID]) -> [ID: [Int: Int]]? {
        var left = left
        var pending = gone
        var all = gone
        while let next = pending.popLast() {
            for (number, key) in keys.enumerated() where key.target == next.table && key.action == .cascade {
                for (id, values) in left where id.table == key.table && values[number] == next.id {
                    left[id] = nil
                    pending.append(id)
                    all.append(id)
                }
            }
        }
        for next in all {
            for (number, key) in keys.enumerated() where key.target == next.table {
                for (id, values) in left where id.table == key.table && values[number] == next.id {
                    // A composite key shares its first column with the primary key, which cannot become NULL.
                    guard key.action == .setNull, !key.isRequired, !isComposite else { return nil }
                    left[id]?[number] = nil
                }
            }
        }
        return left
    }

    private func referring(_ number: Int, to id: ID) -> [ID] {
        rows.filter { $0.key.table == keys[number].table && $0.value[number] == id.id }.map(\.key)
    }

    /// The other end of a helper row.
    private func partner(_ id: ID, _ number: Int) -> ID? {
        guard let other = keys(of: id.table).first(where: { $0.number != number }) else { return nil }
        return rows[id]?[other.number].map { ID(table: other.key.target, id: $0) }
    }
}
