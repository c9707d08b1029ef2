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
    /// The members once they have changed.
    private var changed: [Member]?
    /// Whether members of an ordered relationship may stand out of order, to be sorted when they are next read.
    package var isUnsorted = false
    /// Positions by key; made at the first change or membership test, since most sets are only walked.
    private var positions: [ObjectKey: Int]?

    /// No members.
    init() {
        batch = nil
        range = 0..<0
        changed = []
    }

    init(_ batch: LoadedBatch, _ range: Range<Int>) {
        self.batch = batch
        self.range = range
    }

    /// The rows that the members were read with.
    package var group: LoadGroup? { batch?.group }

    package var count: Int { changed?.count ?? range.count }

    /// All of them.
    package var members: [Member] { changed ?? range.compactMap { batch?[$0] } }

    package var first: Member? {
        if let changed { return changed.first }
        guard let batch, !range.isEmpty else { return nil }
        return batch[range.lowerBound]
    }

    /// Lends each member in turn.
    func forEach(_ body: (Member) -> Void) {
        if let changed {
            for member in changed { body(member) }
        } else if let batch {
            for place in range { body(batch[place]) }
        }
    }

    package mutating func contains(_ key: ObjectKey) -> Bool {
        indexed[key] != nil
    }

    package mutating func insert(_ member: Member) {
        let position = indexed[member.key]
        change { members in
            if let position { members[position].row = member.row } else { members.append(member) }
        }
        let last = count - 1
        if position == nil { positions?[member.key] = last }
    }

    /// Gives a member another key, at its place.
    package mutating func rekey(_ key: ObjectKey, to member: Member) {
        guard let position = indexed[key] else { return }
        change { members in
            members[position].key = member.key
            members[position].row = member.row
        }
        positions?[key] = nil
        positions?[member.key] = position
    }

    package mutating func remove(_ keys: Set<ObjectKey>) {
        guard keys.contains(where: { indexed[$0] != nil }) else { return }
        change { $0.removeAll { keys.contains($0.key) } }
        positions = nil
    }

    /// Puts the members in another order.
    package mutating func reorder(_ members: [Member]) {
        changed = members
        positions = nil
        isUnsorted = false
    }

    /// Changes the members in place.
    private mutating func change(_ body: (inout [Member]) -> Void) {
        var members = self.members
        changed = nil
        body(&members)
        changed = members
    }

    private var indexed: [ObjectKey: Int] {
        mutating get {
            if let positions { return positions }
            let made = Dictionary(members.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
            positions = made
            return made
        }
    }
}
