import KindredPostgres
import KindredSchema

/// Finds the rows that the rules delete with the given rows, level by level: one statement for each relationship and
/// level, for any number of rows up to slices of many thousands of keys.
struct DeletionSearch {
    /// The rows of one entity to delete, in the order in which they were found.
    struct Found {
        var keys: [ObjectKey] = []
        var rows: [ObjectKey: Row] = [:]
    }

    let core: ContextCore
    let rules: DeletionRules
    /// Whether rows are locked as they are found.
    let isLocking: Bool
    private(set) var found: [EntityRuntime: Found] = [:]
    /// The relationships by which rows were reached; kept for plans.
    private(set) var reached: [(step: DeletionStep, keys: [ObjectKey])] = []
    /// Rows whose own relationships have not been followed yet.
    private var frontier: [EntityRuntime: [Row]] = [:]

    init(_ core: ContextCore, _ rules: DeletionRules, isLocking: Bool) {
        self.core = core
        self.rules = rules
        self.isLocking = isLocking
    }

    /// Adds rows by their keys, and returns the keys without a row.
    mutating func add(_ keys: [ObjectKey], of entity: EntityRuntime) async throws -> [ObjectKey] {
        let wanted = keys.filter { found[entity]?.rows[$0] == nil }
        guard !wanted.isEmpty else { return [] }
        let columns = rules.columns(of: entity)
        let batch = try entity.slices(wanted, of: entity.key).map {
            try DeletionStatements.rows(entity, $0, columns: columns, isLocked: isLocking)
        }
        for result in try await core.client.send(batch, entity) {
            _ = try addNewRows(result, of: entity, columns: columns)
        }
        return wanted.filter { found[entity]?.rows[$0] == nil }
    }

    /// Takes out rows that were kept.
    mutating func remove(_ keys: Set<ObjectKey>, of entity: EntityRuntime) {
        guard var deleted = found[entity] else { return }
        deleted.keys.removeAll(where: keys.contains)
        for key in keys { deleted.rows[key] = nil }
        found[entity] = deleted
    }

    /// Adds the rows that a request selects.
    mutating func add(_ request: SelectQuery, of entity: EntityRuntime) async throws {
        let columns = rules.columns(of: entity)
        let mayLock = entity.entity.privileges.contains(.update)
        let request = try await request.lockedByTenant(entity, in: core, orBy: mayLock ? .forUpdate : nil)
        let statement = try request.deletionStatement(
            of: entity, in: core.runtime.schema, selecting: try entity.texts.selectList(of: columns, alias: "t0"))
        _ = try addNewRows(try await core.client.send([statement], entity)[0], of: entity, columns: columns)
    }

    /// Follows the rules from new rows until there are none.
    mutating func expand() async throws {
        while !frontier.isEmpty {
            let level = frontier.sorted { $0.key < $1.key }
            frontier = [:]
            var batch: [(step: DeletionStep, statement: Statement)] = []
            for (entity, rows) in level {
                for step in rules.steps(of: entity) where step.action == .cascade {
                    let columns = rules.columns(of: step.destination)
                    for keys in step.slices(try sources(of: step, in: rows)) {
                        let statement = try DeletionStatements.others(
                            step, keys, columns: columns, isLocked: isLocking, among: rules.isMarking ? .unmarked : .all
                        )
                        batch.append((step, statement))
                    }
                }
            }
            guard let first = batch.first else { return }
            let results = try await core.client.send(batch.map(\.statement), first.step.source)
            for ((step, _), result) in zip(batch, results) {
                let entity = step.destination
                let keys = try addNewRows(result, of: entity, columns: rules.columns(of: entity))
                if !isLocking, !keys.isEmpty { reached.append((step, keys)) }
            }
        }
    }

    /// The keys by which a step finds the other ends of all rows found so far.
    func sources(of step: DeletionStep) throws -> [ObjectKey] {
        guard let found = found[step.source] else { return [] }
        return try sources(of: step, in: found.keys.compactMap { found.rows[$0] })
    }

    private func sources(of step: DeletionStep, in rows: [Row]) throws -> [ObjectKey] {
        var seen = Set<ObjectKey>()
        return try rows.compactMap { row in
            guard let key = try key(of: row, step), seen.insert(key).inserted else { return nil }
            return key
        }
    }

    /// The row that has a key in the columns of a step's source.
    func source(of step: DeletionStep, with key: ObjectKey) throws -> ObjectKey? {
        guard let found = found[step.source] else { return nil }
        return try found.keys.first { try found.rows[$0].flatMap { try self.key(of: $0, step) } == key }
    }

    /// The key by which a step finds the other ends of a row; nil if there can be none.
    private func key(of row: Row, _ step: DeletionStep) throws -> ObjectKey? {
        let columns = rules.columns(of: step.source)
        if !step.relationship.holdsForeignKey, !step.source.isReferenced(row, in: columns) {
            return nil
        }
        return try ObjectKey(row, step.sourceColumns.compactMap(columns.firstIndex(of:)))
    }

    /// Whether an object's row was found with the version that the object has.
    func hasExpectedVersion(_ object: DatabaseObject) throws -> Bool {
        let entity = object.runtime
        guard let version = entity.version, let key = object.key, let row = found[entity]?.rows[key],
            let position = rules.columns(of: entity).firstIndex(of: version.position)
        else { return true }
        return try row[position] == object.expectedVersion()
    }

    /// Every step of every entity whose rows were found.
    var steps: [DeletionStep] {
        found.keys.sorted().flatMap { rules.steps(of: $0) }
    }

    /// Adds the rows that are new, and returns their keys.
    private mutating func addNewRows(
        _ result: QueryResult, of entity: EntityRuntime, columns: [Int]
    ) throws -> [ObjectKey] {
        let positions = entity.key.compactMap(columns.firstIndex(of:))
        var keys: [ObjectKey] = []
        for position in 0..<result.count {
            guard let key = try ObjectKey(result, row: position, positions),
                found[entity]?.rows[key] == nil
            else { continue }
            let row = result.row(at: position)
            found[entity, default: Found()].keys.append(key)
            found[entity]?.rows[key] = row
            frontier[entity, default: []].append(row)
            keys.append(key)
        }
        return keys
    }
}
