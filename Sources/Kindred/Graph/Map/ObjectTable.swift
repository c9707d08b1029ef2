import CSwiftRuntime

/// A key of an ``ObjectTable``.
protocol ObjectTableKey: Equatable {
    /// Bits that differ between different keys, the lowest ones too, mixed with ``KeySecret``.
    func bits(mixedWith secret: UInt64) -> UInt
    /// What stands in entries that are free.
    static var free: Self { get }
}

/// An object that knows where in a table it stands.
protocol TableObject: AnyObject {
    /// Twice the number of its entry, plus the table's tag; -1 where it has none.
    var tablePlace: Int32 { get set }
}

/// Objects by key, without keeping them in memory.
///
/// Weak references would do, but each costs its object a side table: an allocation, and every retain and release after
/// that takes the slow way. Instead an object takes its entry out in `deinit`, under the same lock as every look-up. So while
/// an entry stands here its object's memory is there; the object may be on its way out already, which is what a look-up
/// asks the runtime. Nothing in here releases an object, so that no `deinit` runs under that lock.
struct ObjectTable<Key: ObjectTableKey, Object: TableObject> {
    private struct Entry {
        var key: Key
        /// The object's address; of a free entry, twice the number of the next free one, plus one.
        var bits: UInt
    }

    /// What stands at a place of the index: the number of an entry, or nothing.
    private struct Mark {
        private let numberPlusOne: Int32

        init(_ number: Int?) { numberPlusOne = number.map { Int32($0 + 1) } ?? 0 }

        var number: Int? { numberPlusOne == 0 ? nil : Int(numberPlusOne - 1) }
    }

    /// An entry stays where it is as long as its object lives.
    private var entries: [Entry] = []
    /// Entries where the bits of their keys lead to or behind that, at most half full.
    private var index: [Mark] = []
    private var firstFree: Int?
    /// The number of objects that have an entry.
    private(set) var count = 0
    /// Tells the places of two tables apart.
    private let tag: Int32
    /// At hand, because to read a constant of the process takes more than to mix with it.
    private let secret = KeySecret.ofProcess

    init(tag: Int32 = 0) {
        self.tag = tag
    }

    /// The object of a key, if it is in memory.
    ///
    /// Changes nothing; it is called in place, where a table would be copied otherwise.
    mutating func object(_ key: Key) -> Object? {
        find(key).flatMap { retained($0.number) }
    }

    /// How many objects there is room for without moving those that stand here.
    var capacity: Int { entries.capacity }

    /// Whether a key leads to an object, which may be on its way out of memory.
    func contains(_ key: Key) -> Bool { find(key) != nil }

    /// Every object that is in memory.
    var objects: [Object] {
        var objects: [Object] = []
        objects.reserveCapacity(count)
        for number in entries.indices where entries[number].bits & 1 == 0 {
            if let object = retained(number) { objects.append(object) }
        }
        return objects
    }

    /// Makes room for objects that will be inserted.
    mutating func reserve(_ more: Int) {
        let needed = count + more
        // Twice of what there was at least: room for just these would copy all that stand here with each batch.
        if needed > capacity { entries.reserveCapacity(max(needed, 2 * capacity)) }
        growIndex(needed)
    }

    /// Gives a key an object without an entry, unless it leads to one that is in memory, which is returned then.
    mutating func insert(_ object: Object, ifAbsent key: Key) -> Object? {
        growIndex(count + 1)
        var place = firstPlace(key)
        while let number = index[place].number {
            if entries[number].key == key {
                if let known = retained(number) { return known }
                // Its entry is that of nobody any more, until it takes it out itself.
                break
            }
            place = (place + 1) & (index.count - 1)
        }
        index[place] = Mark(makeEntry(object, key))
        return nil
    }

    /// Gives a key an object, whatever it led to, and takes away the key that the object had.
    mutating func insert(_ object: Object, _ key: Key) {
        growIndex(count + 1)
        let number: Int
        if object.tablePlace >= 0 {
            number = Int(object.tablePlace >> 1)
            if entries[number].key == key, find(key)?.number == number { return }
            removeFromIndex(number)
            entries[number].key = key
        } else {
            number = makeEntry(object, key)
        }
        var place = firstPlace(key)
        while let other = index[place].number, entries[other].key != key { place = (place + 1) & (index.count - 1) }
        index[place] = Mark(number)
    }

    /// Takes an object's entry out, if it has one.
    mutating func remove(_ object: Object) {
        guard object.tablePlace >= 0 else { return }
        remove(at: object.tablePlace)
        object.tablePlace = -1
    }

    /// Takes the entry of an object out that goes out of memory.
    mutating func remove(at place: Int32) {
        let number = Int(place >> 1)
        removeFromIndex(number)
        count -= 1
        if count == 0, entries.count > 64 {
            // Whatever grew for many objects is given back when none is left.
            (entries, index, firstFree) = ([], [], nil)
            return
        }
        entries[number] = Entry(key: .free, bits: UInt(bitPattern: firstFree ?? -1) << 1 | 1)
        firstFree = number
    }

    private mutating func makeEntry(_ object: Object, _ key: Key) -> Int {
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let number: Int
        if let free = firstFree {
            number = free
            let next = Int(bitPattern: entries[number].bits) >> 1
            firstFree = next < 0 ? nil : next
            entries[number] = Entry(key: key, bits: address)
        } else {
            number = entries.count
            entries.append(Entry(key: key, bits: address))
        }
        count += 1
        object.tablePlace = Int32(number) << 1 | tag
        return number
    }

    /// The object of an entry, unless it is on its way out of memory.
    private func retained(_ number: Int) -> Object? {
        // The entry is there, so the object's `deinit` has not taken it out, which needs the lock that the caller holds: the
        // memory is still the object's. It is not handed out if its `deinit` has begun.
        guard let address = unsafe UnsafeMutableRawPointer(bitPattern: entries[number].bits),
            unsafe kindred_try_retain(address)
        else { return nil }
        return unsafe Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
    }

    private func firstPlace(_ key: Key) -> Int {
        Int(truncatingIfNeeded: key.bits(mixedWith: secret)) & (index.count - 1)
    }

    /// Where in `index` a key stands, and the number of its entry.
    private func find(_ key: Key) -> (place: Int, number: Int)? {
        Self.find(key, index.span, entries.span, secret)
    }

    // Takes spans: to read elements of an array in a loop retains it, and a method that changes the table would copy it to
    // call one that does not.
    private static func find(
        _ key: Key, _ index: Span<Mark>, _ entries: Span<Entry>, _ secret: UInt64
    ) -> (place: Int, number: Int)? {
        if index.isEmpty { return nil }
        let mask = index.count - 1
        var place = Int(truncatingIfNeeded: key.bits(mixedWith: secret)) & mask
        while let number = index[place].number {
            if entries[number].key == key { return (place, number) }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Takes an entry out of the index, unless its key leads to another one by now.
    private mutating func removeFromIndex(_ number: Int) {
        guard let found = Self.find(entries[number].key, index.span, entries.span, secret), found.number == number
        else { return }
        Self.clear(found.place, in: &index, of: entries, secret)
    }

    /// Clears a place of an index; what stands behind it moves into the gap where it could not be found any more.
    private static func clear(_ place: Int, in index: inout [Mark], of entries: [Entry], _ secret: UInt64) {
        let entries = entries.span
        var index = index.mutableSpan
        let mask = index.count - 1
        var gap = place
        index[gap] = Mark(nil)
        var place = (gap + 1) & mask
        while let number = index[place].number {
            let wanted = Int(truncatingIfNeeded: entries[number].key.bits(mixedWith: secret)) & mask
            if (place &- wanted) & mask >= (place &- gap) & mask {
                index[gap] = index[place]
                index[place] = Mark(nil)
                gap = place
            }
            place = (place + 1) & mask
        }
    }

    private mutating func growIndex(_ count: Int) {
        guard 2 * count > index.count else { return }
        var size = max(16, index.count)
        while size < 2 * count { size *= 2 }
        let marks = index
        index = []
        // `init(repeating:count:)` is not specialized, and takes 190 instructions more.
        index.append(contentsOf: repeatElement(Mark(nil), count: size))
        for mark in marks {
            guard let number = mark.number else { continue }
            var place = firstPlace(entries[number].key)
            while index[place].number != nil { place = (place + 1) & (size - 1) }
            index[place] = mark
        }
    }
}

/// What keys are mixed with, so that nobody outside the process can choose keys that stand in each other's way.
enum KeySecret {
    static let ofProcess = UInt64.random(in: .min ... .max)
}

extension Int64: ObjectTableKey {
    func bits(mixedWith secret: UInt64) -> UInt {
        let product = (UInt64(bitPattern: self) ^ secret).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return UInt(truncatingIfNeeded: product.high ^ product.low)
    }

    static var free: Int64 { 0 }
}

extension ObjectKey: ObjectTableKey {
    // Swift's hash has a secret of its own.
    func bits(mixedWith secret: UInt64) -> UInt { UInt(bitPattern: hashValue) }

    static var free: ObjectKey { .integer(0) }
}
