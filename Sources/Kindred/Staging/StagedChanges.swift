import KindredPostgres

/// What a context has not saved yet; the objects are held strongly until they are saved or rolled back.
struct StagedChanges: Sendable {
    private var entries: [ObjectIdentifier: (object: DatabaseObject, order: UInt64)] = [:]
    /// Pairs with the values of the helper's other columns, and their order.
    private var pairEntries: [StagedPair: (payload: Assignments?, order: UInt64)] = [:]
    private var count: UInt64 = 0
    /// Made when a relationship is read after a change.
    private var links: StagedLinks?

    var isEmpty: Bool { entries.isEmpty && pairEntries.isEmpty }

    /// The objects in the order in which they were first staged.
    var objects: [DatabaseObject] {
        entries.values.sorted { $0.order < $1.order }.map(\.object)
    }

    /// The pairs in the order in which they were staged.
    var pairs: [(pair: StagedPair, payload: Assignments?)] {
        pairEntries.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.payload) }
    }

    /// Notes that something is staged on an object.
    mutating func insert(_ object: DatabaseObject) {
        links = nil
        let id = ObjectIdentifier(object)
        guard entries[id] == nil else { return }
        count += 1
        entries[id] = (object, count)
    }

    /// Notes that nothing is staged on an object.
    mutating func remove(_ object: DatabaseObject) {
        links = nil
        entries[ObjectIdentifier(object)] = nil
    }

    func contains(_ pair: StagedPair) -> Bool { pairEntries[pair] != nil }

    func payload(of pair: StagedPair) -> Assignments? { pairEntries[pair]?.payload }

    mutating func insert(_ pair: StagedPair, payload: Assignments?) {
        links = nil
        count += 1
        pairEntries[pair] = (payload, pairEntries[pair]?.order ?? count)
    }

    mutating func remove(_ pair: StagedPair) {
        links = nil
        pairEntries[pair] = nil
    }

    /// The ends of relationships that staged changes have changed.
    mutating func changedEnds(_ runtime: SchemaRuntime) -> [StagedLinks.End] {
        if isEmpty { return [] }
        let made = links ?? StagedLinks(objects, pairs.map(\.pair), runtime)
        links = made
        return Array(made.changes.keys)
    }

    /// Who joins and leaves an owner's relationship; nil if nobody does.
    mutating func change(
        _ relationship: RelationshipRuntime,
        _ owner: ObjectKey,
        _ runtime: SchemaRuntime
    ) -> StagedLinks.Change? {
        if isEmpty { return nil }
        let made = links ?? StagedLinks(objects, pairs.map(\.pair), runtime)
        links = made
        return made.change(relationship, owner)
    }
}
