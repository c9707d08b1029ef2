/// The statements that a connection has prepared, least recently used first out.
struct StatementCache {
    struct Key: Hashable {
        let text: StatementText
        let types: [PostgresDataType]
    }

    final class Entry {
        let name: String
        /// The columns of the statement's rows, known after the first execution.
        var columns: RowColumns?
        fileprivate var usedAt: UInt64 = 0

        init(name: String) {
            self.name = name
        }
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0
    private var count: UInt64 = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isOff: Bool { capacity == 0 }

    mutating func entry(_ key: Key) -> Entry? {
        guard let entry = entries[key] else { return nil }
        clock += 1
        entry.usedAt = clock
        return entry
    }

    /// Makes an entry under a new name; returns also the name that had to leave, if any.
    mutating func insert(_ key: Key) -> (entry: Entry, evicted: String?) {
        var evicted: String?
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) {
            evicted = oldest.value.name
            entries[oldest.key] = nil
        }
        count += 1
        clock += 1
        let entry = Entry(name: "kindred_\(count)")
        entry.usedAt = clock
        entries[key] = entry
        return (entry, evicted)
    }

    mutating func remove(_ key: Key) -> String? {
        entries.removeValue(forKey: key)?.name
    }

    mutating func removeAll() {
        entries = [:]
    }
}
