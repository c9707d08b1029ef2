import KindredPostgres

/// Numbers of integer keys: a hash table without removals.
///
/// A dictionary takes four times the instructions: it hashes with `Hasher`, and does so again to insert a key that it
/// has not found.
struct IntegerNumbers: Sendable {
    private struct Slot: Sendable {
        var key: Int64 = 0
        /// The key's number plus one; 0 for a free slot.
        var numberPlusOne = 0
    }

    /// Open addressing with linear probing; the load factor is at most one half.
    private var slots: [Slot] = []
    private var count = 0
    /// A copy, because reading a global costs more than the hash.
    private let secret = KeySecret.ofProcess

    /// Makes room for some numbers in all.
    mutating func reserve(_ count: Int) {
        guard 2 * count > slots.count else { return }
        var size = max(16, slots.count)
        while size < 2 * count { size *= 2 }
        let former = slots
        slots = Array(repeating: Slot(), count: size)
        for slot in former where slot.numberPlusOne > 0 { slots[place(of: slot.key)] = slot }
    }

    /// The number of a key; nil if it has none.
    func number(of key: Int64) -> Int? {
        if slots.isEmpty { return nil }
        let number = slots[place(of: key)].numberPlusOne
        return number > 0 ? number - 1 : nil
    }

    /// The number of a key that has one; else nil, and it has got the next one.
    mutating func number(of key: Int64, orMake next: Int) -> Int? {
        reserve(count + 1)
        let place = place(of: key)
        let number = slots[place].numberPlusOne
        if number > 0 { return number - 1 }
        slots[place] = Slot(key: key, numberPlusOne: next + 1)
        count += 1
        return nil
    }

    /// The place of a key, or the free one where it belongs.
    private func place(of key: Int64) -> Int {
        // A span: reading array elements in a loop retains the array.
        let slots = slots.span
        let mask = slots.count - 1
        var place = Int(bitPattern: key.bits(mixedWith: secret)) & mask
        while slots[place].numberPlusOne > 0, slots[place].key != key { place = (place + 1) & mask }
        return place
    }
}
