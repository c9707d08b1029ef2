/// Keys, each once, numbered in the order in which they came.
struct KeyNumbers: Sendable {
    private struct Entry {
        let key: Int64
        let number: Int32
    }

    /// Integers, which nearly all keys are.
    private var entries: [Entry] = []
    /// Places in `entries` plus one, where the bits of a key lead to or behind that; 0 for none, at most half full.
    private var index: [Int32] = []
    private var others: [ObjectKey: Int] = [:]
    private let secret = KeySecret.ofProcess

    init() {}

    init(_ keys: some Collection<ObjectKey>) {
        reserve(keys.count)
        for key in keys { insert(key) }
    }

    /// Makes room for as many keys.
    mutating func reserve(_ count: Int) {
        entries.reserveCapacity(count)
        growIndex(count)
    }

    var count: Int { entries.count + others.count }

    /// The keys by their numbers.
    var keys: [ObjectKey] {
        var keys = Array(repeating: ObjectKey.integer(0), count: count)
        for entry in entries { keys[Int(entry.number)] = .integer(entry.key) }
        for (key, number) in others { keys[number] = key }
        return keys
    }

    /// The number of a key; nil for one that has not come.
    func number(of key: ObjectKey) -> Int? {
        guard case .integer(let integer) = key else { return others[key] }
        if index.isEmpty { return nil }
        let entry = index[place(of: integer)]
        return entry == 0 ? nil : Int(entries[Int(entry) - 1].number)
    }

    /// Numbers a key, if it is new.
    @discardableResult
    mutating func insert(_ key: ObjectKey) -> (number: Int, isNew: Bool) {
        let next = count
        guard case .integer(let integer) = key else {
            if let number = others[key] { return (number, false) }
            others[key] = next
            return (next, true)
        }
        if !hasRoom(entries.count + 1) { growIndex(entries.count + 1) }
        let place = place(of: integer)
        if index[place] != 0 { return (Int(entries[Int(index[place]) - 1].number), false) }
        entries.append(Entry(key: integer, number: Int32(clamping: next)))
        index[place] = Int32(clamping: entries.count)
        return (next, true)
    }

    /// Where in `index` an integer stands, or would.
    private func place(of key: Int64) -> Int {
        // Spans: to read elements of an array in a loop retains it.
        let (index, entries) = (index.span, entries.span)
        let mask = index.count - 1
        var place = Int(truncatingIfNeeded: key.bits(mixedWith: secret)) & mask
        while index[place] != 0, entries[Int(index[place]) - 1].key != key { place = (place + 1) & mask }
        return place
    }

    private func hasRoom(_ count: Int) -> Bool { 2 * count <= index.count }

    private mutating func growIndex(_ count: Int) {
        if hasRoom(count) { return }
        var size = max(16, index.count)
        while size < 2 * count { size *= 2 }
        index = Array(repeating: 0, count: size)
        for (number, entry) in entries.enumerated() { index[place(of: entry.key)] = Int32(clamping: number + 1) }
    }
}
