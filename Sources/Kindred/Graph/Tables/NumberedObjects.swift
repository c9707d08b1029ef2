import KindredPostgres

/// Objects by numbers that mostly ascend, such as the numbers of temporary keys.
///
/// An object is nearly always added at the end: a binary search finds it, and nothing is hashed.
struct NumberedObjects<Object: AnyObject> {
    /// In the order of their numbers; nil for an object that was removed.
    private var entries: [(number: Int64, object: Object?)] = []
    /// The number of objects among the entries.
    private var count = 0
    /// Objects that were added when there were higher numbers.
    private var late: [Int64: Object] = [:]

    var isEmpty: Bool { count == 0 && late.isEmpty }

    var objects: [Object] { entries.compactMap(\.object) + late.values }

    subscript(number: Int64) -> Object? {
        get { place(number).map { entries[$0].object } ?? late[number] }
        set {
            if let place = place(number) {
                count += (newValue == nil ? 0 : 1) - (entries[place].object == nil ? 0 : 1)
                entries[place].object = newValue
                removeGaps()
            } else if let newValue, entries.isEmpty || entries[entries.count - 1].number < number {
                entries.append((number, newValue))
                count += 1
                if !late.isEmpty { late[number] = nil }
            } else {
                late[number] = newValue
            }
        }
    }

    private func place(_ number: Int64) -> Int? {
        if entries.isEmpty || entries[entries.count - 1].number < number { return nil }
        let entries = entries.span
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return entries[low].number == number ? low : nil
    }

    private mutating func removeGaps() {
        if count == 0 { entries = [] } else if entries.count > 2 * count + 16 { entries.removeAll { $0.object == nil } }
    }
}
