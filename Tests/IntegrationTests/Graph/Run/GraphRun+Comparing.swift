import Kindred
import TestSupport

// Compares the attributes of the objects, and their relationships in each way in which they can be read.
extension GraphRun {
    /// Compares one relationship of one object, often one changed lately, and sometimes a relationship of an object
    /// that it leads to.
    func compareSomething(_ random: inout SeededGenerator) async throws {
        var relation: GraphRelation?
        var ref: GraphRef?
        let near = Set((held + staged).compactMap(self.ref))
        let ends = suspects.filter { picture.isShown($0.owner) }
        if !ends.isEmpty, random.chance(30) {
            let end = random.pick(ends)
            (relation, ref) = (end.relation, end.owner)
        } else if !near.isEmpty, random.chance(85) {
            let table = pickTable(Array(Set(near.map(\.table))).sorted(), &random)
            ref = pick(near.filter { $0.table == table }, &random)
        } else {
            ref = pick(pickTable(GraphSchema.tables, &random), &random)
        }
        guard let ref else { return }
        var object = try await object(ref, &random)
        for _ in 0..<3 {
            guard let current = self.ref(object),
                let chosen = relation ?? pickRelation(&random, where: { $0.table == current.table })
            else { break }
            relation = nil
            let found = try await compare(object, current, chosen, .random(&random), &random)
            guard let next = found.randomElement(using: &random), random.chance(40) else { break }
            object = next
            if random.chance(20), !held.contains(next) { held.append(next) }
        }
        touched = []
    }

    /// Reads a relationship that staged changes have changed, of an object that they have nothing to do with.
    func readOther(_ random: inout SeededGenerator) async throws {
        let ends = picture.changedEnds(since: picture.unstaged).filter(\.relation.isToMany)
        guard !ends.isEmpty else { return }
        let relation = random.pick(ends).relation
        let touching = Set(ends.lazy.filter { $0.relation == relation }.map(\.owner))
        let others = picture.refs(relation.table).filter { !touching.contains($0) }
        let held = others.filter { known($0) != nil }
        guard let other = pick(random.chance(80) && !held.isEmpty ? held : others, &random) else { return }
        _ = try await compare(try await object(other, &random), other, relation, .random(&random), &random)
    }

    /// How many comparisons there are at most when everything is compared.
    static let comparisons = 512

    /// Compares the attributes and relationships of all objects in hand, each in all ways, or those comparisons that are at
    /// some places in a random order.
    func compareEverything(_ places: [Int], seed: UInt64) async throws {
        let isSilent = places.count > 12
        if isSilent { say("compare everything") }
        let wanted = Set(places)
        var random = SeededGenerator(seed: seed)
        var seen = Set<DatabaseObject>()
        let objects = (held + staged + new + pinned).filter { seen.insert($0).inserted }
        for object in objects where wanted.count == Self.comparisons {
            if ref(object) == nil { try compareDeleted(object) } else { try compareAttributes(object) }
        }
        var place = 0
        for object in objects.shuffled(using: &random) {
            guard let ref = ref(object) else { continue }
            for relation in GraphSchema.relations(of: ref.table).shuffled(using: &random) {
                let ways = relation.isToMany ? Reading.allCases.shuffled(using: &random).prefix(3) : [.objects]
                for way in ways {
                    var own = SeededGenerator(seed: random.next())
                    if wanted.contains(place) || place >= Self.comparisons && isSilent {
                        _ = try await compare(object, ref, relation, way, &own, isSilent: isSilent)
                    }
                    place += 1
                }
            }
        }
        touched = []
    }

    /// How a relationship is read.
    enum Reading: CaseIterable {
        case objects, count, isEmpty, contains, walk

        static func random(_ random: inout SeededGenerator) -> Reading {
            random.pick([.objects, .objects, .count, .count, .isEmpty, .contains, .walk])
        }
    }

    /// Compares a relationship of an object, read in one way; returns the objects that it leads to, if they were read.
    private func compare(
        _ object: DatabaseObject, _ ref: GraphRef, _ relation: GraphRelation, _ way: Reading,
        _ random: inout SeededGenerator, isSilent: Bool = false
    ) async throws -> [DatabaseObject] {
        let wanted = picture.members(relation, of: ref)
        let place = "\(ref).\(relation.name)"
        guard relation.isToMany else {
            if !isSilent { say("read \(place)") }
            let found = try await object.object(forKey: relation.name)
            // Two may claim the place of a one-to-one partner until they are saved.
            let isRight = found.flatMap(self.ref).map(wanted.contains) ?? (found == nil && wanted.isEmpty)
            guard isRight else {
                throw failure("\(place) is \(found.map(describe) ?? "nil"), not \(list(wanted))")
            }
            if let found { try compareAttributes(found) }
            return found.map { [$0] } ?? []
        }
        let set = try await object.set(forKey: relation.name)
        switch way {
        case .objects, .walk:
            if !isSilent { say("read \(place)\(way == .walk ? ", one by one" : "")") }
            var found: [DatabaseObject] = []
            if way == .walk {
                for try await member in set { found.append(member) }
            } else {
                found = try await set.objects
            }
            let refs = found.compactMap(self.ref)
            guard Set(refs) == wanted, refs.count == wanted.count, refs.count == found.count else {
                throw failure("\(place) is [\(found.map(describe).joined(separator: ", "))], not \(list(wanted))")
            }
            for member in found { try compareAttributes(member) }
            if let position = relation.position { try compareOrder(refs, by: position, place) }
            return found
        case .count:
            if !isSilent { say("read \(place).count") }
            let count = try await set.count
            guard count == wanted.count else { throw failure("\(place).count is \(count), not \(wanted.count)") }
        case .isEmpty:
            if !isSilent { say("read \(place).isEmpty") }
            let isEmpty = try await set.isEmpty
            guard isEmpty == wanted.isEmpty else { throw failure("\(place).isEmpty is \(isEmpty)") }
        case .contains:
            var all = random.chance(60) && !wanted.isEmpty ? Array(wanted) : picture.refs(relation.target)
            // Among all comparisons, reading more objects would only make it longer.
            if isSilent { all = all.filter { known($0) != nil } }
            guard let other = pick(all, &random) else { return [] }
            let member = try await self.object(other, &random)
            if !isSilent { say("read \(place).contains(\(other))") }
            let isMember = try await set.contains(member)
            guard isMember == wanted.contains(other) else {
                throw failure("\(place).contains(\(other)) is \(isMember)")
            }
        }
        return []
    }

    /// Members without a position come last, in any order.
    private func compareOrder(_ refs: [GraphRef], by column: String, _ place: String) throws {
        let positions = refs.map { ref in
            picture.rows[ref.table]?[ref]?[column].flatMap { Int($0) } ?? .max
        }
        guard positions == positions.sorted() else {
            throw failure("the order of \(place) is \(refs), with the positions \(positions)")
        }
    }

    /// Compares the columns of an object with its row and the values staged over it.
    func compareAttributes(_ object: DatabaseObject) throws {
        guard let ref = ref(object) else { throw failure("\(object) is deleted, and was read") }
        if let known = known(ref), known !== object { throw failure("there are two objects of \(ref)") }
        guard let row = picture.rows[ref.table]?[ref] else { throw failure("\(ref) has no row") }
        for column in GraphSchema.columns[ref.table] ?? [] where object[column]?.description != row[column] {
            throw failure(
                "\(ref)[\(column)] is \(object[column]?.description ?? "nil"), not \(row[column] ?? "nil")")
        }
    }

    /// An object that says that its row is gone has none.
    private func compareDeleted(_ object: DatabaseObject) throws {
        guard let id = object.objectID, !id.isTemporary, id.attributes.count == 1 else { return }
        let ref = GraphRef(table: id.entity.name, key: id.values.map(\.description))
        if picture.isStored(ref) { throw failure("\(ref) says that it is deleted, and has a row") }
    }

    private func describe(_ object: DatabaseObject) -> String {
        ref(object)?.description ?? "\(object) (deleted)"
    }

    private func list(_ refs: Set<GraphRef>) -> String {
        "[\(refs.sorted().map(\.description).joined(separator: ", "))]"
    }
}
