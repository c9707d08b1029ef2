package import KindredPostgres

/// A row of a loaded relationship with its key.
package struct Member: Sendable {
    package var key: ObjectKey
    package var row: Row
    /// Its place in the group that it was read with.
    package var position: Int32 = 0
}

/// The other end of a relationship as an owner shows it, in the order it was read, each member once: what the server
/// answered, which never changes, and what the context's log has made of it so far.
package struct LoadedMembers: Sendable {
    /// What was answered; empty for an owner that was new.
    let batch: LoadedBatch
    /// Where the owner's members stand in it.
    private let range: Range<Int>
    /// The members once they differ from the answer; nil where one was taken out, so that the others stay where they are.
    private var changed: [Member?]?
    /// Whether members of an ordered relationship may stand out of order.
    package var isUnsorted = false
    /// How many were taken out of `changed`; beside the flag it takes no room of its own in an object.
    private var gapCount: Int32 = 0
    /// The context's clock up to which the log has been taken in; nil if it has not been looked at.
    var shownAt: UInt64?
    /// How many transactions of the context had been undone then.
    var undoCount: UInt64 = 0
    /// Positions by key; made at the first change or membership test, since most sets are only walked.
    private var positions: [ObjectKey: Int]?

    /// No members.
    init(askedAt: UInt64 = 0) {
        self.init(.empty(askedAt: askedAt), 0..<0)
    }

    init(_ batch: LoadedBatch, _ range: Range<Int>) {
        self.batch = batch
        self.range = range
    }

    /// Takes back everything but the answer.
    mutating func reset() {
        (changed, positions, gapCount, isUnsorted) = (nil, nil, 0, false)
    }

    /// Whether the server answered that a row is a member.
    func wasAnswered(_ key: ObjectKey) -> Bool { range.contains { batch[$0].key == key } }

    /// The member that the server answered with a key.
    func answered(_ key: ObjectKey) -> Member? {
        range.first { batch[$0].key == key }.map { batch[$0] }
    }

    /// When the server was asked.
    var askedAt: UInt64 { batch.askedAt }

    /// The rows that the members were read with.
    package var group: LoadGroup? { batch.rows.isEmpty ? nil : batch.group }

    package var count: Int { changed.map { $0.count - Int(gapCount) } ?? range.count }

    /// All of them.
    package var members: [Member] { changed?.compactMap(\.self) ?? range.map { batch[$0] } }

    package var first: Member? {
        if let changed { return changed.lazy.compactMap(\.self).first }
        return range.isEmpty ? nil : batch[range.lowerBound]
    }

    /// The member that came last, which is the one where there can be but one.
    package var last: Member? {
        if let changed { return changed.lazy.reversed().compactMap(\.self).first }
        return range.isEmpty ? nil : batch[range.upperBound - 1]
    }

    /// Lends each member in turn.
    func forEach(_ body: (Member) -> Void) {
        if let changed {
            for case let member? in changed { body(member) }
        } else {
            for place in range { body(batch[place]) }
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

    /// Gives a member another key, at its place; where that one is there already, it is the same member.
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
            // Seldom, so that to take out many one by one does not move the others each time.
            guard 2 * gaps > members.count else { return false }
            members = members.filter { $0 != nil }
            return true
        }
        gapCount = isClosed ? 0 : Int32(clamping: gaps)
        if isClosed { positions = nil }
    }

    /// Puts the members in another order.
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
