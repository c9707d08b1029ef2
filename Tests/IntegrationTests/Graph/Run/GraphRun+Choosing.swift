import Kindred
import TestSupport

// Which objects a step works on. They are drawn by a hash of their names, so that a step takes the same ones when other
// steps are left out of the program.
extension GraphRun {
    /// A relationship that fulfils a condition, mostly a relationship that the program is about.
    func pickRelation(
        _ random: inout SeededGenerator, where condition: (GraphRelation) -> Bool
    ) -> GraphRelation? {
        let near = focus.filter(condition)
        if random.chance(85), !near.isEmpty { return random.pick(near) }
        let all = GraphSchema.relations.filter(condition)
        return all.isEmpty ? nil : random.pick(all)
    }

    /// A foreign key that fulfils a condition, mostly a key that the program is about.
    func pickKey(_ random: inout SeededGenerator, where condition: (GraphKey) -> Bool) -> GraphKey {
        let near: [GraphKey] = focus.compactMap { relation in
            if case .holds(let key) = relation.link, condition(key) { key } else { nil }
        }
        return random.pick(random.chance(85) && !near.isEmpty ? near : GraphSchema.keys.filter(condition))
    }

    /// One of some tables, mostly a table that the program is about.
    func pickTable(_ tables: [String], _ random: inout SeededGenerator) -> String {
        let near = Set(focus.map(\.table))
        let focused = tables.filter(near.contains)
        return random.pick(random.chance(85) && !focused.isEmpty ? focused : tables)
    }

    /// One of some rows.
    func pick(_ refs: some Sequence<GraphRef>, _ random: inout SeededGenerator) -> GraphRef? {
        let salt = random.next()
        func place(_ ref: GraphRef) -> UInt64 {
            var hash = salt
            for byte in ref.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            var generator = SeededGenerator(seed: hash)
            return generator.next()
        }
        return refs.min { (place($0), $0) < (place($1), $1) }
    }

    /// Some of some rows, each once.
    func pickSome(
        _ refs: some Sequence<GraphRef>, atMost count: Int, _ random: inout SeededGenerator
    ) -> [GraphRef] {
        var rest = Set(refs)
        var found: [GraphRef] = []
        for _ in 0..<Int.random(in: 1...count, using: &random) {
            guard let ref = pick(rest, &random) else { break }
            found.append(ref)
            rest.remove(ref)
        }
        return found
    }

    /// A row that is shown, stored or new, more often a held one.
    func pick(_ table: String, _ random: inout SeededGenerator, storedOnly: Bool = false) -> GraphRef? {
        let all = picture.refs(table).filter { !storedOnly || !$0.isNew }
        let near = Set((held + staged).compactMap(ref))
        let known = all.filter { $0.isNew || near.contains($0) }
        return pick(random.chance(60) && !known.isEmpty ? known : all, &random)
    }

    /// The object of a row: an object in hand, or an object that is read alone or with others, and then often let go
    /// again.
    func object(_ ref: GraphRef, _ random: inout SeededGenerator) async throws -> DatabaseObject {
        let way = Int.random(in: 0..<4, using: &random)
        let isKept = random.chance(50)
        if let known = known(ref) {
            touched.append(known)
            return known
        }
        let key = ref.key.map { Int($0) ?? 0 }
        let found: DatabaseObject?
        if way < 2 {
            say("find(\(ref))\(isKept ? ", and hold it" : "")")
            found =
                key.count == 1
                ? try await context.find(ref.table, key[0]) : try await context.find(ref.table, key[0], key[1])
        } else {
            say("fetch all of \(ref.table) for \(ref)\(isKept ? ", and hold it" : "")")
            let request = try context.fetch(ref.table).sorted(GraphSchema.key(of: ref.table)[0], ascending: way == 2)
            found = try await request.all().first { self.ref($0) == ref }
        }
        guard let found else { throw failure("\(ref) is not found") }
        touched.append(found)
        names.append((found, ref))
        if isKept { held.append(found) }
        return found
    }

    func objects(_ refs: [GraphRef], _ random: inout SeededGenerator) async throws -> [DatabaseObject] {
        var found: [DatabaseObject] = []
        for ref in refs { found.append(try await object(ref, &random)) }
        return found
    }

    /// A name that other rows rarely have.
    func name(_ random: inout SeededGenerator) -> String {
        random.chance(8) ? "u1" : "n\(Int.random(in: 0..<100_000, using: &random))"
    }

    /// A value for a column.
    func value(_ column: String, of table: String, _ random: inout SeededGenerator) -> String? {
        if column == "name" { return random.chance(5) ? nil : name(&random) }
        if column == "level" { return "\(Int.random(in: 1...9, using: &random))" }
        if random.chance(15) { return nil }
        return
            "\(column == "code" ? 10 * Int.random(in: 1...20, using: &random) : Int.random(in: 1...9, using: &random))"
    }

    func postgresValue(_ text: String?, _ column: String) -> PostgresValue? {
        guard let text else { return nil }
        return column == "name" ? .string(text) : Int64(text).map(PostgresValue.integer)
    }
}
