import EmbeddedPostgres
import Foundation
import Kindred

/// All measurements, and their database.
struct Suite: Sendable {
    let rounds: Int
    let only: String
    let isPinned: Bool
    let usesTCP: Bool
    let isAlone: Bool
    /// The interpreter for the peers, if requested.
    let python: String?
    /// The address of a pooler before the server, if requested.
    let pooler: String?

    // Not on the main actor, as in a server: each answer would need another thread switch.
    @concurrent
    func run() async throws {
        try await Self.onServer(usesTCP: usesTCP) { try await run(on: $0) }
    }

    /// Lends the server that DATABASE_URL names, or a private one.
    static func onServer<T: Sendable>(
        usesTCP: Bool = false, _ body: (String) async throws -> T
    ) async throws -> T {
        if let uri = ProcessInfo.processInfo.environment["DATABASE_URL"] { return try await body(uri) }
        var options = EmbeddedPostgres.Options()
        if usesTCP { options.settings["listen_addresses"] = "127.0.0.1" }
        return try await EmbeddedPostgres.withServer(options: options) { server in
            try await body(
                usesTCP
                    ? "postgresql://postgres@127.0.0.1:\(EmbeddedPostgres.port)/postgres?sslmode=disable" : server.uri)
        }
    }

    private func run(on serverURI: String) async throws {
        var peers: PeerProcess?
        if let python { peers = try await PeerProcess(python: python, serverURI: serverURI, database: Self.shopName) }
        var table = Table(isPinned: isPinned, peerVersions: peers?.versions)
        if let pooler {
            try await measurePooler(pooler, serverURI, &table)
        } else {
            try await measureShop(serverURI, peers, &table)
            try await measureCatalogs(serverURI, &table)
        }
        table.write()
    }

    private static let shopName = "kindred_bench_shop"

    private func measureShop(_ serverURI: String, _ peers: PeerProcess?, _ table: inout Table) async throws {
        let shop = try BenchmarkDatabase.make(Self.shopName, on: serverURI, Workload.scripts)
        let one = try await Database.connect(try shop.configuration(connections: 1))
        let four = try await Database.connect(try shop.configuration(connections: 4))
        let typed = try await Database.connect(try shop.configuration(connections: 1))
        try typed.register([Author.self, Book.self, BookTag.self, Review.self, Tag.self])
        let keys = Keys()
        try await measure(Self.lookups(shop, one, keys, isPinned: isPinned), peers, &table)
        try await measure(Self.conditions(shop, one, typed: typed, keys), peers, &table)
        try await measure(Self.rows(shop, one, typed: typed), peers, &table)
        try await measure(Self.walks(shop, one), peers, &table)
        try await measure(Self.requests(shop, one), peers, &table)
        try await measure(Self.patches(one), peers, &table)
        try await measure(Self.concurrentLookups(shop, four, keys), peers, &table)
        try await measure(try await Self.sets(shop, one), peers, &table)
        try await measure(try await Self.saves(shop, one), peers, &table)
        try await measure(Self.cascades(shop, one), peers, &table)
        try await peers?.stop()
        await one.close()
        await typed.close()
        await four.close()
        try shop.drop()
    }

    private func measurePooler(_ pooler: String, _ serverURI: String, _ table: inout Table) async throws {
        let shop = try BenchmarkDatabase.make(Self.shopName, on: serverURI, Workload.scripts)
        let behind = BenchmarkDatabase(uri: pooler, name: shop.name)
        var configuration = try behind.configuration(connections: 4)
        configuration.pooler = .transaction
        configuration.statementCacheCapacity = 150
        let database = try await Database.connect(configuration)
        try await measure(Self.concurrentLookups(behind, database, Keys()), nil, &table)
        await database.close()
        try shop.drop()
    }

    private func measureCatalogs(_ serverURI: String, _ table: inout Table) async throws {
        try await measureCatalog("375 tables with 770 keys", 375, within: 0.1, Workload.webScript, serverURI, &table)
        for (count, limit) in [(2_000, 0.3), (10_000, 2)] {
            try await measureCatalog(
                "\(count) tables", count, within: limit, Workload.catalogScript(tables: count), serverURI, &table)
        }
    }

    private func measureCatalog(
        _ contents: String, _ count: Int, within limit: Double, _ script: String, _ serverURI: String,
        _ table: inout Table
    ) async throws {
        let name = "catalog of \(contents) to model"
        guard isSelected(name) else { return }
        let catalog = try BenchmarkDatabase.make("kindred_bench_catalog", on: serverURI, [script, "VACUUM ANALYZE"])
        let database = try await Database.connect(try catalog.configuration(connections: 1))
        guard database.schema.entities.count == count else { throw UnexpectedResult() }
        try await measure([Self.catalog(name, within: limit, catalog, database)], nil, &table)
        await database.close()
        try catalog.drop()
    }

    private func measure(
        _ measurements: [Measurement], _ peers: PeerProcess?, _ table: inout Table
    ) async throws {
        for measurement in measurements where isSelected(measurement.name) {
            var outcome = Outcome(of: measurement)
            for round in 0..<rounds {
                try await outcome.measure(round: round, isAlone: isAlone, peers: peers)
            }
            table.append(outcome)
        }
    }

    private func isSelected(_ name: String) -> Bool { only.isEmpty || name.contains(only) }
}

/// The keys of all books in a random order, the same in every run and for both sides.
struct Keys: Sendable {
    let numbers: [Int32] = (0..<Workload.books).map { $0 &* 7919 % Workload.books + 1 }
}

struct UnexpectedResult: Error {}
