import Synchronization

/// The positions of all contexts whose statements ran in a transaction, or on a lent connection: all reads and writes
/// there raise each of them, including the program's own SQL.
final class SharedPositions: Sendable {
    private let records: RankedMutex<[PositionRecord]>

    init(_ record: PositionRecord?) { records = RankedMutex(record.map { [$0] } ?? [], .leaf) }

    /// Takes the position of another context in.
    func add(_ record: PositionRecord) {
        records.withLock { records in
            if !records.contains(where: { $0 === record }) { records.append(record) }
        }
    }

    var all: [PositionRecord] { records.withLock { $0 } }
}
