/// The prepared statements of a connection; evicts the least recently used.
struct StatementCache {
    /// A prepared statement, or one being prepared.
    final class Entry {
        let text: StatementText
        let types: [PostgresDataType]
        let name: String
        /// The text that is prepared.
        let sentText: String
        /// The name for libpq.
        let cName: [CChar]
        /// The columns of the statement's last result.
        var columns: RowColumns?
        fileprivate var usedAt: UInt64 = 0

        fileprivate init(text: StatementText, types: [PostgresDataType], name: String, generation: Int = 0) {
            self.text = text
            self.types = types
            self.name = name
            sentText = generation == 0 ? text.text : "\(text.text)\n/* \(generation) */"
            cName = Array(name.utf8CString)
        }

        /// Whether it was prepared for these parameter types.
        fileprivate func fits(_ bindings: Bindings) -> Bool {
            guard types.count == bindings.count else { return false }
            for (position, type) in types.enumerated() where bindings.slots[position].type != type { return false }
            return true
        }

        /// The unnamed statement, replaced by the next one.
        static func unnamed(_ statement: Statement) -> Entry {
            Entry(text: statement.text, types: [], name: "")
        }
    }

    private var capacity: Int
    /// Whether a pooler may give equal texts of several connections the same statement of the server.
    private let sharesStatements: Bool
    /// The number of times that a text's shared statement became stale: the server goes on refusing that statement, so
    /// that the text is sent with the number from then on.
    private var generations: [StatementText: Int] = [:]
    /// Unique for each connection: behind a pooler two connections may share a session, and one would run the other's
    /// statement.
    private let prefix = "kindred_\(String(UInt64.random(in: 0..<1 << 48), radix: 36))_"
    /// Mostly one for each text; several if it is used with different parameter types.
    private var entries: [StatementText: [Entry]] = [:]
    /// Statements tend to repeat.
    private var lastFound: Entry?
    private var count = 0
    private var clock: UInt64 = 0
    private var lastName: UInt64 = 0
    /// The number of times the session did not know a prepared statement.
    private var lostCount = 0
    /// Evicted statements still to be deallocated on the server.
    private(set) var discarded: [String] = []

    init(capacity: Int, sharesStatements: Bool = false) {
        self.capacity = capacity
        self.sharesStatements = sharesStatements
    }

    var isOff: Bool { capacity == 0 }

    /// The entry of a prepared statement.
    mutating func find(_ statement: Statement) -> Entry? {
        clock += 1
        if let lastFound, lastFound.text === statement.text, lastFound.fits(statement.bindings) {
            lastFound.usedAt = clock
            return lastFound
        }
        guard let entry = entries[statement.text]?.first(where: { $0.fits(statement.bindings) }) else { return nil }
        entry.usedAt = clock
        lastFound = entry
        return entry
    }

    var isFull: Bool { count >= capacity }

    /// Evicts the least recently used entries to make room for one.
    mutating func makeRoom() {
        if isFull, let oldest = entries.values.joined().min(by: { $0.usedAt < $1.usedAt }) { remove(oldest) }
    }

    /// Adds an entry under a new name.
    mutating func insert(_ statement: Statement) -> Entry {
        makeRoom()
        clock += 1
        lastName += 1
        let entry = Entry(
            text: statement.text, types: statement.bindings.slots.map(\.type), name: "\(prefix)\(lastName)",
            generation: generations[statement.text] ?? 0)
        entry.usedAt = clock
        entries[statement.text, default: []].append(entry)
        count += 1
        return entry
    }

    /// Evicts an entry; its statement is deallocated unless its preparation failed.
    mutating func remove(_ entry: Entry, wasRefused: Bool = false) {
        guard var variants = entries[entry.text], let index = variants.firstIndex(where: { $0 === entry }) else {
            return
        }
        variants.remove(at: index)
        if lastFound === entry { lastFound = nil }
        entries[entry.text] = variants.isEmpty ? nil : variants
        count -= 1
        if !wasRefused { discarded.append(entry.name) }
    }

    /// Evicts an entry whose plan or types the server has found to be stale.
    mutating func outdate(_ entry: Entry) {
        guard entries[entry.text]?.contains(where: { $0 === entry }) == true else { return }
        remove(entry)
        if sharesStatements { generations[entry.text, default: 0] += 1 }
    }

    /// Evicts an entry whose prepared statement the session does not know.
    ///
    /// Returns true if that happens so often that a pooler seems to switch sessions; the cache is then off.
    mutating func lose(_ entry: Entry) -> Bool {
        guard entries[entry.text]?.contains(where: { $0 === entry }) == true else { return false }
        remove(entry, wasRefused: true)
        lostCount += 1
        guard lostCount == 5, !isOff else { return false }
        removeAll()
        capacity = 0
        return true
    }

    /// Empties the cache after the server deallocated all statements.
    mutating func removeAll() {
        entries = [:]
        lastFound = nil
        count = 0
        discarded = []
    }

    /// Takes the names to deallocate on the server.
    mutating func takeDiscarded() -> [String] {
        defer { discarded = [] }
        return discarded
    }
}
