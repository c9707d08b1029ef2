/// The rows that one query found for many owners of a relationship: each row once, however many owners share it; or how
/// many there are.
final class LoadedBatch: Sendable {
    /// The group that the rows form.
    let group: LoadGroup
    /// When the query was sent, as far as it counts: see ``TransactionTimes``.
    let askedAt: UInt64
    /// The transaction in which it was sent: if that is undone, the answer is worth nothing.
    let scope: TransactionScope?
    let rows: [Member]
    /// Those that were asked for, and whoever else came.
    private let owners: KeyNumbers
    /// The places in `rows` of each owner's members, owner by owner.
    private let places: [Int32]
    /// Where each owner's places end.
    private let ends: [Int32]
    /// How many members each owner has, where they were only counted.
    private let counts: [Int]

    /// Whether rows came for owners that were not asked for: the server holds keys equal that differ here.
    let hasStrangers: Bool

    /// What is found while a result is read.
    struct Builder {
        private var owners: KeyNumbers
        private let askedCount: Int
        private var rows: [Member] = []
        private var links: [(owner: Int32, place: Int32)] = []

        init(owners: KeyNumbers, count: Int) {
            self.owners = owners
            askedCount = owners.count
            rows.reserveCapacity(count)
            links.reserveCapacity(count)
        }

        /// The number of different rows.
        var count: Int { rows.count }

        /// Adds a row that is not there yet, for an owner.
        mutating func append(_ key: ObjectKey, _ row: Row, to owner: ObjectKey) {
            rows.append(Member(key: key, row: row, position: Int32(clamping: rows.count)))
            share(rows.count - 1, with: owner)
        }

        /// Adds a row that another owner has too.
        mutating func share(_ place: Int, with owner: ObjectKey) {
            links.append((Int32(clamping: owners.insert(owner).number), Int32(clamping: place)))
        }

        func build(askedAt: UInt64, in scope: TransactionScope?) -> LoadedBatch {
            // Counted first, so that each link is put where it belongs at once.
            var ends = Array(repeating: 0 as Int32, count: owners.count)
            for link in links { ends[Int(link.owner)] += 1 }
            var sum: Int32 = 0
            for owner in ends.indices {
                let count = ends[owner]
                ends[owner] = sum
                sum += count
            }
            var places = Array(repeating: 0 as Int32, count: links.count)
            for link in links {
                places[Int(ends[Int(link.owner)])] = link.place
                ends[Int(link.owner)] += 1
            }
            return LoadedBatch(rows, owners, places, ends, askedAt, scope, hasStrangers: owners.count > askedCount)
        }
    }

    private init(
        _ rows: [Member], _ owners: KeyNumbers, _ places: [Int32], _ ends: [Int32], _ askedAt: UInt64,
        _ scope: TransactionScope?, hasStrangers: Bool
    ) {
        self.hasStrangers = hasStrangers
        self.rows = rows
        self.owners = owners
        self.places = places
        self.ends = ends
        self.askedAt = askedAt
        self.scope = scope
        counts = []
        group = LoadGroup(.members(rows), askedAt: askedAt)
    }

    /// The numbers of members, by the owners' numbers.
    init(counts: [Int], of owners: KeyNumbers, askedAt: UInt64, in scope: TransactionScope?) {
        (self.counts, self.owners, self.askedAt, self.scope) = (counts, owners, askedAt, scope)
        (rows, places, ends, hasStrangers) = ([], [], [], false)
        group = LoadGroup(.members([]), askedAt: askedAt)
    }

    /// An answer without rows.
    static func empty(askedAt: UInt64) -> LoadedBatch {
        LoadedBatch(counts: [], of: KeyNumbers(), askedAt: askedAt, in: nil)
    }

    /// An order of members that a write has made, or an answer put together otherwise: one owner's members.
    convenience init(_ members: [Member], askedAt: UInt64, in scope: TransactionScope?) {
        self.init(
            members, KeyNumbers(), members.indices.map { Int32(clamping: $0) }, [], askedAt, scope, hasStrangers: false)
    }

    /// Whether the answer was given in a transaction that has been undone since.
    var isUndone: Bool { scope?.isUndone == true }

    /// How many members an owner has; nil if that was not asked for.
    func count(of owner: ObjectKey) -> Int? {
        guard let number = owners.number(of: owner), number < counts.count else { return nil }
        return counts[number]
    }

    /// The members of an owner; nil if it was not asked for.
    func members(of owner: ObjectKey) -> LoadedMembers? {
        guard let number = owners.number(of: owner), number < ends.count else { return nil }
        return LoadedMembers(self, Int(number == 0 ? 0 : ends[number - 1])..<Int(ends[number]))
    }

    /// What is found for an owner that was asked for.
    func found(for owner: ObjectKey) -> LoadGroup.Found {
        LoadGroup.Found(members: members(of: owner) ?? LoadedMembers(self, 0..<0))
    }

    /// Whether an owner was asked for.
    func contains(_ owner: ObjectKey) -> Bool { owners.number(of: owner) != nil }

    /// A member by its place among those of all owners.
    subscript(place: Int) -> Member { rows[Int(places[place])] }
}
