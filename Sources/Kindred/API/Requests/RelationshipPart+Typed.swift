public import KindredPostgres

extension RelationshipPart where Member: TypedObject {
    /// Takes the members that fulfil a condition: `where { $0.deletedAt == nil }`.
    public func `where`(_ condition: (Columns<Member>) throws -> Condition) -> RelationshipPart {
        changed { $0.conditions.append(try Columns.condition(condition)) }
    }

    /// Takes the members whose pair with the owner fulfils a condition on the helper's columns:
    /// `where(through: Membership.self) { $0.role == "admin" }`.
    ///
    /// Only for many-to-many relationships, with the class of their helper.
    public func `where`<Link: TypedObject>(
        through link: Link.Type, _ condition: (Columns<Link>) throws -> Condition
    ) -> RelationshipPart {
        changed { content in
            content.links.append(PartContent.Link(link))
            content.conditions.append(try Columns.condition(at: [PairLink.key], condition))
        }
    }

    /// Sorts the members of each owner, after earlier sort keys: `sorted { $0.position }`.
    public func sorted<Value: PostgresEncodable>(
        ascending: Bool = true, nulls: NullOrder = .standard,
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) -> RelationshipPart {
        changed { content in
            content.sort.append(try Columns.sortTerm(ascending: ascending, nulls: nulls, column))
        }
    }

    /// Sorts the members of each owner by a column of the helper: `sorted(through: Membership.self) { $0.since }`.
    public func sorted<Link: TypedObject, Value: PostgresEncodable>(
        through link: Link.Type, ascending: Bool = true, nulls: NullOrder = .standard,
        _ column: (Columns<Link>) throws -> ColumnExpression<Value>
    ) -> RelationshipPart {
        changed { content in
            content.links.append(PartContent.Link(link))
            content.sort.append(try Columns.sortTerm(at: [PairLink.key], ascending: ascending, nulls: nulls, column))
        }
    }

    /// Loads relationships together with the part's members: `prefetch(\.labels)`.
    public func prefetch<Path: RelationshipPath>(_ path: KeyPath<Columns<Member>, Path>) -> RelationshipPart {
        changed { content in
            let keys = try Columns<Member>(of: .own)[keyPath: path].relationshipKeys
            content.branches.append(PartContent.Branch(path: keys))
        }
    }

    /// Loads a part of a to-many relationship together with the part's members.
    public func prefetch<Below: TypedObject>(
        _ path: KeyPath<Columns<Member>, MemberColumns<Below>>,
        _ part: (RelationshipPart<Below>) throws -> RelationshipPart<Below>
    ) -> RelationshipPart {
        changed { content in
            let keys = try Columns<Member>(of: .own)[keyPath: path].relationshipKeys
            content.branches.append(PartContent.Branch(path: keys, part: try part(RelationshipPart<Below>()).content))
        }
    }
}

extension FetchRequest where Object: TypedObject {
    /// Loads a part of a to-many relationship together with the objects:
    /// `prefetch(\.tasks) { $0.where { $0.deletedAt == nil }.sorted { $0.position }.limit(5) }`.
    ///
    /// One more query for any number of objects, as with a name. The same part asked of the set is answered from the
    /// loaded members: `project.tasks.where { … }.sorted { … }.limit(5).all()`. Throws the errors of the part's steps.
    /// Sends nothing itself.
    public func prefetch<Member: TypedObject>(
        _ path: KeyPath<Columns<Object>, MemberColumns<Member>>,
        _ part: (RelationshipPart<Member>) throws -> RelationshipPart<Member>
    ) throws -> FetchRequest {
        try prefetch(
            path: try Columns<Object>(of: .own)[keyPath: path].relationshipKeys,
            try part(RelationshipPart<Member>()).content)
    }
}
