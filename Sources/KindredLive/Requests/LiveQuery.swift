import Kindred
import KindredPostgres
import KindredSchema

/// A request that is asked again and again, apart from the contexts that show its answers.
struct LiveQuery: Sendable {
    /// Asks the server; it has no objects.
    let core: ContextCore
    let entity: EntityRuntime
    let query: SelectQuery
    /// The query as the program has made it.
    private let given: SelectQuery
    let prefetched: PrefetchTree
    /// The rows and columns that it reads, by the model.
    private let reads: Reads
    /// The tables behind the relations that the query reads.
    private(set) var tables: LiveTables
    private(set) var sources: [QualifiedName: LiveTables.Source] = [:]
    /// Whether a change of the entity's rows changes nothing but these rows in the answer, so that they alone need be asked for.
    private(set) var isAskedByKeys = false
    /// The prefetched relationships whose members alone change with a table's rows, by table.
    private(set) var memberBranches: [QualifiedName: Int] = [:]
    /// The columns and values that decide alone whether a row is in the answer; nil if the server has to.
    private(set) var equalities: Reads.Equalities?
    /// The order of the rows; nil if only the server can compare them, or if it is left to the server.
    let order: LiveOrder?
    /// Whether the rows have an order at all; otherwise each keeps its place.
    let isSorted: Bool
    let key: Key
    /// Where the program has begun it.
    let place: SourcePlace?
    private let statement: Statement
    /// The shape by which the request is asked together with other requests; nil if it is not asked by keys.
    private var knownShape: Shape?

    /// The parts that equal requests have in common, so that one evaluation is enough for all of them.
    struct Key: Hashable, Sendable {
        private let runtime: ObjectIdentifier
        private let entity: Int
        private let text: StatementText
        private let parameters: [UInt8]
        /// Type, offset and length of each parameter.
        private let slots: [[Int]]
        private let prefetched: Set<[PrefetchTree.Step]>
        /// A request without an order is sorted by its key in the statement, but its rows keep their places.
        private let isSorted: Bool

        init(
            _ statement: Statement, prefetching prefetched: PrefetchTree, isSorted: Bool, of entity: EntityRuntime,
            in runtime: SchemaRuntime
        ) {
            self.runtime = ObjectIdentifier(runtime)
            self.entity = entity.index
            text = statement.text
            parameters = statement.bindings.bytes
            slots = statement.bindings.slots.map { [Int($0.type.rawValue), $0.offset, $0.length] }
            self.prefetched = Set(prefetched.paths)
            self.isSorted = isSorted
        }
    }

    /// The common part of requests whose changed rows are asked for in one statement.
    struct Shape: Sendable {
        struct Key: Hashable {
            fileprivate let runtime: ObjectIdentifier
            fileprivate let entity: Int
            fileprivate let query: QueryShape.Key
            fileprivate let prefetched: [[PrefetchTree.Step]]
        }

        let key: Key
        fileprivate let query: QueryShape

        fileprivate init(
            _ query: SelectQuery, prefetching prefetched: PrefetchTree, of entity: EntityRuntime,
            in runtime: SchemaRuntime
        ) throws {
            self.query = try QueryShape(query, in: runtime.schema, of: entity)
            key = Key(
                runtime: ObjectIdentifier(runtime), entity: entity.index, query: self.query.key,
                prefetched: prefetched.paths)
        }
    }

    /// The name in the metrics.
    var name: String { place.map { "\(entity.name) at \($0)" } ?? "\(entity.name)" }

    /// Prepares a request; asks the catalog which tables it reads.
    ///
    /// Throws `KindredError` for a request whose answers cannot be followed.
    static func prepared(
        _ query: SelectQuery, prefetching prefetched: PrefetchTree, of entity: EntityRuntime, in core: ContextCore,
        at place: SourcePlace
    ) async throws -> LiveQuery {
        guard query.lock == nil else {
            throw KindredError(
                .invalidRequest, "A live request of \(entity.name) cannot lock rows: it only reads them",
                entity: entity.name.description)
        }
        try requireFollowable(entity)
        try prefetched.forEach { try requireFollowable($0.destination) }
        let reads = try reads(of: query, prefetching: prefetched, in: core.runtime)
        for name in reads.names(in: core.runtime) { try core.runtime[name]?.entity.requireRecordable() }
        let tables = try await LiveHub.tables(behind: reads.names(in: core.runtime), in: core)
        return try LiveQuery(
            query, prefetching: prefetched, of: entity, in: core, at: place, reading: reads, from: tables)
    }

    /// Makes a request whose tables are known.
    ///
    /// Throws `KindredError` where they cannot be followed.
    init(
        _ query: SelectQuery, prefetching prefetched: PrefetchTree = PrefetchTree(), of entity: EntityRuntime,
        in core: ContextCore, at place: SourcePlace? = nil, reading reads: Reads, from tables: LiveTables
    ) throws {
        let question = Question(
            query: query, prefetched: prefetched, entity: entity, model: core.runtime, reads: reads)
        try self.init(question, in: core, at: place, from: tables)
    }

    private init(
        _ question: Question, in core: ContextCore, at place: SourcePlace?, from tables: LiveTables
    ) throws {
        self.place = place
        let (model, entity, prefetched, reads) = (question.model, question.entity, question.prefetched, question.reads)
        let schema = model.schema
        self.core = ContextCore(
            database: core.database, model: model, client: core.client, tenant: core.tenant,
            loading: .batch, isReadOnly: true)
        self.entity = entity
        given = question.query
        var query = question.query
        // Memory compares them.
        query.leftOut = (query.leftOut ?? entity.lazyColumns)
            .subtracting(reads[entity]?.deciding ?? [])
        self.query = query.sortedByKey(in: schema)
        self.prefetched = prefetched
        self.reads = reads
        self.tables = tables
        isSorted = query.isSorted
        order = query.isSorted ? LiveOrder(self.query.sort, of: entity) : nil
        statement = try self.query.statement(in: schema)
        key = Key(statement, prefetching: prefetched, isSorted: isSorted, of: entity, in: model)
        try follow(tables)
    }

    /// The request with other tables behind the relations that it reads.
    func reading(from tables: LiveTables) throws -> LiveQuery {
        var query = self
        try query.follow(tables)
        return query
    }

    /// The question of a request, in a model of the database.
    struct Question: Sendable {
        fileprivate let query: SelectQuery
        fileprivate let prefetched: PrefetchTree
        fileprivate let entity: EntityRuntime
        fileprivate let model: SchemaRuntime
        fileprivate let reads: Reads

        /// The relations that it reads.
        var names: Set<QualifiedName> { reads.names(in: model) }
    }

    /// The question for the present tables; nil if it stays as it is.
    ///
    /// Throws where it cannot be asked any more, see `PresentTables`.
    func question(for present: PresentTables) throws -> Question? {
        for name in tables.names {
            if let error = core.runtime[name].flatMap({ present.end(of: $0) }) { throw error }
        }
        let model = try present.model.model(as: core)
        if model === core.runtime || tables.names.allSatisfy({ model[$0]?.entity == core.runtime[$0]?.entity }) {
            return nil
        }
        do {
            guard let entity = model[entity.name] else { return nil }
            let query = try given.rebound(to: model)
            let prefetched = try prefetched.rebound(to: model, from: self.entity, at: entity)
            return Question(
                query: query, prefetched: prefetched, entity: entity, model: model,
                reads: try Self.reads(of: query, prefetching: prefetched, in: model))
        } catch {
            throw PresentTables.end(of: entity, for: error)
        }
    }

    /// The request with another question.
    func asking(_ question: Question, from tables: LiveTables) throws -> LiveQuery {
        try LiveQuery(question, in: core, at: place, from: tables)
    }

    /// The tables behind it that the model has.
    var followed: [EntityRuntime] { sources.keys.compactMap { core.runtime[$0] } }

    /// Why the objects cannot be given as their classes any more; nil if they can.
    func misfit(in present: PresentTables) -> KindredError? {
        var error = present.misfit(of: entity)
        prefetched.forEach { if error == nil { error = present.misfit(of: $0.destination) } }
        return error
    }

    private mutating func follow(_ tables: LiveTables) throws {
        (self.tables, sources) = (tables, try tables.sources())
        let isTable = entity.entity.kind == .table || entity.entity.kind == .partitionedTable
        let isIndirect = sources[entity.name]?.isIndirect
        let isCut = query.limit != nil || query.offset != nil
        let isReadOnce = reads[entity]?.uses == 1 && !reads.isAnything
        isAskedByKeys = isTable && entity.rowTable == nil && isIndirect == false && !isCut && isReadOnce
        memberBranches = Self.findMemberBranches(of: prefetched, reads, sources)
        // The changed rows in memory lack the lazy columns alone, and were read without a filter.
        let isDecided =
            query.leftOut == entity.lazyColumns && sources.count == 1 && (entity.filter == nil || !query.isFiltered)
        equalities = isAskedByKeys && isDecided ? reads[entity]?.equalities : nil
        knownShape =
            isAskedByKeys && equalities == nil
            ? try Shape(query, prefetching: prefetched, of: entity, in: core.runtime) : nil
    }

    /// The rows and columns that a request and its prefetched relationships read.
    static func reads(
        of query: SelectQuery, prefetching prefetched: PrefetchTree, in runtime: SchemaRuntime
    ) throws -> Reads {
        try query.reads(in: runtime).union(prefetched.reads)
    }

    /// Whether changes of a table may change the answer.
    ///
    /// - Parameter columns: the columns with other values; nil for rows that have come or gone, and if the columns are
    ///   not known.
    func isConcerned(by table: QualifiedName, changing columns: Set<ServerText>?) -> Bool {
        guard let source = sources[table] else { return false }
        // A policy may decide by any column whether the settings' role sees a row.
        guard let columns, !source.isIndirect, !core.client.hasSettings else { return true }
        return source.relations.contains { name in
            guard let relation = core.runtime[name], !reads.others.contains(name) else { return true }
            let read = reads.columns(of: relation)
            return columns.contains { relation.attributeIndex(of: $0.text).map(read.contains) ?? false }
        }
    }

    /// Updates together with the objects that show other columns than in the model of an earlier form of the request.
    func updates(_ known: [Int], to list: LiveSnapshot, from last: LiveSnapshot, of former: LiveQuery) -> [Int] {
        func hasOtherColumns(_ entity: EntityRuntime) -> Bool {
            entity.entity.attributes.map(\.name) != former.core.runtime[entity.name]?.entity.attributes.map(\.name)
        }
        func showsOthers(_ branches: [LiveBranch], of owner: Row) -> Bool {
            branches.contains { branch in
                let members = branch.members(of: owner)
                if members.isEmpty { return false }
                return hasOtherColumns(branch.relationship.destination)
                    || members.contains { showsOthers(branch.branches, of: $0.row) }
            }
        }
        let (isOther, keys) = (hasOtherColumns(entity), Set(last.rows.map(\.key)))
        let others = list.rows.indices.filter { place in
            keys.contains(list.rows[place].key)
                && (isOther || showsOthers(list.branches, of: list.rows[place].row))
        }
        return Set(known).union(others).sorted()
    }

    /// The statement and the values that the request had when it was made.
    var question: (text: String, values: Bindings) { (statement.text.text, statement.bindings) }

    /// The shape with the values that the request has now.
    func shape() throws -> Shape {
        if let knownShape, !query.comparesObjects { return knownShape }
        return try Shape(query, prefetching: prefetched, of: entity, in: core.runtime)
    }

    private static func requireFollowable(_ entity: EntityRuntime) throws {
        switch entity.entity.kind {
        case .materializedView: throw LiveTables.unfollowable(entity.name, "a materialized view")
        case .foreignTable: throw LiveTables.unfollowable(entity.name, "a foreign table")
        default: break
        }
        guard entity.key.isEmpty else { return }
        throw KindredError(
            .invalidRequest, "\(entity.name) has no key, by which a live request could tell its objects apart",
            entity: entity.name.description)
    }

    // MARK: Asking

    /// The answer: one statement, and one more for each prefetched relationship.
    func snapshot() async throws -> LiveSnapshot {
        let statement = query.comparesObjects ? try query.statement(in: core.runtime.schema) : statement
        let rows = try await Self.members(statement, of: entity, in: core)
        return LiveSnapshot(rows, try await branches(prefetched, of: rows.map(\.row)))
    }

    /// The parts of the answers to requests of one shape that have the rows among some keys, in any order.
    ///
    /// One statement for any number of requests, and one more for each prefetched relationship.
    static func snapshots(
        of queries: [(query: LiveQuery, shape: Shape)], among keys: [ObjectKey]
    ) async throws -> [LiveSnapshot] {
        guard let first = queries.first else { return [] }
        let isAlone = queries.count == 1 || !first.shape.query.hasElements
        let places = Array(1...Int64(queries.count))
        let entity = first.query.entity
        var found: [Int64: [Member]] = [:]
        var rows: [Row] = []
        for keys in keys.slices() {
            let statement = try first.query.statement(among: keys, forAll: isAlone ? nil : queries.map(\.shape.query))
            try await read(statement, of: entity, in: first.query.core) { member, result, position in
                rows.append(member.row)
                let owners = isAlone ? places : try result[position].decode(entity.entity.attributes.count) ?? []
                for place in owners { found[place, default: []].append(member) }
            }
        }
        let branches = try await first.query.branches(first.query.prefetched, of: rows)
        return places.map { place in
            let members = found[place] ?? []
            return LiveSnapshot(members, LiveBranch.parts(of: branches, with: members.map(\.row)))
        }
    }

    private func statement(among keys: [ObjectKey], forAll shapes: [QueryShape]?) throws -> Statement {
        let schema = core.runtime.schema
        guard let shapes else { return try query.statement(in: schema, among: keys, of: entity) }
        return try query.statement(in: schema, among: keys, of: entity, forAll: shapes)
    }

    /// The answer after some of its rows have changed and nothing else; nil if the server has to say where rows belong.
    ///
    /// - Parameters:
    ///   - keys: the rows that have changed.
    ///   - found: the part of the answer with the changed rows that are in it now.
    func replacing(_ keys: Set<ObjectKey>, in latest: LiveSnapshot, with found: LiveSnapshot) throws -> LiveSnapshot? {
        if isSorted, order == nil, !latest.keepsPlaces(of: found, decidedBy: reads[entity]?.deciding ?? []) {
            return nil
        }
        return try latest.replacing(keys, with: found, order)
    }

    /// The rows of a statement, each once.
    private static func members(
        _ statement: Statement, of entity: EntityRuntime, in core: ContextCore
    ) async throws -> [Member] {
        var members: [Member] = []
        try await read(statement, of: entity, in: core) { member, _, _ in members.append(member) }
        return members
    }

    /// The rows of an entity with some keys, as far as they exist.
    static func rows(of entity: EntityRuntime, _ keys: [ObjectKey], in core: ContextCore) async throws -> [Member] {
        var rows: [Member] = []
        for keys in keys.slices() {
            rows += try await members(try KeyStatements(entity: entity).select(byKeys: keys), of: entity, in: core)
        }
        return rows
    }

    /// Calls `body` with each row of a statement once, with the result and the row's place there.
    private static func read(
        _ statement: Statement, of entity: EntityRuntime, in core: ContextCore,
        _ body: (Member, QueryResult, Int) throws -> Void
    ) async throws {
        let result = try await core.client.execute(statement, for: entity.name)
        let rows = try EntityRows(result, of: entity)
        var seen: Set<ObjectKey> = []
        for position in result.indices {
            let row = try rows[position]
            guard let key = try ObjectKey(row, entity.key), seen.insert(key).inserted else { continue }
            try body(Member(key: key, row: row), result, position)
        }
    }

    /// The prefetched relationships of some rows.
    private func branches(_ tree: PrefetchTree, of rows: [Row]) async throws -> [LiveBranch] {
        var branches: [LiveBranch] = []
        for branch in tree.branches {
            let owners = KeyNumbers(try rows.compactMap { try branch.relationship.ownKey($0) })
            branches.append(try await self.branch(branch, of: owners))
        }
        return branches
    }

    /// A prefetched relationship of some owners, or a part of it, with the relationships below it.
    func branch(_ prefetched: PrefetchTree.Branch, of owners: KeyNumbers) async throws -> LiveBranch {
        let (relationship, part) = (prefetched.relationship, prefetched.part)
        var members: [ObjectKey: [Member]] = [:]
        if owners.count > 0 {
            let leftOut = prefetched.tree.leftOut
            let batch =
                if let part {
                    try await PartLoader.batch(
                        try part.sortedByKey(in: core.runtime.schema), of: owners, leavingOut: leftOut, in: core)
                } else {
                    try await Loader(core).query(relationship, owners, leavingOut: leftOut)
                }
            for owner in owners.keys {
                let found = batch.members(of: owner)?.members ?? []
                // Without an order of their own they come as the server finds them, which changes by itself.
                let isOrdered = part != nil || relationship.position != nil || found.count < 2
                members[owner] = isOrdered ? found : found.sortedByKey()
            }
        }
        let branch = LiveBranch(relationship, part, members: members)
        let below = try await branches(prefetched.tree, of: prefetched.tree.isEmpty ? [] : branch.rows)
        return branch.with(members, branches: below)
    }
}

extension Reads {
    /// The relations whose columns are read.
    func names(in runtime: SchemaRuntime) -> Set<QualifiedName> {
        others.union(entities.map { runtime.entities[$0].name })
    }
}

extension PrefetchTree {
    /// Calls `body` with each relationship.
    func forEach(_ body: (RelationshipRuntime) throws -> Void) rethrows {
        for branch in branches {
            try body(branch.relationship)
            try branch.tree.forEach(body)
        }
    }
}

extension [Member] {
    /// By their keys, in an order that is always the same.
    fileprivate func sortedByKey() -> [Member] {
        let integers = compactMap(\.key.integer)
        guard integers.count != count else { return sorted { $0.key.integer ?? 0 < $1.key.integer ?? 0 } }
        return map { (member: $0, text: $0.key.values.map(\.description)) }
            .sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.member)
    }
}

extension LiveSnapshot {
    /// The answer as rows for a context to show.
    func rows(of entity: EntityRuntime) -> SnapshotRows {
        SnapshotRows(entity: entity, members: rows, branches: branches.map(\.shown))
    }
}

extension LiveBranch {
    fileprivate var shown: SnapshotRows.Branch {
        var places: [ObjectKey: Int] = [:]
        var rows: [Member] = []
        let owners = members.map { owner, members in
            (
                owner: owner,
                members: members.map { member in
                    if let place = places[member.key] { return place }
                    places[member.key] = rows.count
                    rows.append(member)
                    return rows.count - 1
                }
            )
        }
        return SnapshotRows.Branch(
            relationship: relationship, part: part, places: owners,
            rows: SnapshotRows(
                entity: relationship.destination, members: rows, branches: branches.map(\.shown)))
    }
}
