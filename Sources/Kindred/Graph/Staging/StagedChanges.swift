import KindredPostgres

/// What a context has not saved yet; the objects are held strongly until they are saved or rolled back.
struct StagedChanges: Sendable {
    /// In the order in which they were first staged; nil for one that is staged no longer.
    private var inOrder: [DatabaseObject?] = []
    /// Where each object stands in `inOrder`.
    private var places: [ObjectIdentifier: Int] = [:]
    private var pairEntries: [StagedPair: PairEntry] = [:]
    /// The staged pairs that an object is an end of; none is empty.
    private var pairsByEnd: [ObjectIdentifier: Set<StagedPair>] = [:]
    private var count: UInt64 = 0
    /// Made when a relationship is read after a change.
    private var links: StagedLinks?

    /// What is known of a staged pair: the values of the helper's other columns, and its place among the pairs.
    struct PairEntry: Sendable {
        let payload: ColumnValues?
        fileprivate let order: UInt64
    }

    var isEmpty: Bool { places.isEmpty && !hasPairs }

    var hasPairs: Bool { !pairEntries.isEmpty }

    /// The objects in the order in which they were first staged.
    var objects: [DatabaseObject] { inOrder.compactMap(\.self) }

    /// The pairs in the order in which they were staged.
    var pairs: [(pair: StagedPair, payload: ColumnValues?)] {
        pairEntries.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.payload) }
    }

    /// The pairs that one of some objects is an end of, in no order.
    func pairs(of objects: some Sequence<DatabaseObject>) -> Set<StagedPair> {
        var found: Set<StagedPair> = []
        if pairsByEnd.isEmpty { return found }
        for object in objects { found.formUnion(pairsByEnd[ObjectIdentifier(object)] ?? []) }
        return found
    }

    /// Whether an object is an end of a staged pair.
    func hasPairs(of object: DatabaseObject) -> Bool {
        !pairsByEnd.isEmpty && pairsByEnd[ObjectIdentifier(object)] != nil
    }

    /// Notes that something is staged on an object.
    mutating func insert(_ object: DatabaseObject) {
        links = nil
        let end = inOrder.count
        // One look-up: what is not there is put there.
        func isNew(_ place: inout Int) -> Bool { place == end }
        if isNew(&places[ObjectIdentifier(object), default: end]) { inOrder.append(object) }
    }

    /// Notes that nothing is staged on an object.
    mutating func remove(_ object: DatabaseObject) {
        remove(CollectionOfOne(object))
    }

    /// Notes that nothing is staged on some objects.
    mutating func remove(_ objects: some Collection<DatabaseObject>) {
        links = nil
        for object in objects {
            if let place = places.removeValue(forKey: ObjectIdentifier(object)) { inOrder[place] = nil }
        }
        // Gaps are closed when they are the greater part.
        guard inOrder.count > 2 * places.count + 16 || places.isEmpty else { return }
        let left = self.objects
        inOrder = left
        for (place, object) in left.enumerated() { places[ObjectIdentifier(object)] = place }
    }

    /// Puts new objects back into the order in which they were made, in front of all others: a save that failed has taken
    /// some of them out.
    mutating func sortNew() {
        let keyed = objects.enumerated().map { place, object in
            (object, place, object.withState { $0.stagingBox?.staging.temporaryKey ?? .max })
        }
        inOrder = keyed.sorted { ($0.2, $0.1) < ($1.2, $1.1) }.map(\.0)
        for (place, object) in objects.enumerated() { places[ObjectIdentifier(object)] = place }
    }

    /// Notes that what is staged on an object is not the same any more.
    mutating func noteChange() {
        links = nil
    }

    func contains(_ pair: StagedPair) -> Bool { pairEntries[pair] != nil }

    /// nil if the pair is not staged.
    func entry(of pair: StagedPair) -> PairEntry? { pairEntries[pair] }

    /// Stages a pair behind all others; one that is staged already keeps its place.
    mutating func insert(_ pair: StagedPair, payload: ColumnValues?) {
        count += 1
        put(pair, PairEntry(payload: payload, order: pairEntries[pair]?.order ?? count))
    }

    mutating func remove(_ pair: StagedPair) {
        put(pair, nil)
    }

    /// Puts a pair back as it was, at the place that it had.
    mutating func put(_ pair: StagedPair, _ entry: PairEntry?) {
        links = nil
        pairEntries[pair] = entry
        for end in [ObjectIdentifier(pair.source), ObjectIdentifier(pair.destination)] {
            if entry != nil {
                pairsByEnd[end, default: []].insert(pair)
            } else if pairsByEnd[end]?.remove(pair) != nil, pairsByEnd[end]?.isEmpty == true {
                pairsByEnd[end] = nil
            }
        }
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
