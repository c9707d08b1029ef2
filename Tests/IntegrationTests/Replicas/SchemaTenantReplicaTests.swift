import Kindred
import Testing

/// Tenants with schemas of their own read from replicas: from their own schemas there, too.
@Suite(.timeLimit(.minutes(10))) struct SchemaTenantReplicaTests {
    @Test func tenantsReadTheirOwnRowsFromAReplica() async throws {
        try await ReplicaScene.with { scene in
            try await scene.writer.runScript(schemaTenants)
            let database = try await Database.connect(
                primary: scene.primary.configuration, replicas: scene.servers.map(\.configuration),
                tenants: .schemas(template: "tenant_template"))
            try await lend(database) { database in
                for (number, name) in ["acme", "beta"].enumerated() {
                    let tenant = try await database.tenant(name)
                    try await onReplica(database, 2) {
                        let projects = try await tenant.makeContext(reading: .automatic).fetch("project").sorted("id")
                            .prefetch("taskSet").all()
                        #expect(
                            projects.map { $0["name"] } == [
                                .string("<\(number)> garden"), .string("<\(number)> house"),
                            ])
                        #expect(try await projects[0].membersInMemory("taskSet") == [2, 4, 6])
                    }
                    try await onReplica(database, 1) {
                        let context = try tenant.makeContext(settings: ["app.x": 1], reading: .automatic)
                        let titles = try await context.query(
                            "SELECT title FROM task ORDER BY id LIMIT 1", as: String.self, reading: .automatic)
                        #expect(titles == ["<\(number)> t1"])
                    }
                    try await writing(tenant, number)
                }
            }
        }
    }

    /// A write goes to the primary, and later contexts see it.
    private func writing(_ tenant: SchemaTenant, _ number: Int) async throws {
        let token = try await tenant.withContext(reading: .automatic) { context in
            _ = try await context.create("label", ["id": 3, "name": "<\(number)> new"])
            #expect(try await context.fetch("label").count() == 3)
            return try #require(context.position)
        }
        let later = tenant.makeContext(reading: .replica(maximumLag: .seconds(200)), after: token)
        #expect(try await later.fetch("label").sorted("id").all().last?["name"] == .string("<\(number)> new"))
    }

    /// Runs reads until so many of them were answered by a replica.
    private func onReplica(_ database: Database, _ count: Int, _ body: () async throws -> Void) async throws {
        try await eventually("the replica is read") { () async throws in
            let before = database.readMetrics?.replica ?? 0
            try await body()
            return database.readMetrics?.replica == before + count
        }
    }
}
