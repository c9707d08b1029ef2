import KindredPostgres
import KindredSchema

/// Loads a part of a relationship by one query for all owners, and answers from the loaded members while they are not
/// stale.
package struct PartLoader: Sendable {
    let core: ContextCore
    private let part: LoadedParts.Part
    private var relationship: RelationshipRuntime { part.query.relationship }

    init(_ core: ContextCore, _ part: LoadedParts.Part) { (self.core, self.part) = (core, part) }

    /// The loader of a part that is to be loaded.
    init(_ core: ContextCore, _ query: PartQuery) { self.init(core, core.willAsk(query)) }

    // MARK: Prefetching

    /// Loads the part for all objects that have not loaded it, or whose answers are stale: one SELECT.
    ///
    /// - Parameter leftOut: the members' columns that are left out; nil for the lazy ones.
    func load(forAll objects: [DatabaseObject], leavingOut leftOut: ColumnSet? = nil) async throws -> Answers {
        core.note(leavingOut: leftOut)
        try await follow()
        var answers = Answers(core: core, entity: relationship.destination)
        var groups: [ObjectIdentifier: FetchGroup] = [:]
        var owners: [(object: DatabaseObject, key: ObjectKey)] = []
        var keys = KeyNumbers()
        for object in objects where !object.isGone && !object.isInserted {
            let source = LinkSource(object, relationship)
            guard let key = try relationship.ownKey(source.storedRow) else { continue }
            let group = Loader(core).ownGroup(of: object)
            if let batch = current(object, key, of: source) {
                answers.owners[ObjectIdentifier(object)] = (batch, key)
                // An object that was fetched again has another group, and a refresh reads the part anew for that group.
                if group.members(part.slot, of: key)?.batch !== batch { group.keep(batch, part.slot) }
                continue
            }
            groups[ObjectIdentifier(group)] = group
            owners.append((object, key))
            keys.insert(key)
        }
        guard !owners.isEmpty else { return answers }
        let batch = try await ask(keys, leavingOut: leftOut)
        for group in groups.values { group.keep(batch, part.slot) }
        for (object, key) in owners {
            keep(batch, key, for: object)
            answers.owners[ObjectIdentifier(object)] = (batch, key)
        }
        return answers
    }

    /// The answers for the objects of one call, which uses them whatever becomes stale meanwhile.
    struct Answers {
        let core: ContextCore
        let entity: EntityRuntime
        fileprivate var owners: [ObjectIdentifier: (batch: Answer, key: ObjectKey)] = [:]

        fileprivate init(core: ContextCore, entity: EntityRuntime) { (self.core, self.entity) = (core, entity) }

        /// The members of an owner in their order; none for an object that is not stored.
        func members(of owner: DatabaseObject) -> [DatabaseObject] {
            guard let (batch, key) = owners[ObjectIdentifier(owner)], let members = batch.members(of: key) else {
                return []
            }
            return core.objects(members, of: entity, isFresh: true) ?? []
        }
    }

    // MARK: Asking

    /// The members of an owner whose part was loaded before, in their order; nil if it was not.
    ///
    /// A stale part is read anew, by one SELECT for the objects that the owner was read with.
    func members(of owner: DatabaseObject) async throws -> [DatabaseObject]? {
        guard !owner.isInserted, wasLoaded(owner, LinkSource(owner, relationship)) else { return nil }
        try await follow()
        let source = try await Refresher(core).source(of: relationship, from: owner)
        try owner.requireLive(source.status)
        guard let key = try relationship.ownKey(source.storedRow) else { return [] }
        if let batch = current(owner, key, of: source) {
            keep(batch, key, for: owner)
            return objects(batch, key)
        }
        let asker = Asker(self, in: source.group, at: source.position)
        let batch = try await asker.answer(for: key, ownKey: source.key)
        keep(batch, key, for: owner)
        return objects(batch, key)
    }

    private func wasLoaded(_ owner: DatabaseObject, _ source: LinkSource) -> Bool {
        if let batch = held(by: owner), batch.askedAt >= part.knownSince { return true }
        guard let key = try? relationship.ownKey(source.storedRow),
            let found = source.group?.members(part.slot, of: key)
        else { return false }
        return found.askedAt >= part.knownSince
    }

    /// The answer that an object holds.
    private func held(by owner: DatabaseObject) -> Answer? {
        owner.withState { $0.relationships[part.slot] }?.batch
    }

    /// The answer that an object or its group holds, if it is not stale.
    private func current(_ owner: DatabaseObject, _ key: ObjectKey, of source: LinkSource) -> Answer? {
        if let batch = held(by: owner), batch.contains(key), isCurrent(batch, key, ownKey: source.key) { return batch }
        guard let batch = source.group?.members(part.slot, of: key)?.batch,
            isCurrent(batch, key, ownKey: source.key)
        else { return nil }
        return batch
    }

    private func isCurrent(_ batch: Answer, _ key: ObjectKey, ownKey: ObjectKey?) -> Bool {
        core.isVisible(batch) && core.staleSince(part, key, ownKey: ownKey) <= batch.askedAt
    }

    // MARK: Answers

    private func follow() async throws {
        guard core.following != nil else { return }
        try await core.follow(relationship)
        // A view changes with its tables, which are not known.
        for entity in part.query.reads.entities.map({ core.runtime.entities[$0] }) where !entity.entity.isView {
            try await core.follow(entity)
        }
    }

    /// The members of some owners, regardless of loaded answers: one query, or where Citus distributes the members and
    /// each owner's are limited, one for each tenant.
    package static func batch(
        _ query: PartQuery, of owners: KeyNumbers, leavingOut leftOut: ColumnSet?, in core: ContextCore
    ) async throws -> Answer {
        let time = core.beginReading()
        let link = query.relationship
        let groups =
            query.limit == nil ? [owners.keys] : link.linkRows.tenantGroups(owners.keys, of: link.linkColumns) { $0 }
        var results: [(owners: [ObjectKey], result: QueryResult)] = []
        for owners in groups {
            let statement = try query.statement(for: owners, leavingOut: leftOut, in: core.runtime.schema)
            results.append((owners, try await core.read(statement, for: link.destination.name)))
        }
        return try members(in: results, of: query, owners).build(askedAt: core.counted(time), in: core.writing?.scope)
    }

    /// One query for the members of all owners with the given keys.
    private func ask(_ keys: KeyNumbers, leavingOut leftOut: ColumnSet?) async throws -> Answer {
        let entity = relationship.destination
        let batch = try await Self.batch(part.query, of: keys, leavingOut: leftOut, in: core)
        try core.take(batch, of: entity)
        // A member fulfils the part's condition by the row that was read, which its object has to show.
        for member in batch.rows {
            guard let object = core.liveObject(entity, member.key) else { continue }
            try core.take(member.row, for: object, readAt: batch.askedAt)
        }
        return batch
    }

    /// The members in results, by the owners' places in the last column.
    private static func members(
        in results: [(owners: [ObjectKey], result: QueryResult)], of query: PartQuery, _ owners: KeyNumbers
    ) throws -> Answer.Builder {
        let entity = query.relationship.destination
        var found = Answer.Builder(owners: owners, count: results.reduce(0) { $0 + $1.result.count })
        var places = KeyNumbers()
        var number: Int64 = 0
        for (owners, result) in results {
            let rows = try EntityRows(result, of: entity)
            for position in 0..<result.count {
                let place = try result.integer(row: position, column: entity.entity.attributes.count)
                guard let place = place.flatMap({ Int(exactly: $0) }), owners.indices.contains(place - 1) else {
                    continue
                }
                let row = try rows[position]
                // Objects without a key are never looked up; their position among all rows identifies them.
                number += 1
                let key = try entity.key.isEmpty ? .integer(number) : ObjectKey(row, entity.key)
                guard let key else { continue }
                if query.mayRepeatMembers {
                    let (member, isNew) = places.insert(key)
                    if !isNew {
                        found.share(member, with: owners[place - 1])
                        continue
                    }
                }
                found.append(key, row, to: owners[place - 1])
            }
        }
        return found
    }

    /// Keeps an answer with an object, so that it stays when the object joins another group.
    private func keep(_ batch: Answer, _ key: ObjectKey, for object: DatabaseObject) {
        guard held(by: object) !== batch, let members = batch.members(of: key) else { return }
        core.keep(.many(members), at: part.slot, of: object)
    }

    private func objects(_ batch: Answer, _ key: ObjectKey) -> [DatabaseObject] {
        guard let members = batch.members(of: key) else { return [] }
        // A part whose rows may have changed is stale; so the rows of an answer in use are the newest.
        return core.objects(members, of: relationship.destination, isFresh: true) ?? []
    }
}

extension PartLoader: Question {
    var slot: Int { part.slot }
    var isFoundByKey: Bool { relationship.ownColumns == relationship.source.key }

    func staleSince(_ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime { core.staleSince(part, key, ownKey: ownKey) }

    func candidate(_ element: FetchGroup.Element) throws -> ObjectKey? {
        switch element {
        case .member(let member): return try relationship.ownKey(member.row)
        case .key(let key):
            guard let object = core.liveObject(relationship.source, key) else { return nil }
            let source = LinkSource(object, relationship)
            guard source.status == .persistent, !source.isStale, let key = try relationship.ownKey(source.storedRow),
                held(by: object).map({ !isCurrent($0, key, ownKey: source.key) }) ?? true
            else { return nil }
            return key
        }
    }

    func ask(_ owners: KeyNumbers) async throws -> Answer { try await ask(owners, leavingOut: nil) }
}
