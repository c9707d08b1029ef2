import Kindred
import KindredLive
import KindredTesting
import Testing

/// Two spellings of a name, which Swift's strings take for one and the server for two.
enum Spelling {
    static let composed = "caf\u{e9}"
    static let decomposed = "cafe\u{301}"
    static let both = [composed, decomposed]
}

/// Tenants, settings and roles whose names or values are two spellings of one word: none sees another's rows.
struct TenantNameTests {
    private func expectDiffers(_ body: () async throws -> Void) async {
        let error = await #expect(throws: PostgresError.self) { try await body() }
        #expect(error?.code == .settingsDiffer)
    }

    @Test(
        .database(
            .sql(
                "CREATE TABLE country (code text PRIMARY KEY);"
                    + (["tenant_template"] + Spelling.both.map { "\"\($0)\"" }).map(tenantTables).joined())))
    func tenantsWithSchemasOfTheirOwn() async throws {
        try await withSchemaTenants { database, other in
            let contexts = [
                try await database.context(of: Spelling.composed), try await database.context(of: Spelling.decomposed),
            ]
            for (context, name) in zip(contexts, Spelling.both) {
                try await context.create("label", ["id": 1, "name": name])
                #expect(try await database.tenant(name).name.utf8.elementsEqual(name.utf8))
            }
            for name in Spelling.both {
                #expect(try await other.values("SELECT name FROM \(identifier: name).label") == [.string(name)])
                let context = try await database.context(of: name)
                #expect(try await context.get("label", 1)["name"] == .string(name))
            }
            try await contexts[0].transaction {
                try await contexts[0].create("label", ["id": 2, "name": "own"])
                await expectDiffers { _ = try await contexts[1].fetch("label").count() }
                await expectDiffers { _ = try await contexts[1].create("label", ["id": 3, "name": "other"]) }
            }
            let label = try await contexts[0].get("label", 1)
            await expectError(.otherTenant) { _ = try await contexts[1].get(try #require(label.objectID)) }
            try await database.dropTenant(Spelling.decomposed)
            #expect(try await contexts[0].fetch("label").count() == 2)
            await expectError(.notFound) { _ = try await database.tenant(Spelling.decomposed) }
        }
    }

    private static let notes = """
        CREATE TABLE note (id bigint PRIMARY KEY, owner text NOT NULL, body text NOT NULL);
        INSERT INTO note VALUES (1, '\(Spelling.composed)', 'first'), (2, '\(Spelling.decomposed)', 'second');
        GRANT ALL ON note TO PUBLIC;
        """
    private static let policy = """
        ALTER TABLE note ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY own ON note USING (owner = current_setting('app.owner', true));
        """

    /// Runs `body` with a client of a role that policies hold for.
    private func withOwners(_ body: (_ database: Database, _ admin: PostgresClient) async throws -> Void) async throws {
        try await withDatabase { owner, _, admin in
            let role = "owners_\(UInt32.random(in: 0..<UInt32.max))"
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await owner.tracking.install(readers: [role])
            try await owner.tracking.enable(["note"])
            var configuration = admin.configuration
            configuration.user = role
            let result: Result<Void, any Error>
            do {
                try await lend(try await Database.connect(configuration)) { try await body($0, admin) }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            try await admin.query("DROP OWNED BY \(identifier: role)")
            try await admin.query("DROP ROLE \(identifier: role)")
            try result.get()
        }
    }

    @Test(.database(.sql(notes + policy)), .timeLimit(.minutes(10))) func settingsOfPolicies() async throws {
        try await withOwners { database, admin in
            let contexts = try Spelling.both.map { try database.makeContext(settings: ["app.owner": $0]) }
            var lists: [LiveRequest<DatabaseObject>.AsyncIterator] = []
            for (number, context) in contexts.enumerated() {
                lists.append(try await context.fetch("note").sorted("id").live().makeAsyncIterator())
                #expect(try await lists[number].update().integers() == [Int64(number) + 1])
                #expect(
                    try await context.fetch("note").sorted("id").all().map { $0["id"] } == [.integer(Int64(number) + 1)]
                )
            }
            try await admin.query("INSERT INTO note SELECT id + 2, owner, body FROM note")
            #expect(try await lists[0].update().integers() == [1, 3])
            #expect(try await lists[1].update().integers() == [2, 4])
            try await contexts[0].transaction {
                _ = try await contexts[0].fetch("note").count()
                await expectDiffers { _ = try await contexts[1].fetch("note").count() }
                await expectDiffers {
                    _ = try await contexts[1].fetch("note").update(["body": "taken"])
                }
            }
            #expect(try await admin.value("SELECT count(*) FROM note WHERE body = 'taken'") == 0)
        }
    }

    @Test(.database(.sql(notes)), .timeLimit(.minutes(10))) func tenantsThatShareTables() async throws {
        try await withOwners { database, admin in
            let contexts = try Spelling.both.map {
                try database.makeContext(tenant: ["owner": $0], setting: "app.owner")
            }
            var lists: [LiveRequest<DatabaseObject>.AsyncIterator] = []
            for (number, context) in contexts.enumerated() {
                lists.append(try await context.fetch("note").sorted("id").live().makeAsyncIterator())
                #expect(try await lists[number].update().integers() == [Int64(number) + 1])
            }
            // A row that is handed over is no row of the first one's any more, in memory too.
            _ = try await contexts[0].get("note", 1)
            try await admin.query("UPDATE note SET owner = \(Spelling.decomposed) WHERE id = 1")
            #expect(try await lists[0].update().integers().isEmpty)
            #expect(try await lists[1].update().integers() == [1, 2])
            #expect(try await contexts[0].find("note", 1) == nil)
            await expectError(.readOnly) {
                _ = try await contexts[0].create("note", ["id": 9, "owner": Spelling.decomposed, "body": "other's"])
            }
            #expect(try await contexts[1].fetch("note").where("owner == %@", Spelling.decomposed).count() == 2)
            try await contexts[0].transaction {
                _ = try await contexts[0].fetch("note").count()
                await expectDiffers { _ = try await contexts[1].fetch("note").count() }
            }
        }
    }

    @Test(.database(.sql("CREATE TABLE t (id bigint PRIMARY KEY)"))) func roles() async throws {
        try await withDatabase { database, _, other in
            let suffix = "_\(UInt32.random(in: 0..<UInt32.max))"
            let roles = Spelling.both.map { $0 + suffix }
            for role in roles { try await other.query("CREATE ROLE \(identifier: role)") }
            try await other.query("GRANT SELECT ON t TO \(identifier: roles[0])")
            let contexts = try roles.map { try database.makeContext(settings: [:], role: $0) }
            for (context, role) in zip(contexts, roles) {
                #expect(try await context.query("SELECT current_user::text").first?[0] == .string(role))
            }
            try await contexts[0].transaction {
                _ = try await contexts[0].fetch("t").count()
                await expectDiffers { _ = try await contexts[1].fetch("t").count() }
            }
            await #expect(throws: (any Error).self) { _ = try await contexts[1].fetch("t").count() }
            for role in roles {
                try await other.query("DROP OWNED BY \(identifier: role)")
                try await other.query("DROP ROLE \(identifier: role)")
            }
        }
    }
}
