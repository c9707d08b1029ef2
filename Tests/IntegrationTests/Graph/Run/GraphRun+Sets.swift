import Kindred
import TestSupport

// Steps that change relationships.
extension GraphRun {
    func setToOne(_ random: inout SeededGenerator) async throws {
        guard let relation = pickRelation(&random, where: { !$0.isToMany }), let owner = pick(relation.table, &random)
        else { return }
        var target: GraphRef?
        if random.chance(80) { target = pick(relation.target, &random) }
        if case .holds(let key) = relation.link, key.isInPrimaryKey, !owner.isNew, target?.isNew == true { return }
        let source = try await object(owner, &random)
        var given: DatabaseObject?
        if let target { given = try await object(target, &random) }
        _ = try await holdPartners(relation, owner, target.map { [$0] } ?? [], &random)
        say("\(owner).setValue(\(target?.description ?? "nil"), forKey: \(relation.name))")
        switch relation.link {
        case .holds(let key): expected.point(key, owner, to: target)
        case .members(let key):
            for partner in picture.members(relation, of: owner) where partner != target {
                expected.point(key, partner, to: nil)
            }
            if let target { expected.point(key, target, to: owner) }
        case .pairs: break
        }
        try await source.setValue(given, forKey: relation.name)
    }

    /// A to-many relationship, and an object that has it.
    private func pickSet(_ random: inout SeededGenerator) async throws -> (
        relation: GraphRelation, owner: GraphRef, set: ToMany<DatabaseObject>
    )? {
        guard let relation = pickRelation(&random, where: \.isToMany), let owner = pick(relation.table, &random) else {
            return nil
        }
        let object = try await object(owner, &random)
        return (relation, owner, try await object.set(forKey: relation.name))
    }

    /// Objects that could join or leave, members among them.
    private func pickMembers(
        _ relation: GraphRelation, _ owner: GraphRef, _ random: inout SeededGenerator
    ) -> [GraphRef] {
        var all = picture.refs(relation.target)
        if case .members(let key) = relation.link, key.isInPrimaryKey, owner.isNew { all = all.filter(\.isNew) }
        let members = picture.members(relation, of: owner)
        if random.chance(30), !members.isEmpty { return pickSome(members, atMost: 3, &random) }
        return pickSome(all, atMost: 3, &random)
    }

    func join(_ random: inout SeededGenerator) async throws {
        guard let (relation, owner, set) = try await pickSet(&random) else { return }
        var refs = pickMembers(relation, owner, &random)
        let isOne = random.chance(50)
        if isOne { refs = Array(refs.prefix(1)) }
        let members = try await objects(refs, &random)
        guard let first = members.first else { return }
        if let payload = relation.payload, random.chance(90) {
            let value = Int.random(in: 1...9, using: &random)
            say("\(owner).\(relation.name).insert(\(refs[0]), through: \(value))")
            try await set.insert(first, through: [payload: value])
            return expected.join(relation, owner, refs[0], payload: "\(value)")
        }
        for ref in refs { expected.join(relation, owner, ref) }
        if relation.position != nil, random.chance(60) {
            let count = picture.members(relation, of: owner).subtracting(refs).count
            let place = Int.random(in: 0...count, using: &random)
            say("\(owner).\(relation.name).insert(contentsOf: \(refs), at: \(place))")
            try await set.insert(contentsOf: members, at: place)
        } else if isOne {
            say("\(owner).\(relation.name).insert(\(refs[0]))")
            try await set.insert(first)
        } else {
            say("\(owner).\(relation.name).formUnion(\(refs))")
            try await set.formUnion(members)
        }
    }

    func leave(_ random: inout SeededGenerator) async throws {
        guard let (relation, owner, set) = try await pickSet(&random) else { return }
        let refs = pickMembers(relation, owner, &random)
        let members = try await objects(refs, &random)
        guard let first = members.first else { return }
        if random.chance(50) {
            say("\(owner).\(relation.name).remove(\(refs[0]))")
            expected.leave(relation, owner, refs[0])
            try await set.remove(first)
        } else {
            say("\(owner).\(relation.name).subtract(\(refs))")
            for ref in refs { expected.leave(relation, owner, ref) }
            try await set.subtract(members)
        }
    }

    func leaveAll(_ random: inout SeededGenerator) async throws {
        guard let (relation, owner, set) = try await pickSet(&random) else { return }
        for ref in picture.members(relation, of: owner) { expected.leave(relation, owner, ref) }
        if random.chance(50) {
            say("\(owner).\(relation.name).removeAll()")
            try await set.removeAll()
        } else {
            say("\(owner).setValue(nil, forKey: \(relation.name))")
            try await set.owner.setValue(nil, forKey: relation.name)
        }
    }

    func replace(_ random: inout SeededGenerator) async throws {
        guard let (relation, owner, set) = try await pickSet(&random) else { return }
        var refs = pickMembers(relation, owner, &random)
        let present = picture.members(relation, of: owner)
        if random.chance(40), let one = pick(present, &random), !refs.contains(one) { refs.append(one) }
        let members = try await objects(refs, &random)
        for ref in present where !refs.contains(ref) { expected.leave(relation, owner, ref) }
        for ref in refs { expected.join(relation, owner, ref) }
        if random.chance(50) {
            say("\(owner).\(relation.name).set(\(refs))")
            try await set.set(members)
        } else {
            say("\(owner).setValue(\(refs), forKey: \(relation.name))")
            try await set.owner.setValue(members, forKey: relation.name)
        }
    }

    /// Moves a member of an ordered relationship, or takes one out by its place.
    func order(_ random: inout SeededGenerator) async throws {
        guard let relation = GraphSchema.relations.first(where: { $0.position != nil }),
            let owner = pick(relation.table, &random)
        else { return }
        let set = try await object(owner, &random).set(forKey: relation.name)
        let places = picture.members(relation, of: owner).count
        guard places > 0 else { return }
        let from = Int.random(in: 0..<places, using: &random)
        if random.chance(60) {
            let to = Int.random(in: 0..<places, using: &random)
            // A member that is only staged to join cannot be moved among stored members.
            let shown = try await set.objects
            guard shown.indices.contains(from), let moved = ref(shown[from]),
                picture.unstaged.members(relation, of: owner).contains(moved)
            else { return }
            say("\(owner).\(relation.name).move(from: \(from), to: \(to))")
            try await set.move(from: from, to: to)
        } else {
            say("\(owner).\(relation.name).remove(at: \(from))")
            let member = try await set.remove(at: from)
            guard let ref = ref(member), picture.members(relation, of: owner).contains(ref) else {
                throw failure("remove(at:) took out \(member), which was no member")
            }
            touched.append(member)
            expected.leave(relation, owner, ref)
        }
    }
}
