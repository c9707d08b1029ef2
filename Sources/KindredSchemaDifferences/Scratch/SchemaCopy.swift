package import KindredDDL
package import KindredPostgres

/// A schema, without its rows, that is made again in a scratch database from its snapshot.
///
/// ```swift
/// try await ScratchServer.withServer { server in
///     try await server.withDatabase { client in
///         try await SchemaCopy(snapshot, of: "the database").make(on: client, of: server)
///     }
/// }
/// ```
package struct SchemaCopy {
    let snapshot: SchemaSnapshot
    let name: String

    /// Names what is copied.
    ///
    /// - Parameters:
    ///   - snapshot: The schema as it was read.
    ///   - name: The original's name in errors: `the old side`.
    package init(_ snapshot: SchemaSnapshot, of name: String) {
        self.snapshot = snapshot
        self.name = name
    }

    /// The server refused a statement that makes the copy.
    package struct Failure: Error {
        /// The original's name.
        package let name: String
        /// The server's message.
        package let reason: String
    }

    /// Makes the copy in an empty database, in the task's transaction or in one of its own.
    ///
    /// Roles that the schema names and the server lacks are made. Things that a plan only names, such as publications and operator
    /// classes, are not copied.
    ///
    /// - Parameters:
    ///   - client: The empty database; see ``ScratchServer/withDatabase(_:)``.
    ///   - server: Its server.
    /// - Throws: ``Failure`` where the server refuses a statement; nothing is left then, unless the transaction is the
    ///   task's own.
    package func make(on client: PostgresClient, of server: ScratchServer) async throws {
        guard client.isInTransaction else {
            return try await client.withTransaction { _ in try await make(on: client, of: server) }
        }
        var planner = SchemaPlanner(from: try await SnapshotReader.read(from: client), to: snapshot)
        planner.isConcurrent = false
        for role in snapshot.roles { try await server.makeRole(role) }
        do {
            let statements = try planner.plan().flatMap(\.statements)
            for start in stride(from: 0, to: statements.count, by: 200) {
                // Many in one round trip; the first that fails is the error.
                _ = try await client.executeBatch(
                    statements[start..<min(start + 200, statements.count)].map {
                        Statement(
                            text: StatementText(oneTime: $0.sql, effect: .plain, mayChangeSession: true),
                            resultFormat: .text)
                    })
            }
        } catch let error as PostgresError {
            throw Failure(name: name, reason: error.server?.message ?? error.message)
        }
    }
}
