import CCounters
import Foundation
import Kindred

/// What the model of a large database takes in memory.
struct CatalogMemory: Sendable {
    static let tables = 10_000
    /// How much the process may grow while the model is read, in bytes.
    static let limit = 200.0 * 1024 * 1024

    /// The bytes of the heap that the model takes, with its connection.
    let model: Double
    /// By how many bytes the process grew at most while it was read; nil where the system does not tell.
    let peak: Double?

    /// Connects to a database of 10,000 tables, in a process that has done nothing else; nil where bytes of the heap
    /// cannot be counted.
    static func measure(_ catalog: BenchmarkDatabase) async throws -> CatalogMemory? {
        let configuration = try catalog.configuration(connections: 1)
        let before = (heap: counters_heap_bytes(), resident: residentBytes("VmRSS"))
        // Linux: the peak is counted anew from here on.
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
