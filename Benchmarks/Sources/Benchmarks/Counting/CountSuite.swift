import Kindred

/// Counts everything and compares it with the baseline.
struct CountSuite: Sendable {
    let only: String
    let updates: Bool

    /// Prints the table; returns whether no count has grown.
    @concurrent
    func run() async throws -> Bool {
        try await Suite.onServer { try await run(on: $0) }
    }

    private func run(on serverURI: String) async throws -> Bool {
        // First, while the process has allocated nothing else.
        let memory = Counting.isUnderCallgrind ? nil : try await catalogMemory(serverURI)
        guard let counted = try await Counting.count(on: serverURI, { try await visit(serverURI, $0) }) else {
            return true
        }
        let bytes = only.isEmpty ? try await bytesPerObject(serverURI) : nil
        var baseline = try Baseline.load()
        let growths = report(counted, bytes, memory, baseline)
        guard updates else { return growths.isEmpty }
        baseline.take(counted.map { ($0.work.name, $0.counts) }, bytes, memory)
        try baseline.save()
        return true
    }

    private func visit(_ serverURI: String, _ body: (CountedWork) async throws -> Void) async throws {
        let shop = try BenchmarkDatabase.make("kindred_bench_shop", on: serverURI, Workload.scripts)
        let database = try await Database.connect(try shop.configuration(connections: 1))
        let typed = try await Database.connect(try shop.configuration(connections: 1))
        try typed.register(KindredModels.all)
        for work in try await ShopWorks.all(shop, database, typed: typed) where isSelected(work) {
            try await body(work)
        }
        await database.close()
        await typed.close()
        try shop.drop()
        let catalog = try BenchmarkDatabase.make(
            "kindred_bench_catalog", on: serverURI, [Workload.webScript, "VACUUM ANALYZE"])
        let large = try await Database.connect(try catalog.configuration(connections: 1))
        let work = ShopWorks.catalog(large)
        if isSelected(work) { try await body(work) }
        await large.close()
        try catalog.drop()
    }

    private func isSelected(_ work: CountedWork) -> Bool { only.isEmpty || work.name.contains(only) }

    private func bytesPerObject(_ serverURI: String) async throws -> Double? {
        let held = try BenchmarkDatabase.make("kindred_bench_held", on: serverURI, [Workload.heldScript])
        let database = try await Database.connect(try held.configuration(connections: 1))
        let bytes = try await HeldObjects.bytesPerObject(database)
        await database.close()
        try held.drop()
        return bytes
    }

    private func catalogMemory(_ serverURI: String) async throws -> CatalogMemory? {
        guard only.isEmpty || "memory of a catalog".contains(only) else { return nil }
        let catalog = try BenchmarkDatabase.make(
            "kindred_bench_catalog", on: serverURI,
            [Workload.catalogScript(tables: CatalogMemory.tables), "VACUUM ANALYZE"])
        let memory = try await CatalogMemory.measure(catalog)
        try catalog.drop()
        return memory
    }

    /// Prints everything; returns the counts that have grown.
    private func report(
        _ counted: [(work: CountedWork, counts: Counts)], _ bytes: Double?, _ memory: CatalogMemory?,
        _ baseline: Baseline
    ) -> [String] {
        var lines = [["what", "statements", "per", "allocations", "", "instructions", ""]]
        var growths: [String] = []
        for (work, counts) in counted {
            let before = baseline.counts[work.name]
            lines.append([
                work.name, CountTable.number(counts.statements), work.unit,
                CountTable.number(counts.allocations), CountTable.change(before?.allocations, counts.allocations),
                CountTable.number(counts.instructions), CountTable.change(before?.instructions, counts.instructions),
            ])
            growths += baseline.growths(to: counts, of: work)
        }
        writeColumns(lines)
        print("Statements are those of one run, with transaction control; the rest is of one object, row or table.")
        if Callgrind.path == nil {
            print("Instructions were not counted: that needs valgrind, and its headers where this was built.")
        } else if !baseline.isComparable {
            print("Instructions were not compared: the baseline's are of another compiler or architecture.")
        }
        if let bytes {
            print("A held object takes \(CountTable.number(bytes)) bytes beside its row (\(HeldObjects.count) held).")
            growths += [
                Baseline.growth("bytes per held object", baseline.bytesPerObject, bytes, Baseline.Tolerance.bytes)
            ].compactMap(\.self)
        }
        if let memory {
            print(
                """
                The model of \(CatalogMemory.tables) tables takes \(CountTable.mebibytes(memory.model)) MiB of the heap; \
                reading it, the process grew by \(CountTable.mebibytes(memory.peak)) MiB at most.
                """)
            growths += [
                Baseline.growth("bytes of a model", baseline.bytesOfModel, memory.model, Baseline.Tolerance.bytes)
            ].compactMap(\.self)
            if let peak = memory.peak, peak > CatalogMemory.limit {
                growths.append("reading a model took more than \(CountTable.mebibytes(CatalogMemory.limit)) MiB")
            }
        }
        print(growths.isEmpty ? "Nothing has grown." : growths.joined(separator: "\n"))
        return growths
    }
}

extension Baseline {
    /// Merges newer counts; others stay.
    mutating func take(
        _ counted: [(name: String, counts: Counts)], _ bytes: Double?, _ memory: CatalogMemory?
    ) {
        for (name, new) in counted {
            var counts = new
            if counts.instructions == nil, isComparable {
                counts.instructions = self.counts[name]?.instructions
            }
            self.counts[name] = counts
        }
        (architecture, compiler) = (Self.architecture, Self.compiler)
        bytesPerObject = bytes ?? bytesPerObject
        bytesOfModel = memory?.model ?? bytesOfModel
    }
}
