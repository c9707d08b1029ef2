import Synchronization
import Testing

@testable import Kindred

/// Objects are found by their keys until their last reference is released.
@Suite struct ObjectTableTests {
    /// Takes its entry out when it goes, as objects of a context do.
    private final class Thing: TableObject, Sendable {
        let owner: Things
        let number: Int
        private let place = Atomic<Int32>(-1)

        init(_ owner: Things, _ number: Int) {
            self.owner = owner
            self.number = number
        }

        var tablePlace: Int32 {
            get { place.load(ordering: .relaxed) }
            set { place.store(newValue, ordering: .relaxed) }
        }

        deinit {
            let place = tablePlace
            if place >= 0 { owner.table.withLock { $0.remove(at: place) } }
        }
    }

    private final class Things: Sendable {
        let table = Mutex(ObjectTable<Int64, Thing>())

        func object(_ key: Int64) -> Thing? { table.withLock { $0.object(key) } }
    }

    @Test func roomForManyBatchesMovesWhatIsThereOnlyAFewTimes() {
        let things = Things()
        var held: [Thing] = []
        var capacities: Set<Int> = []
        for batch in 0..<100 {
            capacities.insert(
                things.table.withLock { table in
                    table.reserve(1_000)
                    return table.capacity
                })
            for number in (1_000 * batch)..<(1_000 * (batch + 1)) {
                let thing = Thing(things, number)
                _ = things.table.withLock { $0.insert(thing, Int64(number)) }
                held.append(thing)
            }
        }
        #expect(capacities.count <= 8)
        #expect(held.allSatisfy { things.object(Int64($0.number)) === $0 })
    }

    @Test(arguments: 1...8) func findsWhatADictionaryOfHeldObjectsFinds(seed: UInt64) {
        var random = Generator(state: seed)
        let things = Things()
        var held: [Int64: Thing] = [:]
        // Objects that lost their key to another, or were forgotten, are held on.
        var others: [Thing] = []
        for step in 0..<20_000 {
            let key = Int64(random.next(step < 10_000 ? 3_000 : 40) * 7 - 70)
            switch random.next(8) {
            case 0...2:
                let thing = Thing(things, step)
                let known = things.table.withLock { $0.insert(thing, ifAbsent: key) }
                #expect(known === held[key])
                if known == nil { held[key] = thing }
            case 3, 4:
                held[key] = nil
            case 5:
                // Another key, whatever it led to.
                guard let old = held.keys.randomElement(using: &random), let thing = held[old] else { continue }
                if old != key, let loser = held[key] { others.append(loser) }
                held[old] = nil
                held[key] = thing
                _ = things.table.withLock { $0.insert(thing, key) }
            case 6:
                guard let thing = held.removeValue(forKey: key) else { continue }
                things.table.withLock { $0.remove(thing) }
                #expect(thing.tablePlace < 0)
                others.append(thing)
            default:
                if !others.isEmpty { others.swapAt(random.next(others.count), others.count - 1) }
                _ = others.popLast()
            }
            #expect(things.object(key) === held[key])
        }
        for (key, thing) in held { #expect(things.object(key) === thing) }
        let all = things.table.withLock { $0.objects }
        let known = Set(all.map { ObjectIdentifier($0) })
        #expect(held.values.allSatisfy { known.contains(ObjectIdentifier($0)) })
    }

    @Test func isEmptyOnceAllObjectsAreReleased() {
        let things = Things()
        var held = (0..<1_000).map { Thing(things, $0) }
        for thing in held { _ = things.table.withLock { $0.insert(thing, ifAbsent: Int64(thing.number)) } }
        #expect(things.table.withLock { $0.count } == 1_000)
        held = []
        #expect(things.table.withLock { $0.count } == 0)
        #expect(things.object(5) == nil)
        let again = Thing(things, 5)
        #expect(things.table.withLock { $0.insert(again, ifAbsent: 5) } == nil)
        #expect(things.object(5) === again)
    }

    @Test func handsOutNothingThatIsOnItsWayOut() async {
        let things = Things()
        // Tasks that make, find and drop objects of a few keys: found objects are alive, and have the key that was
        // asked for.
        await withDiscardingTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    var random = Generator(state: UInt64(task + 1))
                    var held: [Thing?] = Array(repeating: nil, count: 4)
                    for _ in 0..<20_000 {
                        let key = random.next(8)
                        let found = things.object(Int64(key))
                        #expect(found == nil || found?.number == key)
                        var thing = found
                        if found == nil {
                            let made = Thing(things, key)
                            let known = things.table.withLock { $0.insert(made, ifAbsent: Int64(key)) }
                            #expect(known == nil || known?.number == key)
                            thing = known ?? made
                        }
                        held[random.next(4)] = random.next(2) == 0 ? thing : nil
                    }
                }
            }
        }
        #expect(things.table.withLock { $0.count } == 0)
    }
}

/// Random numbers that come again.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 32) ^ (state << 32)
    }

    mutating func next(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
