import KindredPostgres
import KindredSchema

/// A part of a to-many relationship, to be loaded instead of all its members: for each owner, the first members in an
/// order that fulfil a condition.
///
/// ```swift
/// let projects = try await context.fetch("project")
///     .prefetch("tasks") { $0.where("deleted_at == nil").sorted("position").limit(5) }
///     .all()
/// ```
///
/// A value that is narrowed step by step, as a ``FetchRequest`` is. No step throws: the call that takes the part checks
/// it, and throws the steps' errors before anything is sent.
public struct RelationshipPart<Member: DatabaseObject>: Sendable {
    var content = PartContent()

    init() {}

    /// Adds a condition to the earlier ones, in the grammar of ``FetchRequest/where(_:_:)``.
    ///
    /// In a many-to-many relationship `@through` is the helper's row that pairs a member with the owner: `@through.role == %@`.
    public func `where`(_ format: String, _ arguments: (any PropertyValue)?...) -> RelationshipPart {
        self.where(format, arguments: arguments)
    }

    /// Adds a condition, with its arguments in an array.
    public func `where`(_ format: String, arguments: [(any PropertyValue)?]) -> RelationshipPart {
        changed { content in
            let condition = try Condition(format: format, arguments: arguments.map { try ConditionArgument($0) })
            content.conditions.append(condition)
        }
    }

    /// Sorts the members of each owner by a key path, after earlier sort keys, as a request does.
    ///
    /// Without an order the members come as the relationship orders them, or as the server finds them.
    public func sorted(
        _ keyPath: String, ascending: Bool = true, nulls: NullOrder = .standard
    ) -> RelationshipPart {
        changed { $0.sort.append(SortTerm(path: keyPath.keys, ascending: ascending, nulls: nulls)) }
    }

    /// Takes at most this many members of each owner; a negative number is an error.
    public func limit(_ count: Int) -> RelationshipPart { changed { $0.limit = count } }

    /// Takes also the members that the filter of their entity hides.
    public func unfiltered() -> RelationshipPart { changed { $0.isFiltered = false } }

    /// Reads the members without some columns, as a request does by `omitting`; also relationships that an earlier step
    /// prefetches with them.
    public func omitting(_ keyPaths: String...) -> RelationshipPart {
        changed { $0.leftOut.append(Omission(paths: keyPaths.map(\.keys))) }
    }

    /// Reads the members with some columns only, as a request does by `only`.
    public func only(_ keyPaths: String...) -> RelationshipPart {
        changed { $0.leftOut.append(Omission(paths: keyPaths.map(\.keys), isOnly: true)) }
    }

    /// Loads relationships together with the part's members, as a request does with its objects.
    public func prefetch(_ keyPaths: String...) -> RelationshipPart {
        changed { content in
            for path in keyPaths { content.branches.append(PartContent.Branch(path: path.keys)) }
        }
    }

    /// Loads a part of a to-many relationship together with the part's members.
    public func prefetch(
        _ keyPath: String,
        _ part: (RelationshipPart<DatabaseObject>) throws -> RelationshipPart<DatabaseObject>
    ) -> RelationshipPart {
        changed {
            $0.branches.append(
                PartContent.Branch(path: keyPath.keys, part: try part(RelationshipPart<DatabaseObject>()).content))
        }
    }

    /// The part after a step; its first error is kept.
    func changed(_ step: (inout PartContent) throws -> Void) -> RelationshipPart {
        var part = self
        do {
            try step(&part.content)
        } catch {
            part.content.problem = part.content.problem ?? error
        }
        return part
    }
}

/// The steps of a part, apart from the class of its members.
struct PartContent: Sendable {
    /// Relationships that are loaded with the members.
    struct Branch: Sendable {
        let path: [String]
        /// The part of the last relationship; nil for all of it.
        var part: PartContent?
    }

    /// A class whose columns a condition or sort key names as the helper's.
    struct Link: Sendable {
        let type: ObjectIdentifier
        let name: String

        init(_ type: DatabaseObject.Type) { (self.type, name) = (ObjectIdentifier(type), "\(type)") }
    }

    var conditions: [Condition] = []
    var sort: [SortTerm] = []
    var limit: Int?
    /// Whether the filters of entities hold.
    var isFiltered = true
    var branches: [Branch] = []
    /// The columns that are omitted from the members, and of rows that are loaded with them.
    var leftOut: [Omission] = []
    var links: [Link] = []
    /// The first error of a step.
    var problem: (any Error)?

    /// Whether it is all of a relationship, in its own order.
    private var isWhole: Bool { conditions.isEmpty && sort.isEmpty && limit == nil && isFiltered }

    /// The part of a relationship, with the relationships that are loaded below it.
    ///
    /// Throws the error of a step, and `KindredError`: `.invalidRequest` for a relationship to one object, `.unknownKey`,
    /// `.wrongType` and `.invalidCondition` as requests do.
    func branch(of relationship: RelationshipRuntime, in schema: DatabaseSchema) throws -> PrefetchTree.Branch {
        if let problem { throw problem }
        let tree = try tree(of: relationship.destination, in: schema)
        if isWhole { return PrefetchTree.Branch(relationship: relationship, tree: tree) }
        guard relationship.isToMany else {
            let name = "\(relationship.source.name).\(relationship.model.name)"
            throw KindredError(
                .invalidRequest, "\(name) leads to one object: only a relationship to many objects has parts",
                entity: relationship.source.name.description, key: relationship.model.name)
        }
        for link in links { try relationship.require(link) }
        var query = SelectQuery(relationship.destination)
        query.isFiltered = isFiltered
        if relationship.helper != nil { query.pairLink = PairLink(relationship: relationship.model) }
        for condition in conditions { try query.narrow(by: condition, in: schema) }
        for term in sort { try query.append(term, in: schema) }
        query.limit = limit
        let part = try PartQuery(relationship, query, in: schema)
        return PrefetchTree.Branch(relationship: relationship, part: part, tree: tree)
    }

    /// The relationships and parts that are loaded with objects of an entity.
    func tree(of entity: EntityRuntime, in schema: DatabaseSchema) throws -> PrefetchTree {
        if let problem { throw problem }
        var tree = PrefetchTree()
        for branch in branches {
            let path = try entity.relationships(at: branch.path)
            try tree.add(branch.part, at: path, in: schema)
        }
        for step in leftOut { try tree.leaveOut(step, of: entity) }
        return tree
    }

    /// The relationships that are loaded with objects in memory; such objects take no conditions, order or limit.
    func treeAlone(of entity: EntityRuntime, in schema: DatabaseSchema) throws -> PrefetchTree {
        guard isWhole else {
            throw KindredError(
                .invalidRequest,
                "The objects are given: only their relationships have parts here, by prefetch",
                entity: entity.name.description)
        }
        return try tree(of: entity, in: schema)
    }
}

extension PrefetchTree {
    /// Adds the relationships of a path; if a part is given, that part of the last relationship.
    mutating func add(
        _ part: PartContent?, at path: [RelationshipRuntime], in schema: DatabaseSchema
    ) throws {
        guard let part, let last = path.last else { return add(path[...]) }
        add(try part.branch(of: last, in: schema), behind: path.dropLast())
    }
}

extension RelationshipRuntime {
    /// Throws unless the rows that pair members with owners are of a class.
    func require(_ link: PartContent.Link) throws {
        let expected = helper?.entity.layout?.objectClass.objectType
        if let expected, ObjectIdentifier(expected) == link.type { return }
        let name = "\(source.name).\(model.name)"
        let truth = expected.map { "its helper is \($0)" } ?? "it has no helper with a class"
        throw KindredError(
            .wrongType, "\(link.name) does not pair the members of \(name) with their owner: \(truth)",
            entity: source.name.description, key: model.name)
    }
}

extension EntityRuntime {
    /// The relationships at the keys of a path.
    ///
    /// Throws `KindredError` `.unknownKey` for a key that is no relationship.
    func relationships(at keys: [String]) throws -> [RelationshipRuntime] {
        var place = self
        var path: [RelationshipRuntime] = []
        for key in keys {
            guard let relationship = place.relationship(named: key) else {
                guard place.attributeIndex(of: key) != nil else { throw place.unknownKey(key) }
                throw KindredError(
                    .unknownKey,
                    "\(place.name).\(key) is an attribute; only relationships are prefetched",
                    entity: place.name.description,
                    key: key
                )
            }
            path.append(relationship)
            place = relationship.destination
        }
        return path
    }
}
