/// The objects of a context that have staged changes, held strongly until they are saved or rolled back.
struct StagedChanges: Sendable {
    private var entries: [ObjectIdentifier: (object: DatabaseObject, order: UInt64)] = [:]
    private var count: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The objects in the order in which they were first staged.
    var objects: [DatabaseObject] {
        entries.values.sorted { $0.order < $1.order }.map(\.object)
    }

    mutating func insert(_ object: DatabaseObject) {
        let id = ObjectIdentifier(object)
        guard entries[id] == nil else { return }
        count += 1
        entries[id] = (object, count)
    }

    mutating func remove(_ object: DatabaseObject) {
        entries[ObjectIdentifier(object)] = nil
    }
}
