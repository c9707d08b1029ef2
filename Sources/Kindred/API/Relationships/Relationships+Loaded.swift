// The loaded part of a relationship, without I/O. In a Foundation predicate, which can only use properties that neither
// await nor throw, it means the relationship itself.

extension ToMany {
    /// The members in memory; empty before they are loaded.
    ///
    /// Sends nothing. Within `#Predicate` it means all members in the database.
    public var loaded: [Member] {
        (try? objectsInMemory.map { try typed($0) }) ?? []
    }
}

extension ToMany {
    /// The members in memory; nil if they are not loaded.
    var objectsInMemory: [DatabaseObject]? {
        guard !owner.isDeleted, let known else { return nil }
        let core = owner.core
        return core.loadedMembers(of: known, owner: owner).flatMap { core.objects($0, of: known.destination) }
    }
}

extension ToOne where Target: DatabaseObject {
    /// The object at the other end, if it is in memory.
    ///
    /// Sends nothing. Within `#Predicate` it means the object in the database.
    public var loaded: Target? {
        objectInMemory as? Target
    }
}

extension ToOne where Target: ExpressibleByNilLiteral {
    /// The object at the other end, if there is one in memory.
    ///
    /// Sends nothing. Within `#Predicate` it means the object in the database.
    public var loaded: Target {
        objectInMemory.flatMap { Target.target($0) } ?? nil
    }
}

extension ToOne {
    private var objectInMemory: DatabaseObject? {
        guard let known else { return nil }
        return Loader(owner.core).loadedDestination(of: known, from: owner)
    }
}
