import CSwiftRuntime
import KindredPostgres

// Needed for "10,000 rows to objects" (goal: 0.35 of libpq's rate; 0.42 on a quiet machine): weak references took a fifth of
// an object's instructions, and an object that is held took 194 bytes of the heap with them, of 200 at most, where it takes
// 146. See Benchmarks/README.md.

/// A key of an ``ObjectTable``.
protocol ObjectTableKey: Equatable {
    /// The hash, seeded by ``KeySecret``; its lowest bits must differ between keys, too.
    func bits(mixedWith secret: UInt64) -> UInt
    /// The key of free entries.
    static var free: Self { get }
}

/// An object that knows its place in a table.
protocol TableObject: AnyObject {
    /// Twice the number of its entry, plus the table's tag; -1 if it has none.
    var tablePlace: Int32 { get set }
}

/// A hash table of weakly referenced objects.
///
/// Swift's weak references would cost each object a side table: an allocation, and slow retains and releases from then
/// on. Instead, an object's `deinit` removes its entry under the lock that every look-up takes. So an entry's memory is
/// valid; `swift_tryRetain` tells whether its object is still alive. No method releases an object, so that no `deinit`
/// runs under that lock.
struct ObjectTable<Key: ObjectTableKey, Object: TableObject> {
    private struct Entry {
        var key: Key
        /// The object's address; for a free entry, twice the number of the next free one, plus one.
        var bits: UInt
    }

    /// A slot of the index: the number of an entry, or nothing.
    private struct Mark {
        private let numberPlusOne: Int32

        init(_ number: Int?) { numberPlusOne = number.map { Int32($0 + 1) } ?? 0 }

        var number: Int? { numberPlusOne == 0 ? nil : Int(numberPlusOne - 1) }
    }

    /// An entry does not move while its object lives.
    private var entries: [Entry] = []
    /// Open addressing with linear probing; the load factor is at most one half.
    private var index: [Mark] = []
    private var firstFree: Int?
    /// The number of used entries.
    private(set) var count = 0
    /// Distinguishes the places of two tables.
    private let tag: Int32
    /// A copy, because reading a global costs more than the hash.
    private let secret = KeySecret.ofProcess

    init(tag: Int32 = 0) {
        self.tag = tag
    }

    /// The object of a key, if it is in memory.
    ///
    /// Mutating only to be called in place, where a table would be copied otherwise.
    mutating func object(_ key: Key) -> Object? {
        find(key).flatMap { retained($0.number) }
    }

    /// The number of entries that fit without a reallocation.
    var capacity: Int { entries.capacity }

    /// Whether a key has an entry, whose object may be in its `deinit`.
    func contains(_ key: Key) -> Bool { find(key) != nil }

    /// Every object in memory.
    var objects: [Object] {
        var objects: [Object] = []
        objects.reserveCapacity(count)
        for number in entries.indices where entries[number].bits & 1 == 0 {
            if let object = retained(number) { objects.append(object) }
        }
        return objects
    }

    /// Reserves capacity for objects to be inserted.
    mutating func reserve(_ more: Int) {
        let needed = count + more
        // At least doubles: exact capacities would copy all entries for each batch.
        if needed > capacity { entries.reserveCapacity(max(needed, 2 * capacity)) }
        growIndex(needed)
    }

    /// Inserts an object without an entry, unless the key has an object in memory, which is returned then.
    mutating func insert(_ object: Object, ifAbsent key: Key) -> Object? {
        growIndex(count + 1)
        var place = firstPlace(key)
        while let number = index[place].number {
            if entries[number].key == key {
                if let known = retained(number) { return known }
                // A stale entry; the object's `deinit` removes it.
                break
            }
            place = (place + 1) & (index.count - 1)
        }
        index[place] = Mark(makeEntry(object, key))
        return nil
    }

    /// Inserts an object in place of any other, which is returned; its former key is removed.
    @discardableResult
    mutating func insert(_ object: Object, _ key: Key) -> Object? {
        growIndex(count + 1)
        let number: Int
        if object.tablePlace >= 0 {
            number = Int(object.tablePlace >> 1)
            if entries[number].key == key, find(key)?.number == number { return nil }
            removeFromIndex(number)
            entries[number].key = key
        } else {
            number = makeEntry(object, key)
        }
        var place = firstPlace(key)
        while let other = index[place].number, entries[other].key != key { place = (place + 1) & (index.count - 1) }
        let displaced = index[place].number.flatMap { retained($0) }
        index[place] = Mark(number)
        return displaced
    }

    /// The key that an object was inserted with; nil if it was not.
    func key(of object: Object) -> Key? { object.tablePlace >= 0 ? entries[Int(object.tablePlace >> 1)].key : nil }

    /// Removes an object's entry, if it has one.
    mutating func remove(_ object: Object) {
        guard object.tablePlace >= 0 else { return }
        remove(at: object.tablePlace)
        object.tablePlace = -1
    }

    /// Removes the entry of an object that leaves memory.
    mutating func remove(at place: Int32) {
        let number = Int(place >> 1)
        removeFromIndex(number)
        count -= 1
        if count == 0, entries.count > 64 {
            // Returns the memory of a table that was large and is empty.
            (entries, index, firstFree) = ([], [], nil)
            return
        }
        entries[number] = Entry(key: .free, bits: UInt(bitPattern: firstFree ?? -1) << 1 | 1)
        firstFree = number
    }

    private mutating func makeEntry(_ object: Object, _ key: Key) -> Int {
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
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

    /// The object of an entry, unless its `deinit` has begun.
    private func retained(_ number: Int) -> Object? {
        // The caller holds the lock that `deinit` needs to remove the entry, so that the memory is still the object's.
        // `try_retain` fails once `deinit` has begun.
        guard let address = unsafe UnsafeMutableRawPointer(bitPattern: entries[number].bits),
            unsafe kindred_try_retain(address)
        else { return nil }
        return unsafe Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
    }

    private func firstPlace(_ key: Key) -> Int {
        Int(truncatingIfNeeded: key.bits(mixedWith: secret)) & (index.count - 1)
    }

    /// The position of a key in `index`, and the number of its entry.
    private func find(_ key: Key) -> (place: Int, number: Int)? {
        Self.find(key, in: index.span, of: entries.span, secret)
    }

    // Takes spans: reading array elements in a loop retains the array, and a mutating caller would copy the table to
    // call a nonmutating method.
    private static func find(
        _ key: Key, in index: Span<Mark>, of entries: Span<Entry>, _ secret: UInt64
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

    /// Removes an entry from the index, unless its key leads to another entry by now.
    private mutating func removeFromIndex(_ number: Int) {
        guard let found = Self.find(entries[number].key, in: index.span, of: entries.span, secret),
            found.number == number
        else { return }
        Self.clear(found.place, in: &index, of: entries, secret)
    }

    /// Clears an index slot, and moves later entries of the probe sequence up so that they stay reachable.
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
        var size = max(4, index.count)
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

/// The seed of hashes, random per process, so that clients cannot choose keys that collide.
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
    // Swift's hash is seeded already.
    func bits(mixedWith secret: UInt64) -> UInt { UInt(bitPattern: hashValue) }

    static var free: ObjectKey { .integer(0) }
}
