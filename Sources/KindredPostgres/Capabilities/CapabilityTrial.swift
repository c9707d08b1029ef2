import HarmlessText

/// Tries the features of a server, over a client of its own, which is in no transaction of the program's.
struct CapabilityTrial {
    /// The end of a transaction that only tries something: the rollback takes everything away.
    private struct Undo: Error {
        let worked: Bool
    }

    private let client: PostgresClient

    /// Tries everything over one connection outside of the pool.
    static func run(_ configuration: PostgresConfiguration) async throws -> ServerCapabilities {
        var configuration = configuration
        (configuration.pool.minimumConnections, configuration.pool.maximumConnections) = (0, 1)
        return try await PostgresClient.connect(configuration).lend {
            ServerCapabilities(try await CapabilityTrial(client: $0).answers())
        }
    }

    private func answers() async throws -> [ServerCapability: ServerCapabilities.Answer] {
        let table = try await answer { try await works([CapabilityProbe.table]) }
        var answers: [ServerCapability: ServerCapabilities.Answer] = [:]
        for capability in ServerCapability.allCases {
            answers[capability] = try await answer(capability, table: table)
        }
        return answers
    }

    /// - Parameter table: whether the role may have a temporary table.
    private func answer(
        _ capability: ServerCapability, table: ServerCapabilities.Answer
    ) async throws -> ServerCapabilities.Answer {
        if capability == .listen || capability == .advisoryLocks, client.pooler == .transaction {
            return .no(reason: "It needs a session of its own, and a pooler lends sessions by transaction")
        }
        let probe = CapabilityProbe(capability)
        if probe.needsTable, let reason = table.reason, probe.withoutTable.isEmpty { return .unknown(reason: reason) }
        return try await answer {
            switch capability {
            case .listen: try await hears(probe.statements)
            case .binaryCopy: try await copies()
            case .pipelines: try await answersInTurn(probe.statements)
            default: try await works(probe.needsTable && table != .yes ? probe.withoutTable : probe.statements)
            }
        }
    }

    /// The answer that a trial gives: a refusal counts as no, where it says that there is no such thing, or not for the role.
    private func answer(_ trial: () async throws -> Bool) async throws -> ServerCapabilities.Answer {
        do {
            return try await trial() ? .yes : .no(reason: "The server accepts it, and it has no effect")
        } catch let error as PostgresError where [.server, .unsupported, .timeout].contains(error.code) {
            let reason = (error.server?.message ?? error.message).harmless
            // Not supported, unknown or not allowed, or a key that was not deferred.
            let isRefusal = ["0A", "42", "23"].contains(error.sqlState?.class.rawValue)
            return isRefusal ? .no(reason: reason) : .unknown(reason: reason)
        }
    }

    /// Whether statements succeed in a transaction that is rolled back, and the last does not answer false.
    private func works(_ texts: [String]) async throws -> Bool {
        do {
            return try await client.withTransaction { _ in
                throw Undo(worked: try Self.isTrue(try await client.executeBatch(texts.map(Self.statement)).last))
            }
        } catch let end as Undo {
            return end.worked
        }
    }

    /// Whether the session hears: LISTEN takes effect with its own commit, and ends with the connection.
    private func hears(_ texts: [String]) async throws -> Bool {
        try await client.withConnection { _ in
            var result: QueryResult?
            for text in texts { result = try await client.execute(Self.statement(text)) }
            return try Self.isTrue(result)
        }
    }

    private func copies() async throws -> Bool {
        var data: [UInt8] = []
        for try await bytes in try client.copyOut("COPY (SELECT 1) TO STDOUT (FORMAT binary)") { data += bytes }
        return data.starts(with: "PGCOPY\n".utf8)
    }

    /// Whether statements that are sent at once are answered in their order: the number of each is its place.
    private func answersInTurn(_ texts: [String]) async throws -> Bool {
        try await client.withTransaction { _ in
            var numbers: [Int?] = []
            try await client.executeInTurn(texts.map { [Self.statement($0)] }) { _, results in
                numbers.append(try results.first?.first?.decode(0, as: Int.self))
            }
            return numbers == Array(texts.indices)
        }
    }

    private static func statement(_ text: String) -> Statement {
        Statement(text: StatementText(oneTime: text, effect: .lasting), resultFormat: .text)
    }

    /// Whether a result is not `false`: most statements have none, and succeed or fail.
    private static func isTrue(_ result: QueryResult?) throws -> Bool {
        guard let row = result?.first, result?.columns.count == 1 else { return true }
        return try row[0] != .bool(false)
    }
}
