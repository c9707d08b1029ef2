import KindredPostgres

/// The rows that one query found for many owners of a relationship, each once, even if owners share it; or their
/// counts.
package final class Answer: Sendable {
    /// The group that the rows form.
    let group: FetchGroup
    /// The effective time of the query: see ``TransactionTimes``.
    let askedAt: ContextTime
    /// The transaction of the query: after its rollback the answer is invalid.
    let scope: TransactionScope?
    let rows: [Member]
    /// The owners that were queried, and any further owners in the answer.
    private let owners: KeyNumbers
    /// The positions in `rows` of each owner's members, owner by owner.
    private let places: [Int32]
    /// The end of each owner's places.
    private let ends: [Int32]
    /// The number of each owner's members, if the query only counted them.
    private let counts: [Int]

    /// Collects a result while it is read.
    package struct Builder: Sendable {
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

        /// The number of distinct rows.
        var count: Int { rows.count }

        /// Whether rows came for owners that were not queried: the server treats keys as equal that differ here.
        var hasOthers: Bool { owners.count > askedCount }

        /// Whether each owner that was queried has a member.
        var hasMembersOfAll: Bool {
            let found = Set(links.map(\.owner))
            return (0..<askedCount).allSatisfy { found.contains(Int32(clamping: $0)) }
        }

        /// The rows that were found for some of the owners.
        package func part(of wanted: KeyNumbers) -> Builder {
            if wanted.count == owners.count { return self }
            var part = Builder(owners: wanted, count: 0)
            var places: [Int32: Int] = [:]
            for link in links {
                let owner = owners.keys[Int(link.owner)]
                guard wanted.number(of: owner) != nil else { continue }
                if let place = places[link.place] {
                    part.share(place, with: owner)
                } else {
                    let member = rows[Int(link.place)]
                    places[link.place] = part.count
                    part.append(member.key, member.row, to: owner)
                }
            }
            return part
        }

        /// Adds a new row for an owner.
        mutating func append(_ key: ObjectKey, _ row: Row, to owner: ObjectKey) {
            rows.append(Member(key: key, row: row, position: Int32(clamping: rows.count)))
            share(rows.count - 1, with: owner)
        }

        /// Adds a row to another owner that shares it.
        mutating func share(_ place: Int, with owner: ObjectKey) {
            links.append((Int32(clamping: owners.insert(owner).number), Int32(clamping: place)))
        }

        package func build(askedAt: ContextTime, in scope: TransactionScope?) -> Answer {
            // A counting sort, so that each link is written once.
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
            return Answer(
                rows: rows, owners: owners, places: places, ends: ends, askedAt: askedAt, in: scope)
        }
    }

    private init(
        rows: [Member], owners: KeyNumbers, places: [Int32], ends: [Int32], askedAt: ContextTime,
        in scope: TransactionScope?
    ) {
        self.rows = rows
        self.owners = owners
        self.places = places
        self.ends = ends
        self.askedAt = askedAt
        self.scope = scope
        counts = []
        group = FetchGroup(.members(rows), askedAt: askedAt)
    }

    /// The numbers of members, by the owners' numbers.
    init(counts: [Int], of owners: KeyNumbers, askedAt: ContextTime, in scope: TransactionScope?) {
        (self.counts, self.owners, self.askedAt, self.scope) = (counts, owners, askedAt, scope)
        (rows, places, ends) = ([], [], [])
        group = FetchGroup(.members([]), askedAt: askedAt)
    }

    /// An answer without rows.
    static func empty(askedAt: ContextTime) -> Answer {
        Answer(counts: [], of: KeyNumbers(), askedAt: askedAt, in: nil)
    }

    /// The members of one owner, from a write of their order or put together in memory.
    convenience init(_ members: [Member], askedAt: ContextTime, in scope: TransactionScope?) {
        self.init(
            rows: members, owners: KeyNumbers(), places: members.indices.map { Int32(clamping: $0) }, ends: [],
            askedAt: askedAt, in: scope)
    }

    /// Whether the answer's transaction has been rolled back.
    var isUndone: Bool { scope?.isUndone == true }

    /// The number of an owner's members; nil if it was not queried.
    func count(of owner: ObjectKey) -> Int? {
        guard let number = owners.number(of: owner), number < counts.count else { return nil }
        return counts[number]
    }

    /// The members of an owner; nil if it was not queried.
    package func members(of owner: ObjectKey) -> LoadedMembers? {
        guard let number = owners.number(of: owner), number < ends.count else { return nil }
        return LoadedMembers(self, Int(number == 0 ? 0 : ends[number - 1])..<Int(ends[number]))
    }

    /// The members of an owner; none if it was not queried.
    func knownMembers(of owner: ObjectKey) -> LoadedMembers { members(of: owner) ?? LoadedMembers(self, 0..<0) }

    /// Whether an owner was queried.
    func contains(_ owner: ObjectKey) -> Bool { owners.number(of: owner) != nil }

    /// Lends the members at some places, in their order.
    func forEach(at range: Range<Int>, _ body: (Member) -> Void) {
        // Spans: to take a member out of an array copies it.
        let (rows, places) = (rows, places)
        let members = rows.span
        let numbers = places.span
        for place in range { body(members[Int(numbers[place])]) }
    }

    /// A member by its place among the members of all owners.
    subscript(place: Int) -> Member { rows[Int(places[place])] }
}
