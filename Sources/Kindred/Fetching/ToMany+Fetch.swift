extension ToMany {
    /// A request for the members, to be narrowed further.
    ///
    /// Sends nothing. Throws `KindredError` `.objectDeleted` for a deleted owner.
    public func request() throws -> FetchRequest<Member> {
        try context.requireLive(owner)
        let inverse = destination.relationships[relationship.inverseSlot].model
        let format = inverse.isToMany ? "ANY %K == %@" : "%K == %@"
        let request = FetchRequest<Member>(context: context, entity: destination)
        return try request.where(format, inverse.name, owner)
    }

    /// The members that fulfil a condition in the grammar of ``FetchRequest/where(_:_:)``.
    public func `where`(_ format: String, _ arguments: (any PropertyValue)?...) throws -> FetchRequest<Member> {
        try request().where(format, arguments: arguments)
    }

    /// The members sorted by a key path.
    public func sorted(_ keyPath: String, ascending: Bool = true) throws -> FetchRequest<Member> {
        try request().sorted(keyPath, ascending: ascending)
    }

    /// At most this many members.
    public func limit(_ count: Int) throws -> FetchRequest<Member> {
        try request().limit(count)
    }
}
