public import KindredPostgres

extension ToMany where Member: TypedObject {
    /// The members that fulfil a condition: `project.tasks.where { $0.deletedAt == nil }`.
    ///
    /// A request, which may be narrowed further. The part of a set that was prefetched is answered from memory, also its count:
    /// see <doc:Fetching>. Sends nothing. Throws `KindredError` `.objectDeleted` for a deleted owner, and as
    /// a request's `where` does.
    public func `where`(_ condition: (Columns<Member>) throws -> Condition) throws -> FetchRequest<Member> {
        try request().where(condition)
    }

    /// The members whose pair with the owner fulfils a condition on the helper's columns:
    /// `team.members.where(through: Membership.self) { $0.role == "admin" }`.
    ///
    /// Throws as ``FetchRequest/where(through:_:)`` does. Sends nothing.
    public func `where`<Link: TypedObject>(
        through link: Link.Type, _ condition: (Columns<Link>) throws -> Condition
    ) throws -> FetchRequest<Member> {
        try request().where(through: link, condition)
    }

    /// The members sorted by a column: `project.tasks.sorted { $0.position }.limit(5)`.
    public func sorted<Value: PostgresEncodable>(
        ascending: Bool = true, nulls: NullOrder = .standard,
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest<Member> {
        try request().sorted(ascending: ascending, nulls: nulls, column)
    }

    /// The members sorted by a column of the helper's rows that pair them with the owner.
    public func sorted<Link: TypedObject, Value: PostgresEncodable>(
        through link: Link.Type, ascending: Bool = true, nulls: NullOrder = .standard,
        _ column: (Columns<Link>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest<Member> {
        try request().sorted(through: link, ascending: ascending, nulls: nulls, column)
    }
}

extension FetchRequest where Object: TypedObject {
    /// Keeps the members of a many-to-many set whose pair with the owner fulfils a condition on the helper's columns.
    ///
    /// Sends nothing. Throws `KindredError` `.wrongType` if the class is not the class of the set's helper, or the
    /// request is not for the members of a set; and as a condition on the rows does.
    public func `where`<Link: TypedObject>(
        through link: Link.Type, _ condition: (Columns<Link>) throws -> Condition
    ) throws -> FetchRequest {
        try requirePairs(with: link)
        return try self.where(try Columns.condition(at: [PairLink.key], condition))
    }

    /// Sorts the members of a many-to-many set by a column of the helper's rows that pair them with the owner.
    ///
    /// Sends nothing. Throws as ``where(through:_:)`` does.
    public func sorted<Link: TypedObject, Value: PostgresEncodable>(
        through link: Link.Type, ascending: Bool = true, nulls: NullOrder = .standard,
        _ column: (Columns<Link>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest {
        try requirePairs(with: link)
        return try sorted(
            try Columns.sortTerm(at: [PairLink.key], ascending: ascending, nulls: nulls, column))
    }

    private func requirePairs<Link: TypedObject>(with link: Link.Type) throws {
        if let set { return try set.relationship.require(PartContent.Link(link)) }
        throw KindredError(
            .wrongType, "\(link) pairs members with an owner: only a request for the members of a set has one",
            entity: entity.name.description)
    }
}
