package import KindredPostgres

/// A row of a loaded relationship with its key.
package struct Member: Sendable {
    package var key: ObjectKey
    package var row: Row
    /// Its position in the group that it was read with.
    package var position: Int32 = 0

    package init(key: ObjectKey, row: Row, position: Int32 = 0) {
        (self.key, self.row, self.position) = (key, row, position)
    }
}

/// The other end of a relationship as an owner shows it, in the order it was read, each member once: the server's
/// answer, which is immutable, and the changes that the context's log has made to it.
package struct LoadedMembers: Sendable {
    /// The answer; empty for a new owner.
    let batch: Answer
    /// The range of the owner's members in it.
    private let range: Range<Int>
    /// The members once they differ from the answer; nil for a removed one, so that the others keep their places.
    private var changed: [Member?]?
    /// Whether members of an ordered relationship may be out of order.
    package var isUnsorted = false
    /// The number of nils in `changed`; 32 bits beside the flag take no extra room in an object.
    private var gapCount: Int32 = 0
    /// The time up to which the log has been applied; nil for not at all.
    var seenAt: ContextTime?
    /// The number of undone transactions of the context at that time.
    var undoCount: UInt64 = 0
    /// Positions by key; built at the first change or membership test, since most sets are only iterated.
    private var positions: [ObjectKey: Int]?

    /// No members.
    init(askedAt: ContextTime = .never) {
        self.init(.empty(askedAt: askedAt), 0..<0)
    }

    init(_ batch: Answer, _ range: Range<Int>) {
        self.batch = batch
        self.range = range
    }

    /// Drops everything but the answer.
    mutating func reset() {
        (changed, positions, gapCount, isUnsorted) = (nil, nil, 0, false)
    }

    /// Whether a row is a member in the server's answer.
    func wasAnswered(_ key: ObjectKey) -> Bool { range.contains { batch[$0].key == key } }

    /// The member with a key in the server's answer.
    func answered(_ key: ObjectKey) -> Member? {
        range.first { batch[$0].key == key }.map { batch[$0] }
    }

    /// When the server was queried.
    var askedAt: ContextTime { batch.askedAt }

    /// The rows that the members were read with.
    package var group: FetchGroup? { batch.rows.isEmpty ? nil : batch.group }

    package var count: Int { changed.map { $0.count - Int(gapCount) } ?? range.count }

    package var members: [Member] { changed?.compactMap(\.self) ?? range.map { batch[$0] } }

    package var first: Member? {
        if let changed { return changed.lazy.compactMap(\.self).first }
        return range.isEmpty ? nil : batch[range.lowerBound]
    }

    /// The last member, which is the current one of a relationship with at most one.
    package var last: Member? {
        if let changed { return changed.lazy.reversed().compactMap(\.self).first }
        return range.isEmpty ? nil : batch[range.upperBound - 1]
    }

    /// Calls `body` with each member.
    func forEach(_ body: (Member) -> Void) {
        if let changed {
            for case let member? in changed { body(member) }
        } else {
            batch.forEach(at: range, body)
        }
    }

    package mutating func contains(_ key: ObjectKey) -> Bool {
        position(of: key) != nil
    }

    package mutating func insert(_ member: Member) {
        if let position = position(of: member.key) {
            change { $0[position]?.row = member.row }
        } else {
            let position = change { members in
                members.append(member)
                return members.count - 1
            }
            positions?[member.key] = position
        }
    }

    /// Gives a member another key, at its place; if that key is there already, the two are the same member.
    package mutating func rekey(_ key: ObjectKey, to member: Member) {
        guard let position = position(of: key) else { return }
        if key != member.key, contains(member.key) {
            remove([key])
            return insert(member)
        }
        change { members in
            members[position]?.key = member.key
            members[position]?.row = member.row
        }
        positions?[key] = nil
        positions?[member.key] = position
    }

    package mutating func remove(_ keys: Set<ObjectKey>) {
        let places = keys.compactMap { position(of: $0) }
        guard !places.isEmpty else { return }
        for key in keys { positions?[key] = nil }
        let gaps = Int(gapCount) + places.count
        let isClosed = change { members in
            for place in places { members[place] = nil }
            // Compacts rarely, so that many single removals do not move the rest each time.
            guard 2 * gaps > members.count else { return false }
            members = members.filter { $0 != nil }
            return true
        }
        gapCount = isClosed ? 0 : Int32(clamping: gaps)
        if isClosed { positions = nil }
    }

    /// Replaces the order of the members.
    package mutating func reorder(_ members: [Member]) {
        changed = members
        (gapCount, positions) = (0, nil)
        isUnsorted = false
    }

    /// Changes the members in place.
    private mutating func change<T>(_ body: (inout [Member?]) -> T) -> T {
        var members = changed ?? members
        changed = nil
        defer { changed = members }
        return body(&members)
    }

    private mutating func position(of key: ObjectKey) -> Int? {
        if positions == nil {
            let entries = (changed ?? members).enumerated().compactMap { place, member in member.map { ($0.key, place) }
            }
            positions = Dictionary(entries, uniquingKeysWith: { first, _ in first })
        }
        return positions?[key]
    }
}
