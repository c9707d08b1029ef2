import KindredPostgres

/// The parts of relationships that a context has loaded, with the times before which answers for them are stale.
///
/// A part is never corrected in memory, as a whole relationship is: a change that may concern it makes it stale, and it
/// is read anew.
struct LoadedParts: Sendable {
    struct Part: Sendable {
        let query: PartQuery
        /// The number of parts that were known before it.
        fileprivate let number: Int
        /// Answers that were asked for before are another part's: it had the slot.
        let knownSince: ContextTime
        /// The key of the members, whatever their order is; nil if it cannot be told.
        fileprivate let memberKey: PartQuery.Key?
        /// Answers for any owner asked before this time are stale.
        private var staleSince: ContextTime
        /// The times before which answers for some owners are stale.
        private var owners: [ObjectKey: ContextTime] = [:]
        /// The limit of owners, so that the memory of a long-lived context is bounded.
        private static let maximumOwners = 10_000

        /// The entities whose changes may concern it.
        let entities: [EntityRuntime]
        /// The numbers of the log's next entries for each entity.
        private(set) var next: [Int]

        fileprivate init(_ query: PartQuery, number: Int, in runtime: SchemaRuntime, since time: ContextTime) {
            (self.query, self.number, knownSince, staleSince) = (query, number, time, time)
            memberKey = try? query.memberKey(in: runtime.schema)
            // Of a view any change may concern it: the time of the last change is looked at instead.
            entities = query.reads.isAnything ? [] : runtime.entities.filter(query.reads.mayConcern)
            next = entities.map { _ in 0 }
        }

        fileprivate func staleSince(_ owner: ObjectKey) -> ContextTime {
            owners.isEmpty ? staleSince : max(staleSince, owners[owner] ?? .never)
        }

        // MARK: Entries of the log

        /// Takes that everything has changed.
        mutating func takeAll(at time: ContextTime) {
            staleSince = max(staleSince, time)
            // An owner's time may be later, since the rows of a query count from the time at which it was sent.
            if !owners.isEmpty { owners = owners.filter { $0.value > staleSince } }
        }

        mutating func take(_ entries: ArraySlice<ChangeLog.Entry>, upTo end: Int, of entity: Int) {
            for entry in entries { take(entry) }
            next[entity] = end
        }

        private mutating func take(_ entry: ChangeLog.Entry) {
            let time = entry.countsFrom
            switch entry.event {
            case .row(let change, _): take(query.reads.concern(change), at: time)
            case .pair: takeAll(at: time)
            // The change of the row has an entry of its own.
            case .gap(let gap) where gap.isMove: break
            case .gap(let gap):
                // The members of the relationship itself are asked for by its owners.
                if case .members(query.relationship, _) = gap.rows, query.reads.namesOwners(gap.entity) { return }
                takeAll(at: time)
            }
        }

        private mutating func take(_ concern: Reads.Concern, at time: ContextTime) {
            switch concern {
            case .nothing: return
            case .owners(let concerned) where owners.count < Self.maximumOwners:
                for owner in concerned { owners[owner] = max(owners[owner] ?? .never, time) }
            // An owner's time may be later.
            case .owners: takeAll(at: max(owners.values.max() ?? .never, time))
            case .rows, .everything: takeAll(at: time)
            }
        }
    }

    /// Above the slots of all relationships.
    fileprivate static let firstSlot = 1 << 20
    /// The limit of parts: the oldest are forgotten, so that they are asked for as if they had never been loaded.
    fileprivate static let maximumParts = 64

    private var parts: [Part] = []
    /// The time of the log up to which entries were taken.
    var takenAt: ContextTime = .never
    /// The number of parts that were ever known.
    private var count = 0

    /// The part of a query, known from now on.
    ///
    /// - Parameter time: now. Earlier writes may not be in the log, and an answer that counts as older may lack them.
    mutating func part(_ query: PartQuery, in runtime: SchemaRuntime, at time: ContextTime) -> Part {
        if let known = parts.first(where: { $0.query.key == query.key && $0.query.limit == query.limit }) {
            return known
        }
        let part = Part(query, number: count, in: runtime, since: time)
        if parts.count < Self.maximumParts { parts.append(part) } else { parts[count % Self.maximumParts] = part }
        count += 1
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
    func staleSince(_ part: Part, _ owner: ObjectKey) -> ContextTime {
        let known = parts[part.number % Self.maximumParts]
        return known.number == part.number ? known.staleSince(owner) : .forever
    }

    /// Takes the entries of the log that are new to each part.
    ///
    /// - Parameter entries: the entries on an entity's rows from a number on, and the number of the next entry; nil for none.
    mutating func take(_ entries: (EntityRuntime, Int) -> (new: ArraySlice<ChangeLog.Entry>, end: Int)?) {
        for place in parts.indices {
            for (number, entity) in parts[place].entities.enumerated() {
                guard let (new, end) = entries(entity, parts[place].next[number]) else { continue }
                parts[place].take(new, upTo: end, of: number)
            }
        }
    }
}

extension LoadedParts.Part {
    /// The slot of its answers, which differs from the slots of whole relationships.
    ///
    /// Used again by later parts, so that objects and groups keep the answers of no more parts than are known.
    var slot: Int { LoadedParts.firstSlot + number % LoadedParts.maximumParts }

    /// Whether the first members up to a limit are among the part's.
    fileprivate func covers(_ limit: Int?) -> Bool {
        guard let own = query.limit else { return true }
        return limit.map { $0 <= own } ?? false
    }
}
