package import KindredDDL
package import KindredPostgres

/// A schema, without its rows, that is made again in a scratch database from its snapshot.
///
/// ```swift
/// try await ScratchServer.withServer { server in
///     let leftOut = try await LeftOut.find(in: [snapshot], on: server)
///     let rest = leftOut.rest(of: snapshot)
///     try await server.withDatabase(leftOut.firstExtensions(of: rest)) { client in
///         try await SchemaCopy(rest, of: "the database").make(on: client, of: server)
///     }
/// }
/// ```
package struct SchemaCopy {
    let snapshot: SchemaSnapshot
    let name: String

    /// Creates a copy; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - snapshot: The schema as it was read, without the things that are left out of copies.
    ///   - name: The original's name in errors: `the old side`.
    package init(_ snapshot: SchemaSnapshot, of name: String) {
        self.snapshot = snapshot
        self.name = name
    }

    /// The server refused a statement that makes the copy, or stopped it.
    package struct Failure: Error {
        /// The original's name.
        package let name: String
        /// The server's message.
        package let reason: String
        /// The statement that took too long; nil where another reason made the copy fail.
        package var cut: String?
    }

    /// Makes the copy in a database that is empty except for extensions, in the task's transaction or in one of its
    /// own.
    ///
    /// Roles that the schema names and the server lacks are made. No query of a materialized view runs.
    ///
    /// - Parameters:
    ///   - client: The empty database; see ``ScratchServer/withDatabase(_:_:)``.
    ///   - server: Its server.
    /// - Throws: ``Failure`` where the server refuses a statement; nothing is left then, unless the transaction is the
    ///   task's own.
    package func make(on client: PostgresClient, of server: ScratchServer) async throws {
        guard client.isInTransaction else {
            return try await client.withTransaction { _ in try await make(on: client, of: server) }
        }
        let present = try await server.snapshot(of: client)
        var planner = SchemaPlanner(from: present, to: snapshot.keepingFirst(of: present))
        planner.isConcurrent = false
        for role in snapshot.roles { try await server.makeRole(role) }
        do {
            let statements = try planner.plan().flatMap(\.statements).map { DDL.withoutRows($0.sql) }
            for start in stride(from: 0, to: statements.count, by: 200) {
                // Many in one round trip; the first that fails is the error.
                _ = try await client.executeBatch(
                    statements[start..<min(start + 200, statements.count)].map {
                        Statement(
                            text: StatementText(oneTime: $0, effect: .plain, mayChangeSession: true),
                            resultFormat: .text)
                    })
            }
        } catch let error as PostgresError {
            throw Failure(
                name: name, reason: error.server?.message ?? error.message,
                cut: error.isCut ? error.statement ?? "a statement" : nil)
        }
    }
}

extension SchemaSnapshot {
    /// The snapshot with the extensions that an empty database has already, and with their schemas.
    fileprivate func keepingFirst(of present: SchemaSnapshot) -> SchemaSnapshot {
        var result = self
        for (name, item) in present.items {
            let isKept = name.kind == .schema && name.schema != "public" && self[name] == nil
            if isKept || name.kind == .extension { result.items[name] = item }
        }
        return result
    }
}

extension PostgresError {
    /// Whether the statement was stopped because it took too long.
    var isCut: Bool { sqlState == .queryCanceled || code == .timeout || code == .outcomeUnknown }
}
