import KindredPostgres
import KindredSchema

/// The statements of one save: collected while they do not depend on each other's results, and sent together.
final class SaveRun {
    private struct Pending {
        let statement: Statement
        let entity: EntityRuntime
        /// The number of rows it writes.
        let count: Int
        /// The objects whose rows it writes, for errors.
        let objects: () -> [DatabaseObject]
        /// The meaning of the server's refusal; nil where it has the usual one.
        let refused: (PostgresError) -> KindredError?
        let apply: (QueryResult) throws -> Void
    }

    private let core: ContextCore
    /// The unique values that change hands; nil in a plain save.
    private let claims: UniqueClaims?
    private var pending: [Pending] = []

    init(_ core: ContextCore, _ claims: UniqueClaims? = nil) {
        self.core = core
        self.claims = claims
    }

    /// Writes changed objects, which may come in any order.
    func write(_ changes: [SavedObject]) async throws {
        for group in SavedGroup.updates(changes) { try update(group) }
        try await flush()
    }

    func insert(_ group: SavedGroup) throws {
        for part in group.sentForInsert.parts {
            write(try part.insert(), part) { [core] in try part.applyInsert($0, in: core) }
        }
    }

    func update(_ group: SavedGroup) throws {
        let group = group.sentForUpdate
        // One statement may exchange unique values, whose constraint is checked after it; and an error names all
        // objects that want the same value.
        let isUnique = group.columns.contains(where: group.entity.uniqueColumns.contains)
        if core.counting != nil {
            let keys = group.objects.compactMap(\.object.key)
            for former in try CountCheck(core).formerOwners(of: keys, group.entity, writing: group.columns) {
                add(former.statement, group.entity, count: keys.count, objects: { [] }) { [core] in
                    try CountCheck(core).note(former, $0)
                }
            }
        }
        for part in isUnique || group.entity.entity.hasDeferrableKeys ? [group] : group.parts {
            write(try part.update(), part) { [core] in try part.applyUpdate($0, in: core) }
        }
    }

    /// Sets unique values to NULL; the objects' own changes follow, and report rows that are gone.
    func release(_ group: SavedGroup) throws {
        let group = group.sentForUpdate
        write(try group.update(), group) { [core] in
            if group.entity.version != nil { try group.applyUpdate($0, in: core, isRelease: true) }
        }
    }

    func insert(_ group: SavedPairs) throws {
        let ends = { group.pairs.flatMap { [$0.source, $0.destination] } }
        let refused = group.refused
        add(try group.insert, group.helper, count: group.pairs.count, objects: ends, refused: refused) { [core] in
            try group.apply($0, in: core)
        }
        if let check = try group.check {
            add(check, group.helper, count: 1, objects: ends, refused: refused) { _ in }
        }
    }

    /// Collects a statement that writes the rows of a group.
    private func write(_ statement: Statement, _ group: SavedGroup, apply: @escaping (QueryResult) throws -> Void) {
        add(
            statement, group.entity, count: group.objects.count, objects: { group.objects.map(\.object) }, apply: apply)
    }

    /// Collects a statement; `apply` applies its result to memory.
    private func add(
        _ statement: Statement,
        _ entity: EntityRuntime,
        count: Int,
        objects: @escaping () -> [DatabaseObject],
        refused: @escaping (PostgresError) -> KindredError? = { _ in nil },
        apply: @escaping (QueryResult) throws -> Void
    ) {
        pending.append(
            Pending(
                statement: statement, entity: entity, count: count, objects: objects, refused: refused, apply: apply))
    }

    /// Sends the pending statements if some values of an object are not known yet, or if the server may store other
    /// values than the object has.
    func requireKnown(_ object: DatabaseObject, _ columns: [Int]) async throws {
        let isUnknown = object.withState { state in
            state.status == .inserted
                && (columns.contains { state.row.isNull(at: $0) }
                    || object.runtime.mayStoreOthers(than: state.row, in: columns))
        }
        if isUnknown { try await flush() }
    }

    /// Sends the pending statements in one round trip, and applies the results in order; results with many rows while
    /// the server works on the next statements.
    ///
    /// An error names the entity of its statement, and the object if there is only one.
    func flush() async throws {
        let batches = takeBatches()
        guard !batches.isEmpty else { return }
        var unwritten: [DatabaseObject] = []
        var answered = 0
        do {
            try await core.client.executeInTurn(batches.map { $0.map(\.statement) }) { number, results in
                answered = number + 1
                for (pending, result) in zip(batches[number], results) {
                    do {
                        try pending.apply(result)
                    } catch let rows as UnwrittenRows {
                        unwritten += rows.objects
                    }
                }
            }
        } catch let error as PostgresError {
            guard answered < batches.count,
                let failed = batches[answered].first(where: { $0.statement.text.text == error.statement })
            else { throw error }
            if let refused = failed.refused(error) { throw refused }
            let advice = claims?.advice(for: failed.entity, error) ?? ""
            throw KindredError(
                refused: error, entity: failed.entity, key: nil, among: failed.objects(), advice: advice) ?? error
        }
        // Reports all at once; the transaction's rollback takes back the changes applied to memory.
        if !unwritten.isEmpty { throw try await Refresher(core).unwritten(unwritten, areAll: true) }
    }

    /// The pending statements, with a Sync after each of many rows, so that its result is not held back.
    private func takeBatches() -> [[Pending]] {
        var batches: [[Pending]] = []
        var isOpen = false
        for statement in pending {
            if isOpen { batches[batches.count - 1].append(statement) } else { batches.append([statement]) }
            isOpen = statement.count < SavedGroup.dividedRows / 2
        }
        pending = []
        return batches
    }
}

/// Constraints that are checked when a save has written everything, because values change hands by several statements.
struct LateChecks {
    private let core: ContextCore
    private let constraints: [QualifiedName]
    /// The objects of the save, for errors.
    private let objects: [DatabaseObject]

    init(_ constraints: [QualifiedName], of objects: [DatabaseObject], in core: ContextCore) {
        self.core = core
        self.constraints = constraints
        self.objects = objects
    }

    /// `SET CONSTRAINTS … DEFERRED`; sends nothing if there are none.
    func putOff() async throws { try await set(areDeferred: true) }

    /// `SET CONSTRAINTS … IMMEDIATE`, which checks them; sends nothing if there are none.
    func run() async throws { try await set(areDeferred: false) }

    private func set(areDeferred: Bool) async throws {
        guard !constraints.isEmpty else { return }
        do {
            _ = try await core.client.execute(try ConstraintStatements.set(constraints, areDeferred: areDeferred))
        } catch let error as PostgresError {
            throw core.runtime.refusedAtEnd(error.lacking(.deferrableKeys), among: objects)
        }
    }
}
