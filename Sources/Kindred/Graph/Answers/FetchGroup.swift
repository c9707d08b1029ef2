import KindredPostgres
import Synchronization

/// Rows that were read together: the first access to a relationship of one row loads it for all, so that a loop over
/// them does not send a query per iteration.
///
/// Up to `wholeGroup` distinct keys are loaded at once. A larger group is loaded in slices, in the order it was read,
/// beginning with the object that was accessed. Each slice is twice as large as the slice before, so that an access to
/// one of 100,000 objects costs a small slice, and a loop over all of them a handful of queries.
package final class FetchGroup: Sendable {
    /// The rows that were read together.
    enum Elements: Sendable {
        /// Rows by integer keys; they may have objects.
        case integers([Int64])
        /// Rows by key, nil for a key with a NULL; they may have objects.
        case keys([ObjectKey?])
        /// Rows without keys, as long as they have objects; their positions identify them.
        case unkeyed(count: Int, row: @Sendable (Int) -> Row?)
        /// Rows that a loaded relationship holds.
        case members([Member])

        /// The key at a position; nil if there is none.
        func key(at position: Int) -> ObjectKey? {
            switch self {
            case .integers(let integers): .integer(integers[position])
            case .keys(let keys): keys[position]
            case .members(let members): members[position].key
            case .unkeyed: nil
            }
        }
    }

    static let wholeGroup = 1_000
    static let firstSlice = 128

    /// The limit of batches, so that a group whose objects are prefetched one by one stays fast.
    private static let maximumBatches = 32

    /// The number of valid owners that the search for stale owners may skip.
    private static let maximumSkipped = 64

    /// The loaded state of one relationship.
    private struct Slot {
        let slot: Int
        var nextSlice = FetchGroup.firstSlice
        /// The answers, the latest last.
        var batches: [Answer] = []
        /// Running loads, with their keys and waiters.
        var running: [Running] = []
        /// Answers asked before were dropped.
        var staleSince: ContextTime = .never

        func members(of key: ObjectKey) -> LoadedMembers? {
            for place in batches.indices.reversed() where !batches[place].isUndone {
                if let members = batches[place].members(of: key) { return members }
            }
            return nil
        }

        /// The latest batch that has an owner.
        func batch(of key: ObjectKey) -> Answer? {
            for place in batches.indices.reversed() where batches[place].contains(key) && !batches[place].isUndone {
                return batches[place]
            }
            return nil
        }

        /// Whether a key has been loaded since a time, or is being loaded.
        func isAskedFor(_ key: ObjectKey, since time: ContextTime = .never) -> Bool {
            if let batch = batch(of: key), batch.askedAt >= time { return true }
            return running.contains { $0.keys.number(of: key) != nil }
        }
    }

    private final class Running: Sendable {
        let keys: KeyNumbers
        /// The transaction or savepoint that it is part of.
        let scope: ObjectIdentifier?
        let end = AsyncLatch()

        init(keys: KeyNumbers, scope: ObjectIdentifier?) {
            self.keys = keys
            self.scope = scope
        }
    }

    let elements: Elements
    /// The time at which the rows were read.
    let askedAt: ContextTime
    /// The relationships with state: few, so that a list is faster than a dictionary.
    private let slots = RankedMutex<[Slot]>([], .fetchGroup)

    init(_ elements: Elements, askedAt: ContextTime) {
        self.elements = elements
        self.askedAt = askedAt
    }

    var count: Int {
        switch elements {
        case .integers(let integers): integers.count
        case .keys(let keys): keys.count
        case .unkeyed(let count, _): count
        case .members(let members): members.count
        }
    }

    /// The members loaded for the owner with the given key; nil if none are.
    func members(_ slot: Int, of key: ObjectKey) -> LoadedMembers? {
        slots.withLock { slots in
            for place in slots.indices where slots[place].slot == slot { return slots[place].members(of: key) }
            return nil
        }
    }

    /// Drops the answers of a slot read before a time, so that it is loaded again for the whole group.
    func forget(_ slot: Int, before time: ContextTime) {
        slots.withLock { slots in
            for place in slots.indices where slots[place].slot == slot && time > slots[place].staleSince {
                slots[place].staleSince = time
                slots[place].batches.removeAll { $0.askedAt < time }
            }
        }
    }

    /// Changes the state of a relationship.
    private func withSlot<T>(_ slot: Int, _ body: (inout Slot) throws -> sending T) rethrows -> sending T {
        try slots.withLock { slots in
            if let place = slots.firstIndex(where: { $0.slot == slot }) { return try body(&slots[place]) }
            slots.append(Slot(slot: slot))
            return try body(&slots[slots.count - 1])
        }
    }

    /// Loads a slot for the owner with the given key and for other owners of the group, once for any number of tasks.
    ///
    /// A task never waits for a load in another scope: the wait could deadlock, or expose uncommitted rows.
    ///
    /// - Parameters:
    ///   - staleSince: the time before which answers for the owner are stale.
    ///   - position: the owner's position in the group, where the slice begins.
    ///   - scope: the transaction or savepoint that the task is in.
    ///   - isFoundByKey: whether elements are loaded by their own keys.
    ///   - candidate: the key by which an element's relationship is loaded; nil if there is nothing to load.
    ///   - stale: the time before which answers for an element with such a key are stale.
    ///   - load: loads the slot for the given owners with one query.
    func load(
        _ slot: Int,
        _ key: ObjectKey,
        staleSince: ContextTime,
        from position: Int,
        in scope: ObjectIdentifier?,
        isFoundByKey: Bool,
        candidate: (Element) throws -> ObjectKey?,
        stale: (Element, ObjectKey) -> ContextTime,
        load: (KeyNumbers) async throws -> Answer
    ) async throws -> Answer {
        while true {
            enum Step {
                case known(Answer)
                case wait(Running)
                case load(Running)
                case loadAlone
            }
            let step: Step = try withSlot(slot) { state in
                let known = state.batch(of: key)
                if let known, known.askedAt >= staleSince { return .known(known) }
                if let running = state.running.first(where: { $0.keys.number(of: key) != nil }) {
                    return running.scope == scope ? .wait(running) : .loadAlone
                }
                let keys =
                    known == nil
                    ? try slice(key, from: position, in: &state, isFoundByKey: isFoundByKey, candidate: candidate)
                    : try outdated(key, from: position, in: state, candidate: candidate, stale: stale)
                let running = Running(keys: keys, scope: scope)
                state.running.append(running)
                return .load(running)
            }
            switch step {
            case .known(let batch): return batch
            case .wait(let running): await running.end.waitShielded()
            case .loadAlone: return try await load(KeyNumbers([key]))
            case .load(let running):
                defer {
                    withSlot(slot) { $0.running.removeAll { $0 === running } }
                    running.end.open()
                }
                let batch = try await load(running.keys)
                keep(batch, slot)
                return batch
            }
        }
    }

    /// Keeps an answer for owners of the group.
    func keep(_ batch: Answer, _ slot: Int) {
        withSlot(slot) { state in
            if state.batches.count == Self.maximumBatches { state.batches.removeFirst() }
            state.batches.append(batch)
        }
    }

    /// An element as the loader sees it: the key of a row that may have an object, or a row.
    enum Element {
        case key(ObjectKey)
        case member(Member)

        /// The key of the row.
        var key: ObjectKey? {
            switch self {
            case .key(let key): key
            case .member(let member): member.key
            }
        }
    }

    private func element(at position: Int) -> Element? {
        switch elements {
        case .integers(let integers): .key(.integer(integers[position]))
        case .keys(let keys): keys[position].map(Element.key)
        case .unkeyed(_, let row):
            row(position).map { .member(Member(key: .integer(Int64(position)), row: $0)) }
        case .members(let members): .member(members[position])
        }
    }

    private func slice(
        _ key: ObjectKey,
        from position: Int,
        in state: inout Slot,
        isFoundByKey: Bool,
        candidate: (Element) throws -> ObjectKey?
    ) throws -> KeyNumbers {
        // The first load: the group may be small enough to be loaded at once.
        let isFirst = state.batches.isEmpty && state.running.isEmpty
        let enough = isFirst ? Self.wholeGroup + 1 : state.nextSlice
        let count = count
        var keys = KeyNumbers()
        keys.reserve(min(enough, count))
        keys.insert(key)
        for step in 0..<count where keys.count < enough {
            let place = (position + step) % count
            if isFoundByKey, let key = elements.key(at: place), state.isAskedFor(key) { continue }
            guard let element = element(at: place), let other = try candidate(element),
                isFoundByKey || !state.isAskedFor(other)
            else { continue }
            keys.insert(other)
        }
        if isFirst && keys.count <= Self.wholeGroup { return keys }
        defer { state.nextSlice *= 2 }
        return KeyNumbers(keys.keys.prefix(state.nextSlice))
    }
    /// The keys of stale owners, beginning with the given one.
    ///
    /// The search starts behind it and stops where most owners are valid: one owner that is changed and read repeatedly
    /// must not cost a scan of the group each time.
    private func outdated(
        _ key: ObjectKey,
        from position: Int,
        in state: Slot,
        candidate: (Element) throws -> ObjectKey?,
        stale: (Element, ObjectKey) -> ContextTime
    ) throws -> KeyNumbers {
        let count = count
        var keys = KeyNumbers()
        keys.insert(key)
        var skipped = 0
        for step in 0..<count where keys.count < Self.wholeGroup {
            guard skipped <= Self.maximumSkipped + keys.count else { break }
            if let element = element(at: (position + step) % count), let other = try candidate(element),
                !state.isAskedFor(other, since: stale(element, other))
            {
                keys.insert(other)
            } else {
                skipped += 1
            }
        }
        return keys
    }
}
