/// Keys, each once, numbered in the order in which they came.
struct KeyNumbers: Sendable {
    /// The keys by their numbers.
    private(set) var keys: [ObjectKey] = []
    private var numbers: [ObjectKey: Int] = [:]

    init() {}

    init(_ keys: some Collection<ObjectKey>) {
        reserve(keys.count)
        for key in keys { insert(key) }
    }

    /// Makes room for as many keys.
    mutating func reserve(_ count: Int) {
        keys.reserveCapacity(count)
        numbers.reserveCapacity(count)
    }

    var count: Int { keys.count }

    /// The number of a key; nil for one that has not come.
    func number(of key: ObjectKey) -> Int? { numbers[key] }

    /// Numbers a key, if it is new.
    @discardableResult
    mutating func insert(_ key: ObjectKey) -> (number: Int, isNew: Bool) {
        let next = keys.count
        func find(_ number: inout Int) -> Int { number }
        let number = find(&numbers[key, default: next])
        if number == next { keys.append(key) }
        return (number, number == next)
    }
}
