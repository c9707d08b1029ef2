import KindredPostgres
import TestSupport

@testable import Kindred
@testable import KindredSchema

/// A question about random rows, with the statement that answers it and the reads that it claims.
struct RandomQuestion: CustomStringConvertible {
    /// The rows of an answer, as text.
    enum Answer: Equatable {
        /// The rows in their order, with their keys.
        case rows([[String]])
        /// The members of each owner in their order.
        case owners([String: [String]])
    }

    private enum Shape {
        case rows(key: [Int], isOrdered: Bool)
        case number
        /// The members of the owners, named by a column behind theirs: by its number among the owners, or by its key.
        case members(key: [Int], owner: [Int], isNumbered: Bool, isOrdered: Bool)
        /// A number for each owner.
        case numbers
    }

    let description: String
    let statement: Statement
    let reads: Reads
    private let shape: Shape

    /// The keys of all owners.
    static let owners = (Array(1...10) + Array(101...110)).map { ObjectKey.integer(Int64($0)) }

    func answer(_ result: QueryResult) throws -> Answer {
        func text(_ row: Int, _ columns: some Sequence<Int>) throws -> [String] {
            try columns.map { try result.value(row: row, column: $0).map { "\($0)" } ?? "-" }
        }
        let width = result.columns.count
        switch shape {
        case .rows(let key, let isOrdered):
            let rows = try result.indices.map { [try text($0, key).joined(separator: " ")] + (try text($0, 0..<width)) }
            return .rows(isOrdered ? rows : rows.sorted { $0.lexicographicallyPrecedes($1) })
        case .number: return .rows(try result.indices.map { try text($0, 0..<width) })
        case .members(let key, let owner, let isNumbered, let isOrdered):
            var owners: [String: [String]] = [:]
            for row in result.indices {
                var name = try text(row, owner).joined(separator: " ")
                if isNumbered, let number = Int(name) { name = "\(Self.owners[number - 1].values[0])" }
                owners[name, default: []].append(try text(row, key).joined(separator: " "))
            }
            return .owners(isOrdered ? owners : owners.mapValues { $0.sorted() })
        case .numbers:
            var owners: [String: [String]] = [:]
            for row in result.indices {
                guard let number = try result.integer(row: row, column: 0) else { continue }
                owners["\(Self.owners[Int(number) - 1].values[0])"] = try text(row, [1])
            }
            return .owners(owners)
        }
    }

    /// The fault of a concern if the answer has changed so; nil if it is right.
    func problem(_ concern: Reads.Concern, from old: Answer, to new: Answer, row keys: Set<String>) -> String? {
        if old == new { return nil }
        switch (concern, old, new) {
        case (.everything, _, _): return nil
        case (.nothing, _, _): return "it is not concerned"
        case (.rows, .rows(let old), .rows(let new)):
            func others(_ rows: [[String]]) -> [[String]] { rows.filter { !keys.contains($0[0]) } }
            return others(old) == others(new) ? nil : "other rows have changed, too"
        case (.owners(let named), .owners(let old), .owners(let new)):
            let names = Set(named.map { $0.values.map { "\($0)" }.joined(separator: " ") })
            let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
            return changed.isSubset(of: names) ? nil : "\(changed.sorted()) have changed, not \(names.sorted()) alone"
        default: return "\(concern) is no answer for it"
        }
    }

    /// Writes a random question about rows of a model.
    ///
    /// Throws `KindredError` for a question that cannot be asked.
    init(in runtime: SchemaRuntime, _ random: inout SeededGenerator) throws {
        let entities = runtime.entities.filter { !$0.key.isEmpty && !$0.entity.isView }
        let entity = random.pick(entities)
        let schema = runtime.schema
        let sets = entity.relationships.filter { $0.isToMany && !$0.model.isByView }
        let pairs = sets.filter { $0.helper != nil }
        let set = (random.chance(40) && !pairs.isEmpty ? pairs : sets).randomElement(using: &random)
        switch (Int.random(in: 0..<14, using: &random), set) {
        case (0...2, let set?):
            var members = SelectQuery(set.destination)
            if set.helper != nil { members.pairLink = PairLink(relationship: set.model) }
            let words = try members.narrowRandomly(in: runtime, &random, isPart: true)
            let part = try PartQuery(set, members, in: schema).sortedByKey(in: schema)
            description = "part \(entity.name.name).\(set.model.name) \(words)"
            (statement, reads) = (try part.statement(for: Self.owners, in: schema), part.reads)
            let width = set.destination.entity.attributes.count
            shape = .members(key: set.destination.key, owner: [width], isNumbered: true, isOrdered: true)
        case (3...6, _) where !entity.relationships.isEmpty:
            let relationship = random.chance(50) ? set ?? entity.relationships[0] : random.pick(entity.relationships)
            let query = RelationshipQuery(relationship)
            statement = try query.statement(for: Self.owners)
            if random.chance(50) {
                description = "members \(entity.name.name).\(relationship.model.name)"
                reads = Reads(membersOf: relationship)
                shape = .members(
                    key: query.destination.key, owner: query.ownerColumns, isNumbered: false,
                    isOrdered: relationship.position != nil)
            } else {
                description = "prefetched \(entity.name.name).\(relationship.model.name)"
                var tree = PrefetchTree()
                tree.add([relationship])
                reads = tree.reads
                shape = .rows(key: query.destination.key, isOrdered: false)
            }
        case (7...8, let set?):
            description = "number of \(entity.name.name).\(set.model.name)"
            statement = try CountStatements(set).tally(.count, of: Self.owners)
            (reads, shape) = (Reads(numberOf: set), .numbers)
        default:
            var query = SelectQuery(entity)
            let words = try query.narrowRandomly(in: runtime, &random, isPart: false)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                description = "number \(entity.name.name) \(words)"
                (statement, shape) = (try query.countStatement(in: schema), .number)
                reads = try query.reads(in: runtime, isOfNumber: true)
            case 1 where query.limit == nil && entity.attributeIndex(of: "size") != nil:
                description = "total \(entity.name.name) \(words)"
                let total = #"sum(t0."size"), max(t0."name")"#
                statement = try query.statement(in: schema, selecting: total, isSorted: false)
                (shape, reads) = (.number, try query.reads(in: runtime).apart)
            default:
                query = query.sortedByKey(in: schema)
                description = "rows \(entity.name.name) \(words)"
                (statement, shape) = (try query.statement(in: schema), .rows(key: entity.key, isOrdered: true))
                reads = try query.reads(in: runtime)
            }
        }
    }
}

extension SelectQuery {
    /// Adds a random condition, order and limit; returns them as text.
    fileprivate mutating func narrowRandomly(
        in runtime: SchemaRuntime, _ random: inout SeededGenerator, isPart: Bool
    ) throws -> String {
        var words: [String] = []
        if random.once(in: 6) {
            isFiltered = false
            words.append("unfiltered")
        }
        guard let own = runtime[entity.name] else { return "" }
        if !random.once(in: 8) {
            var writer = ConditionFormat(random: random)
            var format = writer.condition(own, "", 2)
            random = writer.random
            if isPart, pairLink != nil, random.once(in: 3) {
                format = "(\(format)) OR @through.\(random.pick(ConditionFormat.pairs))"
            }
            try narrow(by: format, [], in: runtime.schema)
            words.append(format)
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            var writer = ConditionFormat(random: random)
            let path = writer.sortKey(own)
            random = writer.random
            try append(SortTerm(path: path, ascending: random.chance(50)), in: runtime.schema)
            words.append("by \(path.joined(separator: "."))")
        }
        if random.once(in: 3) {
            limit = Int.random(in: 1...4, using: &random)
            words.append("limit \(limit ?? 0)")
            if !isPart, random.once(in: 3) { offset = 1 }
        }
        return words.joined(separator: ", ")
    }
}

/// Writes random conditions for the entities of any model.
private struct ConditionFormat {
    /// Conditions on the helper's row; helpers without such columns refuse them.
    static let pairs = ["size > 1", "name == 'a'"]

    var random: SeededGenerator
    private var variables = 0

    init(random: SeededGenerator) { self.random = random }

    private mutating func comparison(_ entity: EntityRuntime, _ prefix: String) -> String {
        let attributes = entity.entity.attributes.filter {
            ["name", "size", "id", "notes", "archived"].contains($0.name)
        }
        guard let attribute = attributes.randomElement(using: &random) else { return "TRUEPREDICATE" }
        let path = prefix + attribute.name
        switch attribute.baseType {
        case .bool: return "\(path) == \(random.pick(["true", "false"]))"
        case .text:
            return random.pick([
                "\(path) == 'a'", "\(path) != 'b'", "\(path) == nil", "\(path) BEGINSWITH 'c'", "\(path) IN {'a', 'c'}",
            ])
        default: return "\(path) \(random.pick(["==", "!=", ">", "<="])) \(Int.random(in: 0...3, using: &random))"
        }
    }

    /// A path over to-one relationships, with a dot behind it, and the entity to which it leads.
    private mutating func path(_ entity: EntityRuntime, _ prefix: String) -> (EntityRuntime, String) {
        var (place, path) = (entity, prefix)
        while random.once(in: 3), let next = place.relationships.filter({ !$0.isToMany }).randomElement(using: &random)
        {
            (place, path) = (next.destination, "\(path)\(next.model.name).")
        }
        return (place, path)
    }

    mutating func condition(_ entity: EntityRuntime, _ prefix: String, _ depth: Int) -> String {
        let (place, start) = path(entity, prefix)
        let sets = place.relationships.filter(\.isToMany)
        switch (Int.random(in: 0..<(depth > 0 ? 11 : 4), using: &random), sets.randomElement(using: &random)) {
        case (0...3, _): return comparison(place, start)
        case (4, _):
            let ends = place.relationships.filter { !$0.isToMany }
            guard let end = ends.randomElement(using: &random) else { return comparison(place, start) }
            return "\(start)\(end.model.name) \(random.pick(["==", "!="])) nil"
        case (5, let set?), (6, let set?):
            let quantifier = random.pick(["ANY", "ANY", "NONE", "ALL"])
            let (end, path) = path(set.destination, "\(start)\(set.model.name).")
            return "\(quantifier) \(comparison(end, path))"
        case (7, let set?):
            return
                "\(start)\(set.model.name).@count \(random.pick([">", "=="])) \(Int.random(in: 0...2, using: &random))"
        case (8, let set?):
            variables += 1
            let name = "$v\(variables)"
            let inner = condition(set.destination, "\(name).", depth - 1)
            return
                "SUBQUERY(\(start)\(set.model.name), \(name), \(inner)).@count > \(Int.random(in: 0...1, using: &random))"
        case (9, _): return "NOT (\(condition(entity, prefix, depth - 1)))"
        default:
            let parts = (0..<2).map { _ in "(\(condition(entity, prefix, depth - 1)))" }
            return parts.joined(separator: random.pick([" AND ", " OR "]))
        }
    }

    mutating func sortKey(_ entity: EntityRuntime) -> [String] {
        let (place, start) = path(entity, "")
        let keys = start.split(separator: ".").map(String.init)
        if random.once(in: 4), keys.isEmpty,
            let set = place.relationships.filter(\.isToMany).randomElement(using: &random)
        {
            return [set.model.name, "@count"]
        }
        let names = place.entity.attributes.map(\.name).filter { ["name", "size", "notes", "id"].contains($0) }
        return keys + [names.randomElement(using: &random) ?? place.entity.identity[0]]
    }
}
