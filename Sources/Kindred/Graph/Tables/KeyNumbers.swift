/// Distinct keys, numbered in the order of insertion.
package struct KeyNumbers: Sendable {
    /// The keys by their numbers.
    package private(set) var keys: [ObjectKey] = []
    /// Nearly all keys are integers.
    private var integers = IntegerNumbers()
    private var others: [ObjectKey: Int] = [:]

    package init() {}

    package init(_ keys: some Collection<ObjectKey>) {
        reserve(keys.count)
        for key in keys { insert(key) }
    }

    mutating func reserve(_ count: Int) {
        keys.reserveCapacity(count)
        integers.reserve(count)
    }

    package var count: Int { keys.count }

    /// The number of a key; nil if it was not inserted.
    func number(of key: ObjectKey) -> Int? {
        if case .integer(let integer) = key { integers.number(of: integer) } else { others[key] }
    }

    /// Numbers a key, if it is new.
    @discardableResult
    package mutating func insert(_ key: ObjectKey) -> (number: Int, isNew: Bool) {
        let next = keys.count
        if case .integer(let integer) = key {
            if let number = integers.number(of: integer, orMake: next) { return (number, false) }
        } else {
            if let number = others[key] { return (number, false) }
            others[key] = next
        }
        keys.append(key)
        return (next, true)
    }
}
