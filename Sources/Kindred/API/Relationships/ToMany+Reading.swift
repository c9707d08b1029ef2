import KindredPostgres
import KindredSchema

extension ToMany {
    /// The same set, which names the line of this call in statements of its properties and of loops over it.
    ///
    /// `author.books` cannot tell where it is; `for try await book in author.books()` can. Sends nothing.
    public func callAsFunction(fileID: String = #fileID, line: Int = #line) -> ToMany {
        ToMany(owner, known, at: SourcePlace(fileID: fileID, line: line))
    }

    /// The members, as ``objects`` gives them, by a call whose statement names its line.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [Member] {
        try await self(fileID: fileID, line: line).objects
    }

    /// The members, each once, in the order they were read.
    ///
    /// Sends one query the first time, nothing after that. Throws `KindredError` `.objectDeleted` for a deleted owner.
    public var objects: [Member] {
        get async throws { try typed(try await context.members(of: relationship, owner: owner, at: place)) }
    }

    /// The number of members: from memory if they are loaded, else by one `SELECT count(*)`.
    ///
    /// As with the members themselves, one statement counts for all objects that were read together, and its answer is kept
    /// for each of them until something changes it or the owner is refreshed. An owner that was read alone asks each time.
    public var count: Int {
        get async throws {
            try context.requireLive(owner)
            let relationship = try relationship
            if let loaded = context.loadedMembers(of: relationship, owner: owner) { return loaded.count }
            if context.stagedChange(relationship, of: owner) != nil { return try await objects.count }
            return try await context.countMembers(of: relationship, owner: owner, at: place)
        }
    }

    /// Whether there are no members: from memory if they are loaded, else by one small query, as ``count`` asks it.
    public var isEmpty: Bool {
        get async throws {
            try context.requireLive(owner)
            let relationship = try relationship
            if let loaded = context.loadedMembers(of: relationship, owner: owner) { return loaded.count == 0 }
            if context.stagedChange(relationship, of: owner) != nil { return try await objects.isEmpty }
            return try await !context.hasMembers(of: relationship, owner: owner, at: place)
        }
    }

    /// Whether the object is a member: from memory if the members are loaded, else by one small query.
    ///
    /// An object of another entity, another context or that is deleted is no member.
    public func contains(_ object: DatabaseObject, fileID: String = #fileID, line: Int = #line) async throws -> Bool {
        return try await context.client.called(at: fileID, line) {
            try context.requireLive(owner)
            let relationship = try relationship
            guard object.core === context.core, try object.runtime === destination, !object.isDeleted,
                let key = object.key
            else { return false }
            if let isLoaded = context.isLoadedMember(key, of: relationship, owner: owner) { return isLoaded }
            if let change = context.stagedChange(relationship, of: owner) {
                if change.joined.contains(where: { $0 === object }) { return true }
                if change.left.contains(key) { return false }
            }
            if object.isInserted { return false }
            try context.requireFaulting(relationship, at: SourcePlace(fileID: fileID, line: line))
            return try await context.hasMember(object, of: relationship, owner: owner)
        }
    }
}

extension ToMany: AsyncSequence {
    /// Walks the members as they are when the first is asked for; changes during the walk do not disturb it.
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

extension ToMany: CustomStringConvertible {
    /// Owner and name of the relationship, without values.
    public var description: String {
        "\(owner).\(name)"
    }
}

extension ToMany: PropertyValue {
    /// The set, to be read when it is used: `setValue(other.emails, forKey: "emailSet")`.
    public var propertyContent: PropertyContent {
        .set(ToMany<DatabaseObject>(owner, known, at: place))
    }
}

extension ToMany {
    var context: DatabaseContext { owner.context }

    /// The relationship's name, for errors.
    var name: String { known?.model.name ?? "?" }

    /// Throws `.classMismatch` where there is none.
    var relationship: RelationshipRuntime {
        get throws {
            if let known { return known }
            throw owner.noProperty("relationship")
        }
    }

    var destination: EntityRuntime {
        get throws { context.runtime.entities[try relationship.destination] }
    }

    func typed(_ objects: [DatabaseObject]) throws -> [Member] {
        try destination.typed(objects)
    }
}
