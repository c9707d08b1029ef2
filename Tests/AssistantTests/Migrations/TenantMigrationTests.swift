import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredMigrations
import KindredTesting
import Testing

/// The same files in the schemas of tenants.
@Suite(.database(.sql("CREATE SCHEMA template; CREATE SCHEMA acme; CREATE SCHEMA \"Beta & Co\"; CREATE SCHEMA other")))
struct TenantMigrationTests {
    private static let names = ["template", "acme", "Beta & Co"]

    private func states(_ outcomes: [TenantMigration]) -> [TenantMigration.State] { outcomes.map(\.state) }

    @Test func eachTenantIsMigratedOnce() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a (id bigint PRIMARY KEY)"]) { folder in
            try await withClient { client in
                let migrations = folder.migrations
                #expect(try await migrations.apply(toTenants: nil, of: client).isEmpty)
                let asked = try await migrations.pending(forTenants: Self.names, of: client)
                #expect(states(asked) == [.pending, .pending, .pending])
                #expect(try await migrations.tenants(of: client).isEmpty)
                let first = try await migrations.apply(toTenants: Self.names + ["acme"], of: client)
                #expect(first.map(\.schema) == Self.names)
                #expect(first.allSatisfy { $0.state == .applied })
                #expect(first.flatMap(\.files).map(\.name) == ["1_a.sql", "1_a.sql", "1_a.sql"])
                #expect(try await migrations.tenants(of: client).sorted() == ["Beta & Co", "acme", "template"])

                try folder.write("2_b.sql", "CREATE TABLE b (a_id bigint REFERENCES a)")
                let (second, sent) = try await recordingStatements {
                    try await migrations.apply(toTenants: ["acme"], of: client)
                }
                #expect(states(second) == [.applied])
                // One for the path, two for the pending files, then four, five and its own, without BEGIN and COMMIT.
                #expect(sent.statements.count == 13, "\(sent.statements)")
                let third = try await migrations.apply(toTenants: nil, of: client)
                #expect(third.count == 3)
                #expect(third.allSatisfy { ($0.state == .skipped) == ($0.schema == "acme") && $0.state != .failed })
                let (last, none) = try await recordingStatements {
                    try await migrations.apply(toTenants: nil, of: client)
                }
                #expect(states(last) == [.skipped, .skipped, .skipped])
                #expect(none.statements.count == 8, "\(none.statements)")
                // Neither the database's own records nor other schemas were touched; records are no entities.
                let tables = try await SchemaReader.read(from: client).entities.map(\.name.description).sorted()
                #expect(tables == ["Beta & Co.a", "Beta & Co.b", "acme.a", "acme.b", "template.a", "template.b"])
                let rows = try await client.query("SELECT to_regclass('kindred.migration') IS NULL")
                #expect(try rows[0].decode(0, as: Bool.self) == true)
            }
        }
    }

    @Test func oneThatFailsStopsNoOtherAndGoesOnLater() async throws {
        let files = ["1_a.sql": "CREATE TABLE a ()", "2_b.sql": "CREATE TABLE b ()", "3_c.sql": "CREATE TABLE c ()"]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let migrations = folder.migrations
                try await client.query("CREATE TABLE acme.b ()")
                for limit in [1, 3] {
                    let outcomes = try await migrations.apply(toTenants: Self.names, of: client, limit: limit)
                    let failed = try #require(outcomes.first { $0.schema == "acme" })
                    #expect(failed.state == .failed && failed.error?.code == .failed, "\(outcomes)")
                    #expect(failed.error?.file == "2_b.sql" && failed.error?.line == 1)
                    #expect(failed.files.count == (limit == 1 ? 1 : 0))
                    let others: TenantMigration.State = limit == 1 ? .applied : .skipped
                    #expect(outcomes.count { $0.state == others } == 2)
                }
                try await client.query("DROP TABLE acme.b")
                let outcomes = try await migrations.apply(toTenants: nil, of: client)
                #expect(outcomes.first { $0.schema == "acme" }?.files.map(\.number) == [2, 3])
                try folder.write("1_a.sql", "CREATE TABLE a (id integer)")
                let changed = try await migrations.apply(toTenants: nil, of: client)
                #expect(changed.allSatisfy { $0.state == .failed && $0.error?.code == .changed })
            }
        }
    }

    @Test func filesWithoutTransactionAreResolvedForTheirTenant() async throws {
        let files = ["1_a.sql": "-- kindred: no transaction\nCREATE TABLE a (); SELECT 1 / (SELECT count(*) FROM flag)"]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let migrations = folder.migrations
                try await client.query("CREATE TABLE acme.flag ()")
                try await client.query("CREATE TABLE template.flag AS SELECT 1")
                let outcomes = try await migrations.apply(toTenants: ["template", "acme"], of: client)
                #expect(states(outcomes) == [.applied, .failed])
                let again = try await migrations.apply(toTenants: nil, of: client)
                #expect(again.first { $0.schema == "acme" }?.error?.code == .unfinished)
                await #expect(throws: MigrationError.self) {
                    try await migrations.resolve(1, isDone: true, in: client, ofTenant: "template")
                }
                try await migrations.resolve(1, isDone: true, in: client, ofTenant: "acme")
                let last = try await migrations.apply(toTenants: nil, of: client)
                #expect(states(last) == [.skipped, .skipped])
            }
        }
    }

    @Test(arguments: [["nobody"], ["acme", "public"], ["pg_catalog"], ["information_schema"], ["$user"], [""]])
    func schemasOfNoTenantAreRefusedBeforeAnythingRuns(_ names: [String]) async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()"]) { folder in
            try await withClient { (client) async throws in
                let error = await #expect(throws: MigrationError.self) {
                    try await folder.migrations.apply(toTenants: names, of: client)
                }
                #expect(error?.code == .noTenant)
                #expect(try await folder.migrations.tenants(of: client).isEmpty)
            }
        }
    }

    private func applied(_ migrations: Migrations) async throws -> [TenantMigration] {
        try await withClient { try await migrations.apply(toTenants: Self.names, of: $0, limit: 2) }
    }

    @Test func twoProcessesApplyEachFileOnceForEachTenant() async throws {
        let files = ["1_a.sql": "CREATE TABLE a (b integer)", "2_b.sql": "INSERT INTO a VALUES (1)"]
        try await MigrationFolder.with(files) { folder in
            let migrations = folder.migrations
            async let first = applied(migrations)
            async let second = applied(migrations)
            async let third = applied(migrations)
            let all = try await first + second + third
            try await withClient { client in
                #expect(all.allSatisfy { $0.state != .failed }, "\(all)")
                for name in Self.names {
                    let ran = all.filter { $0.schema == name }.flatMap(\.files).map(\.number).sorted()
                    #expect(ran == [1, 2])
                    let count = try await client.query("SELECT count(*) FROM \(identifier: name).a")
                    #expect(try count[0].decode(0, as: Int.self) == 1)
                }
            }
        }
    }

    @Test func theCommandReportsEachTenant() async throws {
        let run = DatabaseCommand("migrate")
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()"]) { folder in
            try await withClient { client in _ = try await client.query("CREATE TABLE acme.a ()") }
            let asked = try await run(folder.path, "--tenant", "template", "--dry-run")
            #expect(asked.output == "pending  template  1_a.sql\n1 tenant: 1 pending\n", "\(asked)")
            let first = try await run(folder.path, "--tenant", "template", "--tenant", "acme", "--limit", "1")
            #expect(first.status == .failure)
            #expect(first.output.contains("applied  template  1_a.sql\n"), "\(first)")
            #expect(first.output.hasSuffix("2 tenants: 1 applied, 1 failed\n"), "\(first)")
            #expect(first.error.contains("1 of 2 tenants failed, the first is acme."))
            try await withClient { client in _ = try await client.query("DROP TABLE acme.a") }
            let second = try await run(folder.path, "--tenants", "--format", "json")
            #expect(second.status == .success)
            #expect(
                second.output == """
                    {"format": 1, "tenants": [
                      {"schema": "acme", "state": "applied", "files": ["1_a.sql"], "error": null},
                      {"schema": "template", "state": "skipped", "files": [], "error": null}
                    ]}

                    """, "\(second)")
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(second.output.utf8)) }
            #expect(try await run(folder.path, "--tenants").output == "2 tenants: 2 skipped\n")
            #expect(try await run(folder.path, "--tenant", "nobody").status.rawValue == 65)
            #expect(try await run(folder.path, "--tenants", "--tenant", "acme").status == .usage)
            #expect(try await run(folder.path, "--format", "json").status == .usage)
        }
    }
}
