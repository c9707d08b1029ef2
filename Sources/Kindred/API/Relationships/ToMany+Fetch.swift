import KindredPostgres

extension ToMany {
    /// A request for the members, to be narrowed further; those of an ordered relationship come in their order unless the
    /// request is sorted.
    ///
    /// Sends nothing. Throws `KindredError` `.objectDeleted` for a deleted owner.
    public func request() throws -> FetchRequest<Member> {
        try context.requireLive(owner)
        let (relationship, destination) = (try relationship, try destination)
        let inverse = destination.relationships[relationship.inverseSlot].model
        let format = inverse.isToMany ? "ANY %K == %@" : "%K == %@"
        var request = FetchRequest<Member>(context: context, entity: destination)
        request.query.memberOrder = try memberOrder
        return try request.where(format, inverse.name, owner)
    }

    private var memberOrder: MemberOrder? {
        get throws {
            let relationship = try relationship
            guard let position = relationship.model.orderedBy, relationship.position != nil else { return nil }
            var values: [PostgresValue] = []
            if case .helper(let link) = relationship.link {
                let row = owner.storedRow
                values = try link.source.compactMap { try row[$0] }
                guard values.count == link.source.count else { return nil }
            }
            return MemberOrder(relationship: relationship.model, position: position, ownerValues: values)
        }
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
