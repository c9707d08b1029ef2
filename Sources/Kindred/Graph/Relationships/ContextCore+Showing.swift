import KindredPostgres
import KindredSchema
import Synchronization

// Builds the visible members of an owner's relationship: the server's answer, updated by the log entries since, and the staged
// changes over it.
extension ContextCore {
    /// The members in memory, from the owner or from its group; nil if they must be read.
    func loadedMembers(of relationship: RelationshipRuntime, owner: DatabaseObject) -> LoadedMembers? {
        loadedMembers(of: relationship, owner: owner, LinkSource(owner, relationship))
    }

    package func loadedMembers(
        of relationship: RelationshipRuntime, owner: DatabaseObject, _ source: __shared LinkSource
    ) -> LoadedMembers? {
        storedMembers(of: relationship, owner: owner, source).map { withStaged($0, in: relationship, of: owner) }
    }

    /// The members in memory without staged changes.
    private func storedMembers(
        of relationship: RelationshipRuntime, owner: DatabaseObject, _ source: __shared LinkSource
    ) -> LoadedMembers? {
        if source.isStale { return nil }
        if case .many(let members) = source.loaded {
            if let seenAt = members.seenAt, isQuiet(since: seenAt) { return members }
            if isUsable(members.batch, in: relationship, of: owner) {
                return update(members, in: relationship, of: owner)
            }
            if isUsable(members.batch, in: relationship, of: owner, areRowsKnown: true) {
                let updated = update(members, in: relationship, of: owner, isKept: false)
                if let known = heldMembers(updated, in: relationship, of: owner) { return known }
            }
        }
        if source.status == .inserted {
            // No stored row refers to it; after its save the log tells which do.
            willAsk(relationship)
            return update(LoadedMembers(askedAt: now), in: relationship, of: owner)
        }
        guard let key = try? relationship.ownKey(source.storedRow),
            var found = source.group?.members(relationship.slot, of: key)
        else { return nil }
        if keepUnchanged(&found, in: relationship, of: owner) { return found }
        guard isUsable(found.batch, in: relationship, of: owner),
            lostAt(relationship) <= found.askedAt
        else { return nil }
        return update(found, in: relationship, of: owner)
    }

    /// The members of an answer that was just read, as the owner shows them.
    func show(
        _ answer: LoadedMembers, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) -> LoadedMembers {
        withStaged(update(answer, in: relationship, of: owner), in: relationship, of: owner)
    }

    // MARK: Staged changes

    /// The members with the staged changes of the context: these are in no answer, and change none.
    private func withStaged(
        _ members: LoadedMembers, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) -> LoadedMembers {
        guard hasStagedChanges else { return members }
        let change = stagedChange(relationship, of: owner)
        let isOrdered = relationship.position != nil && relationship.destinationHoldsForeignKey
        guard change != nil || isOrdered else { return members }
        var shown = members
        if let change {
            shown.remove(change.left)
            for object in change.joined where !object.withState({ Self.isHidden($0, by: relationship.filter) }) {
                if let key = object.key, !shown.contains(key) {
                    shown.insert(Member(key: key, row: object.storedRow))
                }
            }
        }
        if isOrdered { shown.reorder(sorted(shown.members, relationship, isStaged: true)) }
        return shown
    }

    // MARK: Stored members

    /// The members of an answer whose rows are stale, if all of them have objects: these rows become the answer.
    ///
    /// Saves the statement that a stale scope would cost where a program holds all of a set's objects, as after a
    /// deletion whose further effects are unknown.
    private func heldMembers(
        _ shown: LoadedMembers, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) -> LoadedMembers? {
        // Where only the server can compare keys, rows do not tell whether they are members.
        guard !relationship.isComparedByServer else { return nil }
        let keys = ownKeys(relationship, owner)
        var known: [Member] = []
        for member in shown.members {
            guard let object = withMap({ $0.object(relationship.destination, member.key) }), !object.isStale
            else { return nil }
            let row = object.storedRow
            if relationship.destinationHoldsForeignKey, !Self.refers(row, relationship.otherColumns, to: keys) {
                continue
            }
            if let filter = relationship.filter {
                guard let isShown = filter.shows(row) else { return nil }
                if !isShown { continue }
            }
            known.append(Member(key: member.key, row: row))
        }
        let batch = Answer(known, askedAt: shown.seenAt ?? shown.askedAt, in: writing?.scope)
        return update(LoadedMembers(batch, 0..<known.count), in: relationship, of: owner)
    }

    /// Gives an owner an answer to which there is nothing to apply, as in a context that only reads; false if there may be.
    ///
    /// `update` would come to the same result.
    private func keepUnchanged(
        _ members: inout LoadedMembers, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) -> Bool {
        let count = undoCount
        guard members.seenAt == nil, isQuiet(since: members.askedAt), !members.batch.isUndone, !isBesideTransaction
        else { return false }
        members.seenAt = members.askedAt
        members.undoCount = count
        keep(.many(members), relationship, of: owner)
        return true
    }

    /// Applies the log to an answer.
    ///
    /// - Parameter isKept: whether the owner keeps the result; false for an answer that is stale, so that the next access
    ///   reads again.
    private func update(
        _ answer: LoadedMembers, in relationship: RelationshipRuntime, of owner: DatabaseObject, isKept: Bool = true
    ) -> LoadedMembers {
        var members = answer
        let count = undoCount
        if members.seenAt == nil || members.undoCount != count {
            members.reset()
            members.seenAt = nil
            members.undoCount = count
        }
        let isBeside = isBesideTransaction
        let since = members.seenAt ?? members.askedAt
        var keys: [ObjectKey] = []
        let isHidden = isHidden
        typealias News = (
            time: ContextTime, entries: [MemberChanges.Entry], deleted: Set<ObjectKey>, moved: [ObjectKey]
        )
        let (time, entries, deleted, moved) = withMap { map -> News in
            let time = now
            if isQuiet(since: since) { return (time, [], [], []) }
            keys = ownKeys(relationship, owner)
            var entries = keys.flatMap { map.log.entries(relationship, $0, since: since) }
            // Another task's uncommitted changes are hidden; the owner applies them after the commit.
            if isBeside { entries.removeAll { $0.scope.map(isHidden) ?? false } }
            let deleted = map.log.deletedKeys(relationship.destination, since: since, isHidden: isHidden)
            // Members leave an owner by their own foreign key only.
            let isHeld = relationship.destinationHoldsForeignKey
            return (time, entries, deleted, isHeld ? map.log.movedKeys(relationship, since: since) : [])
        }
        for entry in entries { applyEntry(entry, to: &members, in: relationship, owner: owner, keys: keys) }
        for key in moved where members.contains(key) {
            applyEntry(MemberChanges.Entry(member: key), to: &members, in: relationship, owner: owner, keys: keys)
        }
        if !deleted.isEmpty { members.remove(deleted) }
        members.seenAt = time
        if members.isUnsorted, relationship.position != nil {
            members.reorder(sorted(members.members, relationship, isStaged: false))
        }
        members.isUnsorted = false
        if isKept, !isBeside { keep(.many(members), relationship, of: owner) }
        return members
    }

    /// Checks the row of a log entry again.
    private func applyEntry(
        _ entry: MemberChanges.Entry, to members: inout LoadedMembers, in relationship: RelationshipRuntime,
        owner: DatabaseObject, keys: [ObjectKey]
    ) {
        if let former = entry.former, entry.counts, members.contains(former) {
            if let row = entry.row, !members.contains(entry.member) {
                members.rekey(former, to: Member(key: entry.member, row: row))
            } else {
                members.remove([former])
            }
        }
        applyMembership(
            membership(of: entry, in: relationship, owner: owner, keys: keys), of: entry.member, to: &members)
        // Another row may have the former key now.
        guard let departure = entry.departure else { return }
        applyMembership(
            membership(of: departure, in: relationship, owner: owner, keys: keys), of: departure.member, to: &members)
    }

    private func applyMembership(_ membership: Membership, of key: ObjectKey, to members: inout LoadedMembers) {
        switch membership {
        case .member(let member):
            // A member keeps its place; its position in an order may have changed.
            if !members.contains(key) { members.insert(member) }
            members.isUnsorted = true
        case .nonmember: members.remove([key])
        case .unknown:
            if !members.wasAnswered(key) {
                members.remove([key])
            } else if !members.contains(key), let member = members.answered(key) {
                members.insert(member)
            }
        }
    }

    private enum Membership {
        case member(Member)
        case nonmember
        /// Only the server's answer tells.
        case unknown
    }

    /// Whether the row of an entry is a member of the owner, as far as known now.
    private func membership(
        of entry: MemberChanges.Entry, in relationship: RelationshipRuntime, owner: DatabaseObject,
        keys: [ObjectKey]
    ) -> Membership {
        let key = entry.member
        if relationship.helper != nil { return pairing(of: entry, in: relationship, owner: owner, keys: keys) }
        let (destination, columns) = (relationship.destination, relationship.otherColumns)
        typealias Known = (object: DatabaseObject?, newer: Row?, entry: MemberChanges.Entry?)
        let known = withMap { map -> Known in
            if let object = map.object(destination, key) { return (object, nil, nil) }
            let last = entry.counts ? entry : lastEntry(of: key, in: relationship, keys: keys, map: &map) { $0.counts }
            return (nil, map.log.row(destination, key)?.row, last)
        }
        if let object = known.object {
            return object.withState { state in
                if state.status == .deleted { return .nonmember }
                if state.isStale { return .unknown }
                if Self.isHidden(state, by: relationship.filter) { return .nonmember }
                let row = state.storedRow
                return Self.refers(row, columns, to: keys) ? .member(Member(key: key, row: row)) : .nonmember
            }
        }
        if known.entry?.isDeletion == true { return .nonmember }
        guard let row = known.newer ?? known.entry?.row else { return .unknown }
        let isMember = Self.refers(row, columns, to: keys) && relationship.filter?.shows(row) != false
        return isMember ? .member(Member(key: key, row: row)) : .nonmember
    }

    /// Whether a filter hides an object: by its stored row, as the server does.
    ///
    /// A new object is shown until it is stored.
    private static func isHidden(_ state: ObjectState, by filter: RowFilter?) -> Bool {
        guard let filter, state.status != .inserted else { return false }
        return filter.shows(state.storedRow) == false
    }

    /// The last entry on a row in an owner's relationship that satisfies a predicate.
    private func lastEntry(
        of member: ObjectKey, in relationship: RelationshipRuntime, keys: [ObjectKey], map: inout IdentityMap,
        where predicate: (MemberChanges.Entry) -> Bool
    ) -> MemberChanges.Entry? {
        for key in keys {
            if let entry = map.log.entries(relationship, key, of: member).first(where: predicate) { return entry }
        }
        return nil
    }

    private static func refers(_ row: Row, _ columns: [Int], to keys: [ObjectKey]) -> Bool {
        guard let key = try? ObjectKey(row, columns) else { return false }
        return keys.contains(key)
    }

    /// Whether a pair exists: by the last entry that was not rolled back.
    private func pairing(
        of entry: MemberChanges.Entry, in relationship: RelationshipRuntime, owner: DatabaseObject,
        keys: [ObjectKey]
    ) -> Membership {
        let (object, last) = withMap { map in
            let isLast = entry.counts && entry.isPaired != nil
            let last =
                isLast
                ? entry
                : lastEntry(of: entry.member, in: relationship, keys: keys, map: &map) {
                    $0.counts && $0.isPaired != nil
                }
            return (map.object(relationship.destination, entry.member), last)
        }
        if object?.isGone == true { return .nonmember }
        if let object, object.withState({ Self.isHidden($0, by: relationship.filter) }) { return .nonmember }
        guard let isPaired = last?.isPaired else { return .unknown }
        guard isPaired else { return .nonmember }
        let row = object?.storedRow ?? last?.row ?? entry.row
        if object == nil, let row, relationship.filter?.shows(row) == false { return .nonmember }
        return row.map { .member(Member(key: entry.member, row: $0)) } ?? .unknown
    }

    /// Stores a loaded relationship in its owner, unless the owner has a newer version of it.
    package func keep(_ loaded: LoadedRelationship, _ relationship: RelationshipRuntime, of owner: DatabaseObject) {
        keep(loaded, at: relationship.slot, of: owner)
    }

    /// Stores the answer at a slot, of a relationship or of a part of a relationship.
    func keep(_ loaded: LoadedRelationship, at slot: Int, of owner: DatabaseObject) {
        // A rollback drops the answers read in the transaction, and restores the earlier ones.
        if loaded.batch.scope != nil { journal?.record(owner) }
        owner.withState { state in
            guard state.status != .deleted else { return }
            if case .many(let new) = loaded, case .many(let old) = state.relationships[slot],
                old.batch === new.batch, old.undoCount == new.undoCount, old.seenAt ?? .never > new.seenAt ?? .never
            {
                return
            }
            state.relationships[slot] = loaded
        }
    }

    /// Whether a row is among the loaded members; nil if they are not loaded.
    func isLoadedMember(_ key: ObjectKey, of relationship: RelationshipRuntime, owner: DatabaseObject) -> Bool? {
        guard var members = loadedMembers(of: relationship, owner: owner) else { return nil }
        let (seenAt, isStaged) = (members.seenAt, stagedChange(relationship, of: owner) != nil)
        // In place, so that the index built for this test serves the next one.
        let found: Bool? =
            isStaged
            ? nil
            : owner.withState { state in
                guard case .many(var members) = state.relationships[relationship.slot], members.seenAt == seenAt
                else { return nil }
                state.relationships[relationship.slot] = nil
                defer { state.relationships[relationship.slot] = .many(members) }
                return members.contains(key)
            }
        return found ?? members.contains(key)
    }

    /// Members by their positions.
    ///
    /// Positions of many-to-many relationships are in the helper's rows: such sets are marked as stale instead.
    ///
    /// - Parameter isStaged: whether staged positions count.
    func sorted(_ members: [Member], _ relationship: RelationshipRuntime, isStaged: Bool) -> [Member] {
        guard let position = relationship.position, relationship.destinationHoldsForeignKey else { return members }
        struct Element {
            let member: Member
            let position: Int64?
            let place: Int
        }
        let destination = relationship.destination
        let rows = withMap { map in
            members.map { member -> Row in
                let object = map.object(destination, member.key)
                if let row = object?.withState({ $0.isStale ? nil : isStaged ? $0.row : $0.storedRow }) { return row }
                return map.log.row(destination, member.key)?.row ?? member.row
            }
        }
        var elements: [Element] = []
        for (place, member) in members.enumerated() {
            var value: Int64?
            if case .integer(let integer) = rows[place].valueOrRaw(at: position) { value = integer }
            elements.append(Element(member: member, position: value, place: place))
        }
        elements.sort { left, right in
            if left.position != right.position {
                guard let first = left.position else { return false }
                return right.position.map { first < $0 } ?? true
            }
            if case .integer(let first) = left.member.key, case .integer(let second) = right.member.key {
                return first < second
            }
            return left.place < right.place
        }
        return elements.map(\.member)
    }
}
