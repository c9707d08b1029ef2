import KindredPostgres
import KindredSchema

extension ToMany {
    /// The set with the line of this call, which its statements name, for its properties and for loops over it.
    ///
    /// A property such as `author.books` does not know its caller's line; `for try await book in author.books()` does.
    /// Sends nothing.
    public func callAsFunction(fileID: String = #fileID, line: Int = #line) -> ToMany {
        ToMany(owner, known, at: SourcePlace(fileID: fileID, line: line))
    }

    /// The members, as ``objects``; the statement names the line of this call.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [Member] {
        try await self(fileID: fileID, line: line).objects
    }

    /// The members, each once, in the order of the query.
    ///
    /// Sends one query the first time, nothing after that. Throws `KindredError` `.objectDeleted` for a deleted owner.
    public var objects: [Member] {
        get async throws {
            let relationship = try relationship
            if let known = Loader(owner.core).membersAtHand(of: relationship, owner: owner) { return try typed(known) }
            return try typed(try await Loader(owner.core).members(of: relationship, owner: owner, at: place))
        }
    }

    /// The number of members: from memory if they are loaded, else by one `SELECT count(*)`.
    ///
    /// As for the members, one statement counts for all objects that were fetched together, and each keeps its count
    /// until a change or a refresh of the owner makes it stale. An owner fetched alone asks each time.
    public var count: Int {
        get async throws {
            return try await MemberCounter(owner.core, of: relationship, owner: owner, at: place).count()
        }
    }

    /// Whether there are no members: from memory if they are loaded, else by one small query, as for ``count``.
    public var isEmpty: Bool {
        get async throws {
            return try await !MemberCounter(owner.core, of: relationship, owner: owner, at: place).hasMembers()
        }
    }

    /// Whether the object is a member: from memory if the members are loaded, else by one small query.
    ///
    /// False for an object of another entity or context, and for a deleted one.
    public func contains(_ object: DatabaseObject, fileID: String = #fileID, line: Int = #line) async throws -> Bool {
        return try await owner.called(at: fileID, line) { core in
            let place = SourcePlace(fileID: fileID, line: line)
            return try await MemberCounter(core, of: relationship, owner: owner, at: place).contains(object)
        }
    }
}

extension ToMany: AsyncSequence {
    /// Iterates over a snapshot of the members, taken at the first element; changes during the iteration do not affect
    /// it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let set: ToMany
        private var members: IndexingIterator<[Member]>?

        init(_ set: ToMany) {
            self.set = set
        }

        /// The next member, or nil at the end.
        public mutating func next() async throws -> Member? {
            if members == nil { members = try await set.objects.makeIterator() }
            return members?.next()
        }
    }

    /// An iterator over the members; the query, if one is needed, is sent with the first element.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}

/// Not available: a loop without `try await` says in the compiler's words which one reads the members.
@available(*, unavailable, message: "members are read from the database: write for try await")
extension ToMany: Sequence {
    /// Not available: the members are read by `for try await`.
    public func makeIterator() -> IndexingIterator<[Member]> { [].makeIterator() }
}

extension ToMany: CustomStringConvertible {
    /// Owner and name of the relationship, without values.
    public var description: String {
        "\(owner).\(name)"
    }
}

extension ToMany: PropertyValue {
    /// The set, read on use: `setValue(other.emails, forKey: "emailSet")`.
    public var propertyContent: DatabaseObject.PropertyContent {
        .set(ToMany<DatabaseObject>(owner, known, at: place))
    }
}

extension ToMany {
    /// The relationship's name, for errors.
    var name: String { known?.model.name ?? "?" }

    /// Throws `.classMismatch` if there is none.
    var relationship: RelationshipRuntime {
        get throws {
            if let known { return known }
            throw owner.noProperty("relationship")
        }
    }

    var destination: EntityRuntime {
        get throws { try relationship.destination }
    }

    func typed(_ objects: [DatabaseObject]) throws -> [Member] {
        try destination.typed(objects)
    }
}

extension ToMany {
    /// A request for the members, to be narrowed further; an ordered relationship's members keep their order unless the
    /// request is sorted.
    ///
    /// In a many-to-many relationship `@through` is the helper's row that pairs a member with the owner: `@through.role`. A
    /// part of the set that was prefetched is answered from memory: see <doc:Fetching>.
    ///
    /// Sends nothing. Throws `KindredError` `.objectDeleted` for a deleted owner.
    public func request() throws -> FetchRequest<Member> {
        try owner.requireLive()
        let (relationship, destination) = (try relationship, try destination)
        var request = FetchRequest<Member>(context: owner.context, entity: destination)
        request.query.memberOrder = try memberOrder
        request.set = RequestedSet(owner: owner, relationship: relationship)
        if relationship.helper != nil {
            request.query.pairLink = PairLink(relationship: relationship.model, owner: owner)
        }
        request.query.owner = OwnerCondition(inverse: relationship.inverse.model, owner: owner)
        return request
    }

    private var memberOrder: MemberOrder? {
        get throws {
            let relationship = try relationship
            guard let position = relationship.model.orderedBy, relationship.position != nil else { return nil }
            var values: [PostgresValue] = []
            if relationship.helper != nil {
                let row = owner.storedRow
                values = try relationship.ownColumns.compactMap { try row[$0] }
                guard values.count == relationship.ownColumns.count else { return nil }
            }
            return MemberOrder(relationship: relationship.model, position: position, ownerValues: values)
        }
    }

    /// A request for all members, including members that the filter of their entity or of the helper table hides.
    public func unfiltered() throws -> FetchRequest<Member> { try request().unfiltered() }

    /// The members that fulfil a condition in the grammar of ``FetchRequest/where(_:_:)``.
    public func `where`(_ format: String, _ arguments: (any PropertyValue)?...) throws -> FetchRequest<Member> {
        try request().where(format, arguments: arguments)
    }

    /// The members sorted by a key path.
    public func sorted(
        _ keyPath: String, ascending: Bool = true, nulls: NullOrder = .standard
    ) throws -> FetchRequest<Member> {
        try request().sorted(keyPath, ascending: ascending, nulls: nulls)
    }

    /// At most this many members.
    public func limit(_ count: Int) throws -> FetchRequest<Member> {
        try request().limit(count)
    }
}
