import KindredDDL
import KindredPostgres

/// One comparison of two schemas.
struct Comparison {
    let options: SchemaDifferences.Options

    func run(_ from: SchemaSource, _ to: SchemaSource) async throws -> SchemaDifferences {
        do {
            return try await ScratchServer.withServer { server in
                try await withSide(from, "the old side", on: server) { old in
                    try await withSide(to, "the new side", on: server) { new in
                        try await compare(old, new, on: server)
                    }
                }
            }
        } catch let error as SchemaDifferencesError where error.code == .noServer {
            guard case .database(let old) = from, case .database(let new) = to else { throw error }
            try refuseRenames()
            var (result, _) = try differences(try await Self.read(old), try await Self.read(new))
            result.proof = .skipped("there is no embedded server: \(error.message)")
            return result
        }
    }

    private func refuseRenames() throws {
        guard !options.renames.isEmpty else { return }
        throw SchemaDifferencesError(
            .invalidRename, "Renames need an embedded server on which the old side can be made.")
    }

    // MARK: The sides

    /// Reads a side; the database in which a script has run lives as long as the closure.
    private func withSide<T>(
        _ source: SchemaSource, _ name: String, on server: ScratchServer, _ body: (ComparedSide) async throws -> T
    ) async throws -> T {
        switch source {
        case .database(let configuration):
            let snapshot = try await Self.read(configuration)
            return try await body(ComparedSide(source: source, snapshot: snapshot, name: name, scratch: nil))
        case .sql(let text, let scriptName):
            let script = try ScratchScript(text, name: scriptName)
            return try await server.withDatabase { client in
                try await script.run(on: client, of: server)
                let snapshot = try await SnapshotReader.read(from: client)
                return try await body(ComparedSide(source: source, snapshot: snapshot, name: name, scratch: client))
            }
        case .inspection: throw SchemaDifferencesError(.invalidSource, "An inspection holds no whole schema.")
        }
    }

    private static func read(_ configuration: PostgresConfiguration) async throws -> SchemaSnapshot {
        let client: PostgresClient
        do {
            client = try await PostgresClient.connectCatalogOnly(configuration)
        } catch let error as PostgresError {
            throw SchemaDifferencesError(.unreachable, error.message)
        }
        return try await client.lend { try await SnapshotReader.read(from: $0) }
    }

    private func compare(
        _ old: ComparedSide, _ new: ComparedSide, on server: ScratchServer
    ) async throws -> SchemaDifferences {
        var (result, plan): (SchemaDifferences, Trial.Plan)
        do {
            (result, plan) = try await server.withDatabase { client in
                try await normalised(old.snapshot, new.snapshot, on: client, of: server)
            }
        } catch is SchemaCopy.Failure {
            // Sides that cannot be copied are compared as they stand.
            try refuseRenames()
            (result, plan) = try differences(old.snapshot, new.snapshot)
        }
        guard options.isProven else {
            result.proof = .skipped("--no-proof was given")
            return result
        }
        plan.steps = result.steps
        plan.isWithholding = !result.withheld.isEmpty
        plan.named = result.unmanaged + result.withheld + result.remarks
        plan.obstacles = result.untried
        let outcome = try await Trial(server: server, from: old, to: new, plan: plan).run()
        result.proof = outcome.proof
        result.untriedTables = outcome.untried
        result.unmanaged += outcome.left
        return result
    }

    /// Compares the sides as the server writes both.
    private func normalised(
        _ old: SchemaSnapshot, _ new: SchemaSnapshot, on client: PostgresClient, of server: ScratchServer
    ) async throws -> (SchemaDifferences, Trial.Plan) {
        // Undone, so that the same database serves both sides.
        let wanted = try await client.undone {
            try await SchemaCopy(new, of: "the new side").make(on: client, of: server)
            return try await SnapshotReader.read(from: client)
        }
        try await SchemaCopy(old, of: "the old side").make(on: client, of: server)
        var present = try await SnapshotReader.read(from: client)
        let (renames, renamed) = try await rename(&present, wanted, on: client)
        // The copies hold everything that is changed, and not all that is only named.
        var (result, plan) = try differences(present.withUnmanaged(of: old), wanted.withUnmanaged(of: new))
        plan.renamed = renamed
        if !renames.isEmpty { result.steps.insert(SchemaStep(isTransaction: true, statements: renames), at: 0) }
        return (result, plan)
    }

    /// Renames what was asked for in the old side's copy, so that what follows is read with the new names.
    private func rename(
        _ present: inout SchemaSnapshot, _ wanted: SchemaSnapshot, on client: PostgresClient
    ) async throws -> (statements: [SchemaStatement], renamed: [ItemName: ItemName]) {
        var all: [SchemaStatement] = []
        var renames = Renames(options.renames)
        while let statement = try renames.next(present, wanted) { try await run([statement]) }
        if !all.isEmpty { try await run(try PartRenames(present, wanted).statements) }
        return (all, renames.renamed)

        func run(_ statements: [SchemaStatement]) async throws {
            guard !statements.isEmpty else { return }
            try await SchemaStep(isTransaction: true, statements: statements).run(on: client)
            present = try await SnapshotReader.read(from: client)
            all += statements
        }
    }

    // MARK: The differences

    private func differences(
        _ old: SchemaSnapshot, _ new: SchemaSnapshot
    ) throws -> (SchemaDifferences, Trial.Plan) {
        var result = SchemaDifferences()
        var wanted = new
        let withholding = Withholding(from: old, to: new)
        if !options.allowsDropping {
            wanted = withholding.retained
            result.withheld = withholding.statements
        }
        var planner = SchemaPlanner(from: old, to: wanted)
        planner.isConcurrent = options.isConcurrent
        result.steps = try planner.plan()
        result.unmanaged = Unmanaged.lines(old, new)
        result.untried = planner.untried.sorted().texts
        result.remarks =
            Renames.possible(old, new) + planner.obstacles.union(planner.untried).sorted().texts
            + Unmanaged.orderRemarks(old, new)
        return (result, Trial.Plan(target: wanted, wanted: new))
    }
}

extension PostgresClient {
    /// Ends a transaction by rolling it back.
    private struct Undone: Error {}

    /// Runs a closure in a transaction that is rolled back.
    func undone<T>(_ body: () async throws -> T) async throws -> T {
        var result: T?
        do {
            try await withTransaction { _ in
                result = try await body()
                throw Undone()
            }
        } catch is Undone {}
        guard let result else {
            throw SchemaDifferencesError(.unreadable, "The transaction on the embedded server has no result.")
        }
        return result
    }
}
