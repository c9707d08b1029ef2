package import KindredPostgres

/// A row of a loaded relationship with its key.
package struct Member: Sendable {
    package var key: ObjectKey
    package var row: Row
    /// Its place in the group that it was read with.
    package var position: Int32 = 0
}

/// The members of a loaded to-many relationship, in the order they were read, each once.
package struct LoadedMembers: Sendable {
    /// What they were read with; nil for those of an owner that had none to read.
    private let batch: LoadedBatch?
    /// Where they stand in the batch, until they change.
    private let range: Range<Int>
    /// The members once they have changed; nil where one was taken out, so that the others stay where they are.
    private var changed: [Member?]?
    /// Whether members of an ordered relationship may stand out of order, to be sorted when they are next read.
    package var isUnsorted = false
    /// How many were taken out of `changed`; beside the flag it takes no room of its own in an object.
    private var gapCount: Int32 = 0
    /// The context's clock at which nothing was lost of what they are.
    package var validAt: UInt64
    /// Positions by key; made at the first change or membership test, since most sets are only walked.
    private var positions: [ObjectKey: Int]?

    /// No members.
    init() {
        batch = nil
        range = 0..<0
        changed = []
        validAt = 0
    }

    init(_ batch: LoadedBatch, _ range: Range<Int>) {
        self.batch = batch
        self.range = range
        validAt = batch.askedAt
    }

    /// The rows that the members were read with.
    package var group: LoadGroup? { batch?.group }

    package var count: Int { changed.map { $0.count - Int(gapCount) } ?? range.count }

    /// All of them.
    package var members: [Member] { changed?.compactMap(\.self) ?? range.compactMap { batch?[$0] } }

    package var first: Member? {
        if let changed { return changed.lazy.compactMap(\.self).first }
        guard let batch, !range.isEmpty else { return nil }
        return batch[range.lowerBound]
    }

    /// Lends each member in turn.
    func forEach(_ body: (Member) -> Void) {
        if let changed {
            for case let member? in changed { body(member) }
        } else if let batch {
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
