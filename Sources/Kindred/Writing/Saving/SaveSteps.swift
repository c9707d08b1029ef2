import KindredPostgres

/// The order in which a save writes rows that exchange unique values: the holder before the taker.
///
/// In a cycle, or in a chain of more than eight UPDATEs, holders first release their values by NULL. Pure: works on
/// numbers, so that it can be tested without a database.
struct SaveSteps {
    /// How a holder may release a value before its own change is written.
    enum Release {
        case impossible
        /// By NULL, any number of holders at a time.
        case together
        /// By NULL, one row at a time.
        case alone
    }

    struct Exchange {
        let holder: Int
        let taker: Int
        let release: Release
        /// The constraint, for values that only one row may release at a time.
        var check = 0
    }

    enum Step: Equatable {
        /// Positions of exchanges whose holders release the value.
        case release([Int])
        case insert([Int])
        case update([Int])
        case delete([Int])

        var isDeletion: Bool {
            if case .delete = self { true } else { false }
        }
    }

    /// The steps in order; changed objects in no step may be written at the end.
    private(set) var steps: [Step] = []
    /// The exchanges that no order makes possible.
    private(set) var stuck: [Int] = []

    private let exchanges: [Exchange]
    private let dependents: [Int: [Int]]
    private let exchangesOfHolder: [Int: [Int]]
    private var levels: [[Int]]
    private let new: Set<Int>
    private let deletions: Set<Int>
    /// New objects that one statement must store with their whole level.
    private let joint: Set<Int>
    /// Changed objects for which other objects wait, besides holders.
    private var awaited: Set<Int> = []
    private var open: Set<Int>
    /// The number of open exchanges that can be released together.
    private var releasableCount = 0
    /// All new objects, and the changed objects that hold values which other objects take.
    private var pending: Set<Int>
    /// For each object the number of exchanges and new objects that it waits for.
    private var waits: [Int: Int] = [:]
    private var readyHolders: Set<Int> = []
    /// Holders whose value is NULL at the moment, by check.
    private var released: [Int: Int] = [:]
    private var updateCount = 0
    static let maximumUpdates = 8

    /// - Parameters:
    ///   - levels: the new objects, in groups that can be stored one after the other.
    ///   - references: the objects that must be written before an object: new objects that it refers to, changed objects
    ///     whose new keys it refers to, and objects that leave it before its key changes or it is deleted.
    ///   - exchanges: the values that go from one object to another; holders are changed or deleted objects.
    ///   - deletions: the objects that are deleted.
    ///   - joint: new objects that can only be stored together with their whole level.
    init(
        levels: [[Int]], references: [Int: [Int]], exchanges: [Exchange], deletions: Set<Int> = [],
        joint: Set<Int> = []
    ) {
        self.deletions = deletions
        self.joint = joint
        self.levels = levels
        self.exchanges = exchanges
        new = Set(levels.joined())
        open = Set(exchanges.indices)
        exchangesOfHolder = Dictionary(grouping: exchanges.indices) { exchanges[$0].holder }
        pending = new.union(exchanges.map(\.holder))
        var dependents: [Int: [Int]] = [:]
        for (object, needed) in references {
            for needed in needed where needed != object {
                dependents[needed, default: []].append(object)
                waits[object, default: 0] += 1
                if !new.contains(needed) { awaited.insert(needed) }
            }
        }
        self.dependents = dependents
        pending.formUnion(awaited)
        for exchange in exchanges {
            waits[exchange.taker, default: 0] += 1
            if exchange.release == .together { releasableCount += 1 }
        }
        readyHolders = Set(pending.filter { !new.contains($0) && waits[$0, default: 0] == 0 })
        while !pending.isEmpty { takeStep() }
    }

    private mutating func takeStep() {
        if !readyHolders.isEmpty, updateCount < Self.maximumUpdates || releasableCount == 0 {
            let changed = deletions.isEmpty ? readyHolders : readyHolders.subtracting(deletions)
            let ready = (changed.isEmpty ? readyHolders : changed).sorted()
            updateCount += 1
            steps.append(changed.isEmpty ? .delete(ready) : .update(ready))
            return finish(ready)
        }
        for level in levels.indices {
            let ready = levels[level].filter { waits[$0, default: 0] == 0 }
            if ready.isEmpty || joint.contains(ready[0]) && ready.count < levels[level].count { continue }
            levels[level].removeAll { waits[$0, default: 0] == 0 }
            levels.removeAll(where: \.isEmpty)
            steps.append(.insert(ready))
            return finish(ready)
        }
        if releasableCount > 0 {
            let releasable = open.filter { exchanges[$0].release == .together }.sorted()
            steps.append(.release(releasable))
            for exchange in releasable { close(exchange) }
            // A holder for which no object waits is written with all other changed objects, at the end.
            let waitedFor = Set(open.map { exchanges[$0].holder }).union(released.values)
            pending = pending.filter { new.contains($0) || waitedFor.contains($0) || awaited.contains($0) }
            readyHolders.formIntersection(pending)
        } else if let exchange = exchangeToReleaseAlone() {
            steps.append(.release([exchange]))
            released[exchanges[exchange].check] = exchanges[exchange].holder
            close(exchange)
        } else {
            stuck = open.sorted()
            steps += levels.map(Step.insert)
            levels = []
            pending = []
        }
    }

    private mutating func finish(_ objects: [Int]) {
        pending.subtract(objects)
        readyHolders.subtract(objects)
        for object in objects {
            for exchange in exchangesOfHolder[object] ?? [] { close(exchange) }
            for dependent in dependents[object] ?? [] { stopWaiting(dependent) }
        }
        if !released.isEmpty { released = released.filter { pending.contains($0.value) } }
    }

    private mutating func close(_ exchange: Int) {
        guard open.remove(exchange) != nil else { return }
        if exchanges[exchange].release == .together { releasableCount -= 1 }
        stopWaiting(exchanges[exchange].taker)
    }

    private mutating func stopWaiting(_ object: Int) {
        waits[object, default: 1] -= 1
        if waits[object] == 0, pending.contains(object), !new.contains(object) { readyHolders.insert(object) }
    }

    /// An exchange in a cycle whose holder can release its value while no other of the same check has.
    private func exchangeToReleaseAlone() -> Int? {
        var taken: [Int: Int] = [:]
        for exchange in open.sorted() where taken[exchanges[exchange].taker] == nil {
            taken[exchanges[exchange].taker] = exchange
        }
        return open.sorted().first { start in
            let exchange = exchanges[start]
            guard exchange.release == .alone, released[exchange.check] == nil else { return false }
            // Follows the holders until the taker is reached again, or the chain ends.
            var (object, seen) = (exchange.holder, Set<Int>())
            while object != exchange.taker, let next = taken[object], seen.insert(object).inserted {
                object = exchanges[next].holder
            }
            return object == exchange.taker
        }
    }
}
