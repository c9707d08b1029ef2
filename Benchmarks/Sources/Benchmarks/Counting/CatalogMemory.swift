import CCounters
import Foundation
import Kindred

/// The memory of a large database's model.
struct CatalogMemory: Sendable {
    static let tables = 10_000
    /// The limit of the process's growth while the model is read, in bytes.
    static let limit = 200.0 * 1024 * 1024

    /// The heap bytes of the model and its connection.
    let model: Double
    /// The peak growth of the process in bytes while it was read; nil if the system does not report it.
    let peak: Double?

    /// Connects to a database of 10,000 tables, in a fresh process; nil if heap bytes cannot be
    /// counted.
    static func measure(_ catalog: BenchmarkDatabase) async throws -> CatalogMemory? {
        let configuration = try catalog.configuration(connections: 1)
        let before = (heap: counters_heap_bytes(), resident: residentBytes("VmRSS"))
        // Linux: resets the peak.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let database = try await Database.connect(configuration)
        let after = (heap: counters_heap_bytes(), resident: residentBytes("VmHWM"))
        guard database.schema.entities.count == tables else { throw UnexpectedResult() }
        await database.close()
        guard before.heap >= 0 else { return nil }
        let peak = before.resident.flatMap { before in after.resident.map { $0 - before } }
        return CatalogMemory(model: Double(after.heap - before.heap), peak: peak)
    }

    private static func residentBytes(_ key: String) -> Double? {
        guard let status = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return kibibytes * 1024
    }
}
