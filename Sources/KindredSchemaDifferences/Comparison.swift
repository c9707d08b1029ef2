import KindredDDL
import KindredPostgres

/// One comparison of two schemas.
struct Comparison {
    let options: SchemaDifferences.Options

    func run(_ from: SchemaSource, _ to: SchemaSource) async throws -> SchemaDifferences {
        do {
            return try await ScratchServer.withServer(
                extensions: options.extensions, statementLimit: options.statementLimit
            ) { server in
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
            return try await body(ComparedSide(snapshot, name: name))
        case .sql(let text, let scriptName):
            let script = try ScratchScript(text, name: scriptName)
            return try await script.withDatabase(of: server) { client, leftOut in
                let snapshot = try await server.snapshot(of: client)
                return try await body(
                    ComparedSide(snapshot, name: name, script: (script, client), leftOut: leftOut))
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
        let leftOut = try await LeftOut.find(
            in: [old.original, new.original], unknown: (old.leftOut + new.leftOut).compactMap(\.thing), on: server)
        let (old, new) = (old.without(leftOut), new.without(leftOut))
        var (result, plan): (SchemaDifferences, Trial.Plan)
        var failure: SchemaCopy.Failure?
        do {
            (result, plan) = try await normalised(old, new, leftOut, on: server)
        } catch let error as SchemaCopy.Failure {
            // Sides that cannot be copied are compared as they stand.
            try refuseRenames()
            failure = error
            let known = (old.original.without(leftOut.unknown), new.original.without(leftOut.unknown))
            (result, plan) = try differences(known, (old.snapshot, new.snapshot))
        }
        result.leftOut = (old.leftOut + new.leftOut).map(\.line) + leftOut.lines
        result.unmanaged += stated(old, new) + stated(new, old)
        guard options.isProven else {
            result.proof = .skipped("--no-proof was given")
            return result
        }
        if let failure, let cut = failure.cut {
            result.proof = .skipped("\(failure.name) cannot be made on the embedded server: \(failure.reason)")
            result.cut = [cut]
            return result
        }
        if let reason = try makeReady(&plan, result, old.snapshot, leftOut) {
            result.proof = .skipped(reason)
            return result
        }
        let outcome = try await Trial(server: server, from: old, to: new, plan: plan).run()
        result.proof = outcome.proof
        result.untriedTables = outcome.untried
        result.unmanaged += outcome.left
        result.cut = outcome.cut
        return result
    }

    /// Compares both sides as the scratch server writes them, and things that are left out as their own servers write
    /// them.
    private func normalised(
        _ old: ComparedSide, _ new: ComparedSide, _ leftOut: LeftOut, on server: ScratchServer
    ) async throws -> (SchemaDifferences, Trial.Plan) {
        func copy(_ side: ComparedSide, on client: PostgresClient) async throws -> SchemaSnapshot {
            try await SchemaCopy(side.snapshot, of: side.name).make(on: client, of: server)
            return try await server.snapshot(of: client)
        }
        let first = (old: leftOut.firstExtensions(of: old.snapshot), new: leftOut.firstExtensions(of: new.snapshot))
        // The extensions that come first differ between the sides: then the new side gets a database of its own.
        let apart =
            first.old == first.new
            ? nil : try await server.withDatabase(first.new) { try await copy(new, on: $0) }
        return try await server.withDatabase(first.old) { client in
            // Undone, so that the same database serves both sides.
            let wanted: SchemaSnapshot
            if let apart {
                wanted = apart
            } else {
                wanted = try await client.undone { try await copy(new, on: client) }
            }
            var present = try await copy(old, on: client)
            let (renames, renamed) = try await rename(&present, wanted, on: client, of: server)
            // The copies hold everything that statements change, but not all things that are only named. Things that
            // are left out are not renamed.
            let others = options.renames.isEmpty ? leftOut.names.subtracting(leftOut.unknown) : []
            var (result, plan) = try differences(
                (
                    present.withOriginals(of: old.original, others).without(leftOut.unknown),
                    wanted.withOriginals(of: new.original, others).without(leftOut.unknown)
                ),
                (present.withOriginals(of: old.snapshot), wanted.withOriginals(of: new.snapshot)))
            plan.renamed = renamed
            if !renames.isEmpty {
                let step = SchemaStep(isTransaction: true, statements: renames)
                result.steps.insert(step, at: 0)
                plan.steps.insert(step, at: 0)
            }
            plan.first = first
            return (result, plan)
        }
    }

    /// A line for each thing that an unrun statement of a script is about, and that the other side does not have.
    private func stated(_ side: ComparedSide, _ other: ComparedSide) -> [String] {
        let others = Set(other.leftOut.compactMap(\.thing))
        return Set(side.leftOut.compactMap(\.thing)).subtracting(others).filter { thing in
            !other.original.items.keys.contains(where: thing.isName)
        }.map { "The \($0.described) is only on \(side.name)." }.sorted()
    }

    /// Completes a plan for its trial; returns why it cannot be tried.
    private func makeReady(
        _ plan: inout Trial.Plan, _ result: SchemaDifferences, _ old: SchemaSnapshot, _ leftOut: LeftOut
    ) throws -> String? {
        plan.named += result.leftOut
        let all = Set(texts: result.steps.flatMap(\.statements).map(\.sql))
        let tried = plan.steps.flatMap(\.statements).map(\.sql)
        guard tried.allSatisfy(all.contains) else {
            return "the statements cannot be tried without what is left out"
        }
        let target = plan.target
        let extensions = Set(target.items.keys.filter { $0.kind == .extension && old[$0] == nil })
        let new = LeftOut.extensions(extensions, of: target)
        plan.first.old += new.filter { !plan.first.old.contains($0) }
        for item in new {
            let start = "CREATE EXTENSION \(try DDL.name(item.name)) "
            let schema = "CREATE SCHEMA \(try DDL.name(item.schema))"
            let isNew = old[ItemName(kind: .schema, schema: item.schema)] == nil
            plan.done.formUnion(texts: tried.filter { $0.hasPrefix(start) || isNew && $0 == schema })
        }
        for name in target.items.keys where leftOut.isUntrusted(name) && old[name] != nil {
            let words = "EXTENSION \(try DDL.name(name.name))"
            if tried.contains(where: { $0.hasPrefix("ALTER \(words) ") || $0.hasPrefix("DROP \(words)") }) {
                return "the extension \(name.name) changes, which only a superuser may do"
            }
        }
        return nil
    }

    /// Does the options' renames in the old side's copy, so that the comparison reads the new names.
    private func rename(
        _ present: inout SchemaSnapshot, _ wanted: SchemaSnapshot, on client: PostgresClient, of server: ScratchServer
    ) async throws -> (statements: [SchemaStatement], renamed: [ItemName: ItemName]) {
        var all: [SchemaStatement] = []
        var renames = Renames(options.renames)
        while let statement = try renames.next(present, wanted) { try await run([statement]) }
        if !all.isEmpty { try await run(try PartRenames(present, wanted).statements) }
        return (all, renames.renamed)

        func run(_ statements: [SchemaStatement]) async throws {
            guard !statements.isEmpty else { return }
            try await SchemaStep(isTransaction: true, statements: statements).run(on: client)
            present = try await server.snapshot(of: client)
            all += statements
        }
    }

    // MARK: The differences

    private typealias Sides = (old: SchemaSnapshot, new: SchemaSnapshot)

    /// The differences between two sides, and the plan for a trial of the differences that copies have.
    private func differences(_ all: Sides, _ copied: Sides) throws -> (SchemaDifferences, Trial.Plan) {
        let (result, plan) = try differences(all.old, all.new)
        let isWhole = all.old.items.count == copied.old.items.count && all.new.items.count == copied.new.items.count
        return isWhole ? (result, plan) : (result, try differences(copied.old, copied.new).1)
    }

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
        let plan = Trial.Plan(
            steps: result.steps, target: wanted, wanted: new,
            named: result.unmanaged + result.withheld + result.remarks,
            isWithholding: !result.withheld.isEmpty, obstacles: result.untried)
        return (result, plan)
    }
}

extension SchemaDifferences {
    /// Compares two schemas.
    ///
    /// A script runs in a new database of a private server, where both sides are brought into one normal form,
    /// and where the statements are tried out; the databases are dropped afterwards. All of this runs as a role that owns these
    /// databases, has BYPASSRLS and may do nothing else, so that no function of a side reaches the machine. Where no server can
    /// be started, two databases are compared as they stand.
    ///
    /// A database of yours gets BEGIN, twelve statements that read, and COMMIT in one round trip, whatever its size,
    /// and nothing else; beside an inspection it gets the statements of `SchemaReader.read`. The private server gets
    /// each script and 16 more, and one about extensions where a side has any; for the comparison 53, and the
    /// statements that make both sides. For the proof a database is copied once more, by 28 and the statements that
    /// make it; then come the statements that were found, 17 more, and 7 for each table that they touch and one for
    /// each row that such a row refers to, twice where a constraint refuses the first. `pg_dump` runs twice, and once
    /// more where statements are withheld; where the dumps differ, each of them is read and printed again. Two
    /// inspections send none.
    ///
    /// - Parameters:
    ///   - from: The schema that is there.
    ///   - to: The schema that is wanted.
    ///   - options: The changes that may be planned, and how.
    /// - Throws: ``SchemaDifferencesError``: `invalidSource`, `scriptFailed` with file and line, `unreachable`, `noServer`,
    ///   `invalidRename`; `PostgresError` if a server fails otherwise.
    public static func between(
        _ from: SchemaSource, _ to: SchemaSource, options: Options = Options()
    ) async throws -> SchemaDifferences {
        if from.isInspection || to.isInspection { return try await betweenModels(from, to) }
        return try await Comparison(options: options).run(from, to)
    }
}
