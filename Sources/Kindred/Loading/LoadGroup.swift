import KindredPostgres
import Synchronization

/// Rows that were read together and stay together: the first access to a relationship of one of them loads it for all,
/// so that a loop over them never sends a query per turn.
///
/// Up to `wholeGroup` distinct keys are loaded at once. A larger group is loaded in slices, in the order it was read,
/// beginning with the object that was touched; each slice is twice as large as the one before, so that touching one of
/// 100,000 objects costs a small slice and walking all of them a handful of queries.
package final class LoadGroup: Sendable {
    /// What was read together.
    enum Elements: Sendable {
        /// Rows that somebody may hold objects of, by their keys, each one integer.
        case integers([Int64])
        /// Rows that somebody may hold objects of, by their keys; nil for one whose key has a NULL.
        case keys([ObjectKey?])
        /// Objects without keys that somebody may hold.
        case objects([WeakObject])
        /// Rows that a loaded relationship holds.
        case members([Member])

        /// The key at a position; nil where there is none.
        func key(at position: Int) -> ObjectKey? {
            switch self {
            case .integers(let integers): .integer(integers[position])
            case .keys(let keys): keys[position]
            case .members(let members): members[position].key
            case .objects: nil
            }
        }
    }

    struct WeakObject: Sendable {
        weak var object: DatabaseObject?
    }

    /// The rows that one query found for many owners.
    struct OwnedMembers: Sendable {
        /// Each row once, however many owners share it.
        private(set) var distinct: [Member] = []
        /// The rows of each owner, which know their places in `distinct`.
        private(set) var byOwner: [ObjectKey: [Member]] = [:]

        /// Adds a row that is not there yet, for an owner.
        mutating func append(_ key: ObjectKey, _ row: Row, to owner: ObjectKey) {
            let member = Member(key: key, row: row, position: Int32(clamping: distinct.count))
            distinct.append(member)
            byOwner[owner, default: []].append(member)
        }

        /// Adds a row that another owner has too.
        mutating func share(_ place: Int, with owner: ObjectKey) {
            byOwner[owner, default: []].append(distinct[place])
        }

        /// The rows of some of the owners.
        func filtered(_ owners: Set<ObjectKey>) -> OwnedMembers {
            var result = OwnedMembers()
            var places: [ObjectKey: Int] = [:]
            for (owner, members) in byOwner where owners.contains(owner) {
                for member in members {
                    if let place = places[member.key] {
                        result.share(place, with: owner)
                    } else {
                        places[member.key] = result.distinct.count
                        result.append(member.key, member.row, to: owner)
                    }
                }
            }
            return result
        }
    }

    /// What the group knows of one owner's relationship.
    struct Loaded: Sendable {
        let members: [Member]
        /// The group that the members form with those of the other owners.
        let group: LoadGroup
        let askedAt: UInt64
    }

    static let wholeGroup = 1_000
    static let firstSlice = 128

    private struct Slot {
        var nextSlice = LoadGroup.firstSlice
        var loaded: [ObjectKey: Loaded] = [:]
        /// Keys that another task is loading, and who waits for them.
        var running: [Running] = []
        /// What was asked for before is outdated.
        var validSince: UInt64 = 0
    }

    private final class Running: Sendable {
        let keys: Set<ObjectKey>
        let waiters = Mutex<(isDone: Bool, continuations: [CheckedContinuation<Void, Never>])>((false, []))

        init(keys: Set<ObjectKey>) {
            self.keys = keys
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isDone = waiters.withLock { state in
                    if !state.isDone { state.continuations.append(continuation) }
                    return state.isDone
                }
                if isDone { continuation.resume() }
            }
        }

        func finish() {
            let continuations = waiters.withLock { state in
                state.isDone = true
                defer { state.continuations = [] }
                return state.continuations
            }
            for continuation in continuations { continuation.resume() }
        }
    }

    let elements: Elements
    private let slots = Mutex<[Int: Slot]>([:])

    init(_ elements: Elements) {
        self.elements = elements
    }

    var count: Int {
        switch elements {
        case .integers(let integers): integers.count
        case .keys(let keys): keys.count
        case .objects(let objects): objects.count
        case .members(let members): members.count
        }
    }

    /// What is known of the owner with the given key.
    func loaded(_ slot: Int, _ key: ObjectKey) -> Loaded? {
        slots.withLock { $0[slot]?.loaded[key] }
    }

    /// Forgets what a slot was told before a time, so that it is loaded anew for the whole group.
    func forget(_ slot: Int, before time: UInt64) {
        slots.withLock { slots in
            guard var state = slots[slot], time > state.validSince else { return }
            state.validSince = time
            state.loaded = state.loaded.filter { $0.value.askedAt >= time }
            slots[slot] = state
        }
    }

    /// Forgets everything, because it was read inside a transaction that failed.
    func forget() {
        slots.withLock { $0 = [:] }
    }

    /// Loads a slot for the owner with the given key and for others of the group, once however many tasks ask.
    ///
    /// - Parameters:
    ///   - position: the owner's place in the group, where the slice begins.
    ///   - candidate: the key by which an element's relationship is found; nil if there is nothing to load.
    ///   - load: reads the members of the given owners with one query.
    func load(
        _ slot: Int,
        _ key: ObjectKey,
        from position: Int,
        candidate: (Element) throws -> ObjectKey?,
        load: ([ObjectKey]) async throws -> (members: OwnedMembers, askedAt: UInt64)
    ) async throws -> Loaded {
        while true {
            enum Step {
                case known(Loaded)
                case wait(Running)
                case load(Running)
            }
            let step: Step = try slots.withLock { slots in
                var state = slots[slot, default: Slot()]
                if let known = state.loaded[key] { return .known(known) }
                if let running = state.running.first(where: { $0.keys.contains(key) }) { return .wait(running) }
                let running = Running(keys: try slice(key, from: position, &state, candidate))
                state.running.append(running)
                slots[slot] = state
                return .load(running)
            }
            switch step {
            case .known(let loaded): return loaded
            case .wait(let running): await running.wait()
            case .load(let running):
                defer {
                    slots.withLock { $0[slot]?.running.removeAll { $0 === running } }
                    running.finish()
                }
                let (members, askedAt) = try await load(Array(running.keys))
                return keep(members, running.keys, slot, askedAt, wanted: key)
            }
        }
    }

    func keep(
        _ members: OwnedMembers,
        _ keys: Set<ObjectKey>,
        _ slot: Int,
        _ askedAt: UInt64,
        wanted: ObjectKey
    ) -> Loaded {
        let group = LoadGroup(.members(members.distinct))
        func loaded(_ key: ObjectKey) -> Loaded {
            Loaded(members: members.byOwner[key] ?? [], group: group, askedAt: askedAt)
        }
        slots.withLock { slots in
            var state = slots.removeValue(forKey: slot) ?? Slot()
            state.loaded.reserveCapacity(state.loaded.count + keys.count)
            for key in keys { state.loaded[key] = loaded(key) }
            slots[slot] = state
        }
        return loaded(wanted)
    }

    /// An element as the loader sees it: an object, the key of one that may be in memory, or a row.
    enum Element {
        case key(ObjectKey)
        case object(DatabaseObject)
        case member(Member)
    }

    private func element(at position: Int) -> Element? {
        switch elements {
        case .integers(let integers): .key(.integer(integers[position]))
        case .keys(let keys): keys[position].map(Element.key)
        case .objects(let objects): objects[position].object.map(Element.object)
        case .members(let members): .member(members[position])
        }
    }

    private func slice(
        _ key: ObjectKey,
        from position: Int,
        _ state: inout Slot,
        _ candidate: (Element) throws -> ObjectKey?
    ) throws -> Set<ObjectKey> {
        let enough = max(Self.wholeGroup, state.nextSlice)
        var found: [ObjectKey] = [key]
        var keys: Set<ObjectKey> = [key]
        let count = count
        for step in 0..<count where found.count <= enough {
            guard let element = element(at: (position + step) % count), let other = try candidate(element),
                state.loaded[other] == nil, !state.running.contains(where: { $0.keys.contains(other) })
            else { continue }
            if keys.insert(other).inserted { found.append(other) }
        }
        if state.loaded.isEmpty && state.running.isEmpty && found.count <= Self.wholeGroup { return keys }
        defer { state.nextSlice *= 2 }
        return Set(found.prefix(state.nextSlice))
    }
}
