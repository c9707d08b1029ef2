/// The statements that a connection has prepared; the least recently used goes first.
struct StatementCache {
    /// A prepared statement, or one whose preparation is on its way.
    final class Entry {
        let text: StatementText
        let types: [PostgresDataType]
        let name: String
        /// The name as libpq takes it.
        let cName: [CChar]
        /// The columns of the statement's last result.
        var columns: RowColumns?
        fileprivate var usedAt: UInt64 = 0

        fileprivate init(text: StatementText, types: [PostgresDataType], name: String) {
            self.text = text
            self.types = types
            self.name = name
            cName = Array(name.utf8CString)
        }

        /// Whether it was prepared for parameters of these types.
        fileprivate func fits(_ bindings: Bindings) -> Bool {
            guard types.count == bindings.count else { return false }
            for (position, type) in types.enumerated() where bindings.slots[position].type != type { return false }
            return true
        }

        /// The statement without a name, which the next such one replaces.
        static func unnamed(_ statement: Statement) -> Entry {
            Entry(text: statement.text, types: [], name: "")
        }
    }

    private var capacity: Int
    /// No two connections give a statement the same name: behind a pooler they may share a session, where one of them
    /// would run what the other prepared.
    private let prefix = "kindred_\(String(UInt64.random(in: 0..<1 << 48), radix: 36))_"
    /// Mostly one for each text; more if it is used with parameters of several types.
    private var entries: [StatementText: [Entry]] = [:]
    /// The one found last: statements come in runs of the same.
    private var lastFound: Entry?
    private var count = 0
    private var clock: UInt64 = 0
    private var lastName: UInt64 = 0
    /// How often the session did not know a statement that was prepared in it.
    private var lostCount = 0
    /// Statements that left the cache and are still prepared on the server.
    private(set) var discarded: [String] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isOff: Bool { capacity == 0 }

    /// The entry for a statement, if it is prepared.
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

    /// Forgets the least recently used so that there is room for one more.
    mutating func makeRoom() {
        if isFull, let oldest = entries.values.joined().min(by: { $0.usedAt < $1.usedAt }) { remove(oldest) }
    }

    /// Makes an entry under a name that was never used before.
    mutating func insert(_ statement: Statement) -> Entry {
        makeRoom()
        clock += 1
        lastName += 1
        let entry = Entry(
            text: statement.text, types: statement.bindings.slots.map(\.type), name: "\(prefix)\(lastName)")
        entry.usedAt = clock
        entries[statement.text, default: []].append(entry)
        count += 1
        return entry
    }

    /// Forgets an entry, whose statement is to be deallocated unless the server never took it.
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

    /// Forgets an entry that the session does not know, though its statement was prepared.
    ///
    /// True if that happens so often that sessions seem to change behind the connection's back; then the cache is off.
    mutating func lose(_ entry: Entry) -> Bool {
        guard entries[entry.text]?.contains(where: { $0 === entry }) == true else { return false }
        remove(entry, wasRefused: true)
        lostCount += 1
        guard lostCount == 5, !isOff else { return false }
        removeAll()
        capacity = 0
        return true
    }

    /// Forgets everything because the server did.
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
