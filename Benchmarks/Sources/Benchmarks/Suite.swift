import EmbeddedPostgres
import Foundation
import Kindred

/// All measurements, and what they run on.
struct Suite: Sendable {
    let rounds: Int
    let only: String
    let isPinned: Bool
    let isAlone: Bool

    // Not on the main actor, as in a server: its thread would be another hop for each answer.
    @concurrent
    func run() async throws {
        if let uri = ProcessInfo.processInfo.environment["DATABASE_URL"] {
            try await run(on: uri)
        } else {
            try await EmbeddedPostgres.withServer { try await run(on: $0.uri) }
        }
    }

    private func run(on serverURI: String) async throws {
        var table = Table(isPinned: isPinned)
        try await measureShop(serverURI, &table)
        try await measureCatalog(serverURI, &table)
        table.write()
    }

    private func measureShop(_ serverURI: String, _ table: inout Table) async throws {
        let shop = try BenchmarkDatabase.make("kindred_bench_shop", on: serverURI, Workload.scripts)
        let one = try await Database.connect(try shop.configuration(connections: 1))
        let four = try await Database.connect(try shop.configuration(connections: 4))
        let keys = try await Keys(one)
        try await measure(Self.lookups(shop, one, keys, isPinned: isPinned), &table)
        try await measure(Self.rows(shop, one), &table)
        try await measure(Self.walks(shop, one), &table)
        try await measure(Self.concurrentLookups(shop, four, keys), &table)
        await one.close()
        await four.close()
        try shop.drop()
    }

    private func measureCatalog(_ serverURI: String, _ table: inout Table) async throws {
        let tables = 2_000
        let name = "catalog of \(tables) tables to model"
        guard isSelected(name) else { return }
        let catalog = try BenchmarkDatabase.make(
            "kindred_bench_catalog", on: serverURI, [Workload.catalogScript(tables: tables), "VACUUM ANALYZE"])
        let database = try await Database.connect(try catalog.configuration(connections: 1))
        guard database.schema.entities.count == tables else { throw UnexpectedResult() }
        try await measure([Self.catalog(name, catalog, database)], &table)
        await database.close()
        try catalog.drop()
    }

    private func measure(_ measurements: [Measurement], _ table: inout Table) async throws {
        for measurement in measurements where isSelected(measurement.name) {
            var outcome = Outcome(of: measurement)
            for round in 0..<rounds { try await outcome.measure(round: round, isAlone: isAlone) }
            table.append(outcome)
        }
    }

    private func isSelected(_ name: String) -> Bool { only.isEmpty || name.contains(only) }
}

/// The keys of all books in a random order, the same in every run, for both sides.
struct Keys: Sendable {
    let numbers: [Int32]
    let objectIDs: [ObjectID]

    init(_ database: Database) async throws {
        let books = try await database.makeContext().fetch("book").sorted("id").all()
        numbers = (0..<Workload.books).map { $0 &* 7919 % Workload.books + 1 }
        objectIDs = try numbers.map { number in
            guard let id = books[Int(number) - 1].objectID else { throw UnexpectedResult() }
            return id
        }
    }
}

struct UnexpectedResult: Error {}
