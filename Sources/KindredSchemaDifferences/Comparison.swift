import KindredDDL
import KindredPostgres

/// One comparison of two schemas.
struct Comparison {
    let options: SchemaDifferences.Options

    func run(_ from: SchemaSource, _ to: SchemaSource) async throws -> SchemaDifferences {
        do {
            return try await ScratchServer.withServer { server in
                let (old, new) = (try await read(from, on: server), try await read(to, on: server))
                do {
                    return try await compare(old, new, on: server)
                } catch let error as SchemaCopy.Failure {
                    // What cannot be copied is compared as it stands.
                    var result = try differences(old, new)
                    result.proof = .skipped("\(error.name) cannot be made on the embedded server: \(error.reason)")
                    try refuseRenames()
                    return result
                }
            }
        } catch let error as SchemaDifferencesError where error.code == .noServer {
            guard case .database(let old) = from, case .database(let new) = to else { throw error }
            try refuseRenames()
            var result = try differences(try await Self.read(old), try await Self.read(new))
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

    private func read(_ source: SchemaSource, on server: ScratchServer) async throws -> SchemaSnapshot {
        switch source {
        case .database(let configuration): return try await Self.read(configuration)
        case .sql(let text, let name):
            let script = try ScratchScript(text, name: name)
            return try await server.withDatabase { client in
                try await script.run(on: client, of: server)
                return try await SnapshotReader.read(from: client)
            }
        case .inspection: throw SchemaDifferencesError(.invalidSource, "An inspection holds no whole schema.")
        }
    }

    private static func read(_ configuration: PostgresConfiguration) async throws -> SchemaSnapshot {
        let client: PostgresClient
        do {
            client = try await PostgresClient.connect(configuration)
        } catch let error as PostgresError {
            throw SchemaDifferencesError(.unreachable, error.message)
        }
        return try await client.lend { try await SnapshotReader.read(from: $0) }
    }

    private func compare(
        _ old: SchemaSnapshot, _ new: SchemaSnapshot, on server: ScratchServer
    ) async throws -> SchemaDifferences {
        try await server.withDatabase { client in
            // Undone, so that the same database serves both sides.
            let wanted = try await undone(client) {
                try await SchemaCopy(new, of: "the new side").make(on: client, of: server)
                return try await SnapshotReader.read(from: client)
            }
            try await SchemaCopy(old, of: "the old side").make(on: client, of: server)
            let before = try await SnapshotReader.read(from: client)
            var present = before
            let (renames, renamed) = try await rename(&present, wanted, on: client)
            // The copies hold everything that is changed, and not all that is only named.
            var result = try differences(present.withUnmanaged(of: old), wanted.withUnmanaged(of: new))
            if !renames.isEmpty { result.steps.insert(SchemaStep(isTransaction: true, statements: renames), at: 0) }
            if !options.isProven {
                result.proof = .skipped("--no-proof was given")
            } else if !result.steps.isEmpty {
                let steps = result.steps.dropFirst(renames.isEmpty ? 0 : 1)
                result.proof = try await prove(steps, from: before, renamed, to: wanted, on: client)
                if result.proof == .proven, let obstacle = result.untried.first {
                    result.proof = .failed("The copy lacks it, so it cannot be tried out: \(obstacle)")
                }
            }
            return result
        }
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
            try await apply(SchemaStep(isTransaction: true, statements: statements), on: client)
            present = try await SnapshotReader.read(from: client)
            all += statements
        }
    }

    /// Ends a transaction by rolling it back.
    private struct Undone: Error {}

    private func undone<T>(_ client: PostgresClient, _ body: () async throws -> T) async throws -> T {
        var result: T?
        do {
            try await client.withTransaction { _ in
                result = try await body()
                throw Undone()
            }
        } catch is Undone {}
        guard let result else {
            throw SchemaDifferencesError(.unreadable, "The transaction on the embedded server has no result.")
        }
        return result
    }

    // MARK: The differences

    private func differences(_ old: SchemaSnapshot, _ new: SchemaSnapshot) throws -> SchemaDifferences {
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
        result.untried = planner.untried.sorted()
        result.remarks =
            Renames.possible(old, new) + planner.obstacles.union(planner.untried).sorted()
            + Unmanaged.orderRemarks(old, new)
        return result
    }

    // MARK: The proof

    /// Runs the statements on the old side's copy, which has nothing that they do not make.
    private func prove(
        _ steps: ArraySlice<SchemaStep>, from before: SchemaSnapshot, _ renamed: [ItemName: ItemName],
        to wanted: SchemaSnapshot, on client: PostgresClient
    ) async throws -> SchemaDifferences.Proof {
        for step in steps {
            do {
                try await apply(step, on: client)
            } catch let error as FailedStatement {
                let needed = Unmanaged.needed(before, wanted)
                let reason = "A statement fails (\(error.reason)): \(error.sql)"
                return .failed(
                    needed.isEmpty
                        ? reason
                        : reason
                            + ". These statements do not make what the new side needs: \(needed.joined(separator: ", "))"
                )
            }
        }
        let after = try await SnapshotReader.read(from: client)
        let rest = try differences(after, wanted).steps.flatMap(\.statements)
        if let first = rest.first {
            return .failed("Afterwards \(rest.count) statements are still to do, such as: \(first.sql)")
        }
        let broken = Leftovers(from: before, renamed, to: after, wanted: wanted).lines
        return broken.isEmpty ? .proven : .failed(broken.joined(separator: " "))
    }

    private struct FailedStatement: Error {
        let sql: String
        let reason: String
    }

    private func apply(_ step: SchemaStep, on client: PostgresClient) async throws {
        func run(_ statement: SchemaStatement) async throws {
            do {
                try await ScratchServer.run(statement.sql, on: client)
            } catch let error as PostgresError {
                throw FailedStatement(sql: statement.sql, reason: error.server?.message ?? error.message)
            }
        }
        if step.isTransaction {
            try await client.withTransaction { _ in for statement in step.statements { try await run(statement) } }
        } else {
            for statement in step.statements { try await run(statement) }
        }
    }
}
