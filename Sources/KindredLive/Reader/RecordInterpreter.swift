import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Thrown where records name tables that the model does not have: it has to be read again, and then the records.
struct UnknownTables: Error {
    let tables: Set<UInt32>
}

/// Reads records, and turns them into changes of the model's entities.
final class RecordInterpreter: Sendable {
    private let database: Database
    private let source: any ChangeSource
    /// The tables that were found last, and the database's model then.
    private let present: RankedMutex<(tables: PresentTables, kept: SchemaRuntime)>
    /// How records were last read, and for which model.
    private let layout: RankedMutex<(runtime: SchemaRuntime, layout: ChangeLayout)>
    /// Tables that no model has.
    private let foreign = RankedMutex<Set<UInt32>>([], .leaf)
    /// The models of followed tenants that have schemas of their own, by the names of these.
    private let tenants = RankedMutex<[ServerText: SchemaRuntime]>([:], .leaf)

    init(_ database: Database, _ source: any ChangeSource) {
        self.database = database
        self.source = source
        let runtime = database.runtime
        layout = RankedMutex((runtime, ChangeLayout(runtime, [:])), .leaf)
        present = RankedMutex((PresentTables(model: runtime, refusal: nil), runtime), .leaf)
    }

    /// The model of the tables as they are; where classes do not fit it, it is not the database's.
    var model: SchemaRuntime {
        let kept = database.runtime
        return present.withLock { $0.kept === kept ? $0.tables.model : kept }
    }

    /// Reads records by the present tables from now on.
    func adapt(to tables: PresentTables) {
        let kept = database.runtime
        present.withLock { $0 = (tables, kept) }
    }

    /// Reads the records of a tenant's tables, too, by its model.
    func follow(_ tenant: TenantNames, _ model: SchemaRuntime) {
        let isNew = tenants.withLock { tenants in
            let isNew = tenants[ServerText(tenant.schema)] !== model
            tenants[ServerText(tenant.schema)] = model
            return isNew
        }
        guard isNew else { return }
        foreign.withLock { $0 = [] }
        layout.withLock { $0.layout = ChangeLayout(targets: [:], keys: [:], after: $0.layout) }
    }

    /// Whether a change of tables concerns a tenant; not if all of them are other tenants'.
    func concern(_ tenant: TenantNames, _ tables: Set<UInt32>) -> Bool {
        let (layout, schemas) = (layout.withLock { $0.layout }, Set(tenants.withLock { $0 }.keys))
        return tables.isEmpty
            || tables.contains { table in
                let names = (layout.targets[table]?.map(\.name) ?? []) + (layout.former[table] ?? [])
                return names.isEmpty
                    || names.contains { name in
                        ServerText(name.schema) == ServerText(tenant.schema)
                            || !schemas.contains(ServerText(name.schema))
                    }
            }
    }

    /// The tables that are in a model, by their numbers.
    var knownTables: Set<UInt32> {
        let tables = model.entities.flatMap { entity in
            [entity.entity.oid] + (entity.rowTable.map { Array($0.tables.names.keys) } ?? [])
        }
        return layout.withLock { Set($0.layout.targets.keys) }.union(tables)
    }

    /// The names of all tables whose records are read.
    var names: [QualifiedName] {
        let tenants = tenants.withLock { $0 }
        return model.entities.map(\.name)
            + tenants.flatMap { tenant, model in
                model.entities.map { QualifiedName(schema: tenant.text, name: $0.name.name) }
            }
    }

    /// Reads the changes that became visible since a cursor, in the task's transaction.
    ///
    /// - Parameter limit: the number of records above which only a piece is read, of whole transactions; nil for all
    ///   records.
    /// - Throws: `UnknownTables`.
    func read(from start: ChangeCursor, limit: Int? = nil) async throws -> ChangeReading {
        let runtime = model
        var reading = ChangeReading(cursor: start)
        var net = NetChanges()
        repeat {
            let piece = try await source.read(from: reading.cursor, limit: limit ?? 10_000)
            reading.refusal = piece.refusal
            if piece.refusal != nil { return reading }
            reading.cursor = piece.cursor
            reading.isLast = piece.isLast
            reading.isUnsafe = reading.isUnsafe || piece.isUnsafe
            reading.records += piece.records.count
            reading.age = max(reading.age, piece.age)
            if piece.records.isEmpty { continue }
            let tables = try await layout(for: piece.records, runtime)
            try requireKnown(piece.records, tables)
            net.add(piece.records, tables)
        } while limit == nil && !reading.isLast
        let (batch, uncertain) = net.sum()
        reading.batch = batch
        for (name, keys) in uncertain {
            guard let entity = runtime[name] else {
                // A tenant's table, whose rows cannot be asked for here.
                reading.batch.changes[name] = TableChanges(gap: .bulk)
                continue
            }
            reading.batch.add(present: try await database.client.storedKeys(among: keys, of: entity), of: name)
        }
        (reading.changedTables, reading.definingTransactions) = (net.changedTables, net.definingTransactions)
        return reading
    }

    /// Leaves out the tables' records from now on: the model was read again, and does not have them.
    func leaveOut(_ tables: Set<UInt32>) { foreign.withLock { $0.formUnion(tables) } }

    /// Throws if a table was made since the model was read, as in place of a table that is followed.
    private func requireKnown(_ records: [ChangeRecord], _ layout: ChangeLayout) throws {
        let named = records.filter { $0.operation != .schema && $0.gap(hasKey: true) != .accessDenied }
        var tables = Set(named.map(\.relation))
        tables.subtract(layout.targets.keys)
        if tables.isEmpty { return }
        tables.subtract(foreign.withLock { $0 })
        guard tables.isEmpty else { throw UnknownTables(tables: tables) }
    }

    /// How to read records; the columns of keys are asked again where a table is new or has changed.
    private func layout(for records: [ChangeRecord], _ runtime: SchemaRuntime) async throws -> ChangeLayout {
        let known = layout.withLock { $0 }
        let isNew = records.contains {
            let gap = $0.gap(hasKey: true)
            let key = known.layout.keys[$0.relation]
            // A table that the role could not read when it was asked has a key, too.
            return key == nil || key == [] && $0.keys != nil || gap == .schemaChanged || gap == .unrecorded
        }
        if known.runtime === runtime, !isNew { return known.layout }
        var tables = try await source.tables()
        // Not asked again for a table that is no longer tracked.
        for record in records where tables[record.relation] == nil { tables[record.relation] = TrackedTable() }
        let tenants = tenants.withLock { $0 }
        if database.tenantTemplate != nil {
            // The tables of tenants that nothing follows are in no model here.
            let path = Set(texts: runtime.schema.searchPath)
            let others = tables.filter { _, table in
                table.name.map { !path.contains(ServerText($0.schema)) && tenants[ServerText($0.schema)] == nil }
                    ?? false
            }
            foreign.withLock { $0.formUnion(others.keys) }
        }
        let made = ChangeLayout(runtime, tables, tenants: tenants, after: known.layout)
        layout.withLock { $0 = (runtime, made) }
        return made
    }
}

/// The changes that a reading has found.
struct ChangeReading: Sendable {
    var cursor: ChangeCursor
    var isLast = true
    var isUnsafe = false
    var refusal: Tracking.Gap?
    var batch = CommittedBatch()
    /// The tables that were changed themselves.
    var changedTables: Set<UInt32> = []
    /// The transactions that have changed tables which are known.
    var definingTransactions: Set<Int64> = []
    var records = 0
    var age: Duration = .zero
}
