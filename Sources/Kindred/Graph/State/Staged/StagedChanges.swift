import KindredPostgres

/// The unsaved changes of a context; it holds their objects strongly until they are saved or rolled back.
struct StagedChanges: Sendable {
    /// Staged objects in the order of their first change, each at its `stagedPlace`; nil for an object that is no
    /// longer staged.
    private var inOrder: [DatabaseObject?] = []
    /// The number of staged objects.
    private var objectCount = 0
    private var pairEntries: [StagedPair: PairEntry] = [:]
    /// The staged pairs by end; no set is empty.
    private var pairsByEnd: [ObjectIdentifier: Set<StagedPair>] = [:]
    private var count: UInt64 = 0
    /// A cache, built when a relationship is read after a change.
    private var links: StagedLinks?
    /// The server's answers whether a foreign key equals an owner's key, where only it can compare.
    private var equalKeys: [StagedLinks.End: [ObjectKey: Bool]] = [:]

    /// A staged pair: the values of the helper's other columns, and its position among the pairs.
    struct PairEntry: Sendable {
        let payload: ColumnValues?
        fileprivate let order: UInt64
    }

    var isEmpty: Bool { objectCount == 0 && !hasPairs }

    var hasPairs: Bool { !pairEntries.isEmpty }

    /// The staged objects in the order of their first change.
    var objects: [DatabaseObject] { inOrder.compactMap(\.self) }

    /// The pairs in the order in which they were staged.
    var pairs: [(pair: StagedPair, payload: ColumnValues?)] {
        pairEntries.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.payload) }
    }

    /// The pairs that have one of the objects as an end, unordered.
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

    /// Adds an object.
    mutating func insert(_ object: DatabaseObject) {
        links = nil
        guard object.stagedPlace == nil else { return }
        object.stagedPlace = inOrder.count
        inOrder.append(object)
        objectCount += 1
    }

    /// Removes an object.
    mutating func remove(_ object: DatabaseObject) {
        remove(CollectionOfOne(object))
    }

    /// Removes some objects.
    mutating func remove(_ objects: some Collection<DatabaseObject>) {
        links = nil
        for object in objects {
            guard let place = object.stagedPlace else { continue }
            object.stagedPlace = nil
            inOrder[place] = nil
            objectCount -= 1
        }
        if objectCount == 0 { equalKeys = [:] }
        // Compacts once most places are gaps.
        guard inOrder.count > 2 * objectCount + 16 || objectCount == 0 else { return }
        // In place: the array of another element type that `objects` is would be cast element by element.
        inOrder.removeAll { $0 == nil }
        numberPlaces()
    }

    /// Takes all changes away.
    mutating func takeAll() -> StagedChanges {
        defer { self = StagedChanges() }
        for object in inOrder { object?.stagedPlace = nil }
        return self
    }

    /// Restores the creation order of new objects, before all other objects: a failed save has removed some of them.
    mutating func sortNew() {
        let keyed = objects.enumerated().map { place, object in
            (object, place, object.withState { $0.stagingBox?.staging.temporaryKey ?? .max })
        }
        inOrder = keyed.sorted { ($0.2, $0.1) < ($1.2, $1.1) }.map { $0.0 }
        numberPlaces()
    }

    private func numberPlaces() {
        for (place, object) in inOrder.enumerated() { object?.stagedPlace = place }
    }

    /// Drops the cache, because the changes of an object differ.
    mutating func noteChange() {
        links = nil
    }

    func contains(_ pair: StagedPair) -> Bool { pairEntries[pair] != nil }

    /// nil if the pair is not staged.
    func entry(of pair: StagedPair) -> PairEntry? { pairEntries[pair] }

    /// Stages a pair after all other pairs; a pair that is staged already keeps its place.
    mutating func insert(_ pair: StagedPair, payload: ColumnValues?) {
        count += 1
        put(pair, PairEntry(payload: payload, order: pairEntries[pair]?.order ?? count))
    }

    mutating func remove(_ pair: StagedPair) {
        put(pair, nil)
    }

    /// Restores a pair at its former place, or removes it.
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

    /// The staged members that join and leave an owner's relationship; nil for none.
    ///
    /// - Parameter compared: the value that the server compares foreign keys with, if only the server can.
    mutating func change(
        _ relationship: RelationshipRuntime,
        _ keys: [ObjectKey],
        comparedAs compared: ObjectKey?
    ) -> StagedLinks.Change? {
        if isEmpty || keys.isEmpty { return nil }
        var owners = keys
        if let compared {
            let equal = equalKeys[StagedLinks.End(relationship: relationship, owner: compared)]?.filter(\.value).keys
            owners += ([compared] + Array(equal ?? [:].keys)).filter { !keys.contains($0) }
        }
        return madeLinks().change(relationship, owners)
    }

    private mutating func madeLinks() -> StagedLinks {
        let made = links ?? StagedLinks(objects, pairs.map(\.pair))
        links = made
        return made
    }

    /// The foreign keys of staged objects for which it is unknown whether the server holds them equal to an owner's key.
    mutating func uncomparedKeys(
        _ relationship: RelationshipRuntime, _ compared: ObjectKey
    ) -> [ObjectKey] {
        if isEmpty { return [] }
        let known = equalKeys[StagedLinks.End(relationship: relationship, owner: compared)] ?? [:]
        return madeLinks().owners(relationship).filter {
            $0 != compared && !$0.isTemporary && known[$0] == nil
        }
    }

    /// Remembers which of some foreign keys the server holds equal to an owner's key.
    mutating func noteCompared(
        _ keys: [ObjectKey], with compared: ObjectKey, in relationship: RelationshipRuntime, equal: Set<ObjectKey>
    ) {
        for key in keys {
            equalKeys[StagedLinks.End(relationship: relationship, owner: compared), default: [:]][key] = equal.contains(
                key)
        }
    }
}
