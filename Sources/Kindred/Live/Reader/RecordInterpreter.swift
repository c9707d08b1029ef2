import KindredPostgres
import KindredSchema
import Synchronization

/// Reads records, and makes of them what has changed in the entities of the model.
final class RecordInterpreter: Sendable {
    private let database: Database
    private let source: any ChangeSource
    /// How records were last read, and for which model.
    private let layout = RankedMutex<(runtime: SchemaRuntime, layout: ChangeLayout)?>(nil, .leaf)

    init(_ database: Database, _ source: any ChangeSource) {
        self.database = database
        self.source = source
    }

    /// Reads what became visible since a cursor, in the task's transaction.
    ///
    /// - Parameter limit: the number of records above which a piece is read, of whole transactions; nil for all of them.
    func read(from start: ChangeCursor, limit: Int? = nil) async throws -> ChangeReading {
        let runtime = database.runtime
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
            if !piece.records.isEmpty { net.add(piece.records, try await layout(for: piece.records, runtime)) }
        } while limit == nil && !reading.isLast
        let (batch, uncertain) = net.sum()
        reading.batch = batch
        for (name, keys) in uncertain {
            guard let entity = runtime[name] else { continue }
            reading.batch.add(present: try await database.client.storedKeys(among: keys, of: entity), of: name)
        }
        reading.changedTables = net.changedTables
        return reading
    }

    /// How to read records; the columns of keys are asked again where a table is new or has changed.
    private func layout(for records: [ChangeRecord], _ runtime: SchemaRuntime) async throws -> ChangeLayout {
        var keys: [UInt32: [String]] = [:]
        if let known = layout.withLock({ $0 }) {
            keys = known.layout.keys
            let isNew = records.contains {
                let gap = $0.gap(hasKey: true)
                return keys[$0.relation] == nil || gap == .schemaChanged || gap == .unrecorded
            }
            if known.runtime === runtime, !isNew { return known.layout }
        }
        keys = try await source.keys()
        // Not asked again for a table that is tracked no more.
        for record in records where keys[record.relation] == nil { keys[record.relation] = [] }
        let made = ChangeLayout(runtime, keys: keys)
        layout.withLock { $0 = (runtime, made) }
        return made
    }
}

/// The changes that a reading has found.
struct ChangeReading: Sendable {
    var cursor: ChangeCursor
    var isLast = true
    var isUnsafe = false
    var refusal: ChangeGap?
    var batch = ChangeBatch()
    /// The tables that were changed themselves.
    var changedTables: Set<UInt32> = []
    var records = 0
    var age: Duration = .zero
}
