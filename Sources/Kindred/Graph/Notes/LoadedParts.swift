import KindredPostgres

/// The parts of relationships that a context has loaded, with the times before which answers for them are stale.
///
/// A part is never corrected in memory, as a whole relationship is: a change that may concern it makes it stale, and it
/// is read anew.
struct LoadedParts: Sendable {
    struct Part: Sendable {
        let query: PartQuery
        /// The slot of its answers, which differs from the slots of whole relationships.
        let slot: Int
        /// The key of the members, whatever their order is; nil if it cannot be told.
        fileprivate let memberKey: PartQuery.Key?
        /// Answers for any owner asked before this time are stale.
        private var staleSince: ContextTime
        /// The times before which answers for some owners are stale.
        private var owners: [ObjectKey: ContextTime] = [:]
        /// The limit of owners, so that the memory of a long-lived context is bounded.
        private static let maximumOwners = 10_000

        fileprivate init(_ query: PartQuery, slot: Int, in runtime: SchemaRuntime, since time: ContextTime) {
            (self.query, self.slot, staleSince) = (query, slot, time)
            memberKey = try? query.memberKey(in: runtime.schema)
        }

        fileprivate func staleSince(_ owner: ObjectKey) -> ContextTime {
            owners.isEmpty ? staleSince : max(staleSince, owners[owner] ?? .never)
        }

        fileprivate mutating func noteAll(at time: ContextTime) {
            staleSince = max(staleSince, time)
            // An owner may have been noted later than that, since the rows of a query count from the time at which it
            // was sent.
            if !owners.isEmpty { owners = owners.filter { $0.value > staleSince } }
        }

        /// Notes a row that was stored (without a former row), changed, or deleted (without a new row).
        fileprivate mutating func note(_ entity: EntityRuntime, from old: Row?, to new: Row?, at time: ContextTime) {
            switch query.reads.concern(entity, from: old, to: new) {
            case .nothing: return
            case .owners(let concerned) where owners.count < Self.maximumOwners:
                for owner in concerned { owners[owner] = max(owners[owner] ?? .never, time) }
            // An owner may have been noted later than that.
            case .owners: noteAll(at: max(owners.values.max() ?? .never, time))
            case .rows, .everything: noteAll(at: time)
            }
        }
    }

    /// Above the slots of all relationships.
    private static let firstSlot = 1 << 20
    /// The limit of parts: the oldest are forgotten, so that they are asked for as if they had never been loaded.
    private static let maximumParts = 64

    private var parts: [Part] = []
    private var nextSlot = firstSlot

    /// The part of a query; it is noted if it is not known.
    ///
    /// - Parameter time: now. Earlier writes were not noted, and an answer that counts as older may lack them.
    mutating func part(_ query: PartQuery, in runtime: SchemaRuntime, at time: ContextTime) -> Part {
        if let known = parts.first(where: { $0.query.key == query.key && $0.query.limit == query.limit }) {
            return known
        }
        let part = Part(query, slot: nextSlot, in: runtime, since: time)
        nextSlot += 1
        if parts.count == Self.maximumParts { parts.removeFirst() }
        parts.append(part)
        return part
    }

    /// The parts whose members include a query's: with the same limit, or a greater limit.
    func parts(with query: PartQuery) -> [Part] { parts.filter { $0.query.key == query.key && $0.covers(query.limit) } }

    /// The parts whose members tell the number of a query's members; the query's key does not depend on the order.
    func parts(counting query: PartQuery, _ memberKey: PartQuery.Key) -> [Part] {
        parts.filter { $0.memberKey == memberKey && $0.covers(query.limit) }
    }

    /// Whether there are parts of a relationship.
    func hasParts(of relationship: RelationshipRuntime) -> Bool {
        parts.contains { $0.query.relationship === relationship }
    }

    /// Since when the answers for an owner are stale; always if the part is no longer known.
    func staleSince(_ slot: Int, _ owner: ObjectKey) -> ContextTime {
        parts.firstIndex { $0.slot == slot }.map { parts[$0].staleSince(owner) } ?? .forever
    }

    // MARK: Notes

    mutating func note(_ entity: EntityRuntime, from old: Row?, to new: Row?, at time: ContextTime) {
        for place in parts.indices { parts[place].note(entity, from: old, to: new, at: time) }
    }

    /// Notes that rows of an entity have changed, unknown which.
    mutating func noteLost(_ entity: EntityRuntime, at time: ContextTime) {
        for place in parts.indices where parts[place].query.reads.mayConcern(entity) { parts[place].noteAll(at: time) }
    }

    /// Notes that rows which store a relationship have changed, unknown which: answers for parts of that relationship itself
    /// are stale by the notes on its owners.
    mutating func noteLost(linksOf relationship: RelationshipRuntime, at time: ContextTime) {
        let link = relationship.linkRows
        for place in parts.indices where parts[place].query.reads.mayConcern(link) {
            let isOwn = parts[place].query.relationship === relationship && parts[place].query.reads.namesOwners(link)
            if !isOwn { parts[place].noteAll(at: time) }
        }
    }

    /// Notes that anything may have changed.
    mutating func noteAll(at time: ContextTime) {
        for place in parts.indices { parts[place].noteAll(at: time) }
    }
}

extension LoadedParts.Part {
    /// Whether the first members up to a limit are among the part's.
    fileprivate func covers(_ limit: Int?) -> Bool {
        guard let own = query.limit else { return true }
        return limit.map { $0 <= own } ?? false
    }
}
