import Kindred

/// Shows the costs of one object while something else grows.
struct GrowthSuite: Sendable {
    let only: String

    @concurrent
    func run() async throws {
        try await Suite.onServer { try await run(on: $0) }
    }

    private func run(on serverURI: String) async throws {
        guard let counted = try await Counting.count(on: serverURI, { try await visit(serverURI, $0) }) else { return }
        let counts = Dictionary(counted.map { ($0.work.name, $0.counts) }) { first, _ in first }
        let works = try await database(serverURI) { Growth.all($0).filter(isSelected) }
        for growth in works { write(growth, counts) }
    }

    /// Instructions and allocations of one object, a column for each size.
    private func write(_ growth: Growth, _ counts: [String: Counts]) {
        var lines = [[growth.title] + growth.sizes.map { CountTable.number(Double($0)) }]
        for line in growth.works(growth.sizes[0]).indices {
            let name = growth.works(growth.sizes[0])[line].name
            let found = growth.sizes.map { counts[growth.named(growth.works($0)[line], $0).name] }
            lines.append(["\(name), instructions"] + found.map { CountTable.number($0?.instructions) })
            lines.append(["    allocations"] + found.map { CountTable.number($0?.allocations) })
        }
        writeColumns(lines)
        print()
    }

    private func visit(_ serverURI: String, _ body: (CountedWork) async throws -> Void) async throws {
        try await database(serverURI) { database in
            for growth in Growth.all(database) where isSelected(growth) {
                for size in growth.sizes {
                    for work in growth.works(size) { try await body(growth.named(work, size)) }
                }
            }
        }
    }

    private func isSelected(_ growth: Growth) -> Bool { only.isEmpty || growth.title.contains(only) }

    private func database<T: Sendable>(_ serverURI: String, _ body: (Database) async throws -> T) async throws -> T {
        let growth = try BenchmarkDatabase.make(
            "kindred_bench_growth", on: serverURI, [Workload.growthScript, "VACUUM ANALYZE"])
        let database = try await Database.connect(try growth.configuration(connections: 1))
        let result = try await body(database)
        await database.close()
        try growth.drop()
        return result
    }
}

extension Growth {
    fileprivate func named(_ work: CountedWork, _ size: Int) -> CountedWork {
        var named = work
        named.name = "\(work.name), \(size) \(title)"
        return named
    }
}
