import KindredPostgres
import KindredSchema

/// The unique values of a save's objects that go from one object to another.
struct UniqueClaims {
    /// A value that one object gives up and another object takes.
    struct Exchange {
        let holder: DatabaseObject
        let taker: DatabaseObject
        let check: UniqueCheckRuntime
    }

    struct Claim: Hashable {
        let entity: EntityRuntime
        let check: Int
        let value: [ObjectKey?]
    }

    /// The exchanges that `order` found; before it, the exchanges of values that are compared in memory.
    private(set) var exchanges: [Exchange] = []
    /// New objects, in their order, followed by the other objects that take part in exchanges.
    private(set) var objects: [DatabaseObject] = []
    /// Exchanges that neither an order nor NULL makes possible for certain: the server may refuse them.
    private(set) var stuck: [Exchange] = []
    /// The objects that are deleted as soon as no other leaves them.
    private let deleted: Set<DatabaseObject>
    private let server: ServerClaims
    private let moves: KeyMoves
    private let kept: [DatabaseObject]

    /// Whether objects can be written in any order that their links allow.
    var isEmpty: Bool { exchanges.isEmpty && server.isEmpty && moves.isEmpty }

    /// - Parameters:
    ///   - objects: the new and changed objects.
    ///   - deleted: deleted objects whose values other objects take, while some objects leave them.
    init(_ objects: [DatabaseObject], _ deleted: [DatabaseObject]) throws {
        kept = objects
        self.deleted = Set(deleted)
        server = ServerClaims(objects, deleted)
        moves = try KeyMoves(objects)
        var holders = try deleted.flatMap { object in try Self.values(of: object).map { (object, $0) } }
        for object in objects
        where object.withState({ $0.status != .inserted && $0.mayChange(object.runtime.uniqueColumns) }) {
            for (claim, isNew) in try Self.changes(of: object) where !isNew { holders.append((object, claim)) }
        }
        if holders.isEmpty { return }
        var takers: [Claim: [DatabaseObject]] = [:]
        for object in objects {
            for (claim, isNew) in try Self.changes(of: object) where isNew { takers[claim, default: []].append(object) }
        }
        exchanges = holders.flatMap { holder, claim in
            (takers[claim] ?? []).filter { $0 !== holder }.map {
                Exchange(holder: holder, taker: $0, check: holder.runtime.uniqueChecks[claim.check])
            }
        }
    }

    /// The order in which the objects are written, as positions in `objects` and `exchanges`.
    ///
    /// Asks the server for conflicts that only it can find, one SELECT for each of its checks in one round trip; not if an
    /// order is right for whatever it would answer.
    mutating func order(_ insertions: Insertions, in core: ContextCore) async throws -> [SaveSteps.Step] {
        let known = exchanges
        if let guesses = server.guesses {
            let steps = try order(known + guesses, insertions)
            let isPlain = steps.allSatisfy { if case .release = $0 { false } else { true } }
            if server.isEmpty || stuck.isEmpty && isPlain { return steps }
        }
        let found = try await server.exchanges(in: core)
        let steps = try order(known + found + server.doubts, insertions)
        return stuck.isEmpty || server.doubts.isEmpty ? steps : try order(known + found, insertions)
    }

    private mutating func order(_ exchanges: [Exchange], _ insertions: Insertions) throws -> [SaveSteps.Step] {
        self.exchanges = exchanges
        objects = insertions.objects
        var positions = Dictionary(objects.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var references = insertions.needed
        func place(_ object: DatabaseObject) -> Int {
            if let known = positions[object] { return known }
            let (position, links) = (objects.count, object.withState { $0.staging?.destinations ?? [:] })
            references[position] = links.values.compactMap { positions[$0] }.filter { $0 < insertions.objects.count }
            positions[object] = position
            objects.append(object)
            return position
        }
        let placed = exchanges.map { (holder: place($0.holder), taker: place($0.taker)) }
        for (object, needed) in moves.needed {
            let (position, earlier) = (place(object), needed.map(place))
            references[position, default: []] += earlier
        }
        let deletions = Set(placed.map(\.holder).filter { deleted.contains(objects[$0]) })
        for deletion in deletions {
            let object = objects[deletion]
            references[deletion] = try kept.filter { try Self.leaves($0, [object]) }.map(place)
        }
        var checks: [[Int]] = []
        let steps = SaveSteps(
            levels: insertions.levels, references: references,
            exchanges: zip(exchanges, placed).map { exchange, placed in
                let check = [exchange.holder.runtime.index] + exchange.check.columns
                if !checks.contains(check) { checks.append(check) }
                let canRelease =
                    !deletions.contains(placed.holder)
                    && Self.releasableColumns(of: exchange.holder.runtime, among: exchange.check.columns) != nil
                return SaveSteps.Exchange(
                    holder: placed.holder, taker: placed.taker,
                    release: !canRelease ? .impossible : exchange.check.areNullsDistinct ? .together : .alone,
                    check: checks.firstIndex(of: check) ?? 0)
            },
            deletions: deletions, joint: insertions.joint)
        // Only one row at a time can release a value by NULL: the server refuses it if another row has NULL.
        let uncertain = steps.steps.flatMap { step -> [Int] in
            if case .release(let released) = step {
                released.filter { !exchanges[$0].check.areNullsDistinct }
            } else {
                []
            }
        }
        stuck = (steps.stuck + uncertain).map { exchanges[$0] }
        return steps.steps
    }

    /// Objects whose keys go round among them: where the key can be deferred, one statement must write them, because rows
    /// are found by their keys.
    var keyCircle: Set<DatabaseObject> {
        Set(
            stuck.filter { $0.holder.runtime.entity.hasDeferrableKeys && $0.check.covers($0.holder.runtime.key) }
                .flatMap { [$0.holder, $0.taker] })
    }

    /// The columns of a unique key that can be NULL until its other value is written; nil if none can.
    static func releasableColumns(of entity: EntityRuntime, among columns: [Int]) -> [Int]? {
        if let own = entity.leavingColumns(of: columns) { return own }
        let nullable = columns.filter { column in
            let attribute = entity.entity.attributes[column]
            return !entity.key.contains(column) && !attribute.isNotNull && !attribute.isGenerated
        }
        return nullable.isEmpty ? nil : nullable
    }

    /// Advice for a refused exchange that could not be ordered; empty if there was none.
    func advice(for entity: EntityRuntime, _ error: PostgresError) -> String {
        let constraint = error.server?.constraint.map { "\"\($0)\"" } ?? "the constraint"
        guard error.sqlState == .uniqueViolation || error.sqlState == .exclusionViolation,
            let exchange = stuck.first(where: { $0.holder.runtime === entity })
        else { return "" }
        let cycle = "; objects of this save exchange unique values in a cycle"
        if exchange.check.isPartial { return "\(cycle), and \(constraint) is a partial index: save in two steps" }
        if exchange.check.columns.isEmpty {
            return "\(cycle), and \(constraint) is an index of expressions: save in two steps"
        }
        return "\(cycle): make \(constraint) DEFERRABLE, or save in two steps"
    }
}
