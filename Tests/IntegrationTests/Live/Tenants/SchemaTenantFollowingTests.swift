import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Live requests and contexts that track changes, of tenants with schemas of their own.
@Suite(.database(.sql(schemaTenants)), .timeLimit(.minutes(10))) struct SchemaTenantFollowingTests {
    private static let tables = ["project", "task", "label", "task_label"]

    /// Lends a database that tracks the tables of two of its three tenants.
    private func withTracking(_ body: (_ database: Database, _ other: PostgresClient) async throws -> Void) async throws
    {
        try await withSchemaTenants { database, other in
            let tracking = Tracking(other)
            try await tracking.install()
            try await tracking.enable(
                ["country"] + ["acme", "beta"].flatMap { tenant in Self.tables.map { "\(tenant).\($0)" } })
            try await body(database, other)
        }
    }

    @Test func eachTenantFollowsItsOwnRows() async throws {
        try await withTracking { database, other in
            let (acme, beta) = (try await database.tenant("acme"), try await database.tenant("beta"))
            let (own, theirs) = (acme.makeContext(tracking: .automatic), beta.makeContext(tracking: .automatic))
            let (task, same) = (try await own.get("task", 1), try await theirs.get("task", 1))
            let projects = try await own.fetch("project").sorted("id").all()
            let country = try await own.get("country", "AT")
            #expect(try await projects[0].set(forKey: "taskSet").count == 3)
            _ = try await projects[0].set(forKey: "taskSet").objects
            var list = try await acme.makeContext().fetch("task").sorted("id").live().makeAsyncIterator()
            var neighbour = try await beta.makeContext().fetch("task").sorted("id").prefetch("project").live()
                .makeAsyncIterator()
            #expect(try await list.update().integers() == [1, 2, 3, 4, 5, 6])
            _ = try await neighbour.update()

            try await other.query("UPDATE acme.task SET title = 'new', project_id = 1 WHERE id = 1")
            try await other.query("DELETE FROM acme.task WHERE id = 6")
            try await other.query("UPDATE country SET name = 'Österreich' WHERE code = 'AT'")
            try await database.tracking.catchUp()
            #expect(task["title"] == "new" && same["title"] == "<1> t1" && country["name"] == "Österreich")
            #expect(try await projects[0].membersInMemory("taskSet") == [1, 2, 4])
            var update = try await list.update()
            while update.objects.count > 5 { update = try await list.update() }
            #expect(update.integers() == [1, 2, 3, 4, 5] && update.values("title").first == "new")
            #expect(update.removedIDs.allSatisfy { $0.uri == "kindred:/acme/task?id=6" })

            try await other.query("UPDATE beta.project SET name = 'hut' WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(try await neighbour.update().objects[0].object(forKey: "project")?["name"] == "hut")
            #expect(projects[1]["name"] == "<0> house")
        }
    }

    @Test func aCursorIsOfItsTenant() async throws {
        try await withTracking { database, other in
            func first(_ tenant: String, since cursor: LiveCursor?) async throws -> (LiveCause, LiveCursor) {
                let context = try await database.context(of: tenant)
                var list = try await context.fetch("label").sorted("id").live(since: cursor).makeAsyncIterator()
                let update = try await list.update()
                return (update.cause, update.cursor)
            }
            let (_, cursor) = try await first("acme", since: nil)
            try await other.query("INSERT INTO beta.label VALUES (9, 'beta')")
            #expect(try await first("acme", since: cursor).0 == .unchanged)
            #expect(try await first("beta", since: cursor).0 == .everything(.foreignCursor))
            try await other.query("INSERT INTO acme.label VALUES (9, 'acme')")
            #expect(try await first("acme", since: cursor).0 == .change)
        }
    }

    @Test func aTableThatIsNotEnabledIsNamedByTheTenantsSchema() async throws {
        try await withTracking { database, other in
            let tenant = try await database.tenant("Gamma & Co")
            let lists = await expectError(.trackingNotEnabled) {
                _ = try await tenant.makeContext().fetch("task").live()
            }
            #expect(lists?.message.contains("Gamma & Co.task") == true)
            let context = tenant.makeContext(tracking: .automatic)
            let contexts = await expectError(.trackingNotEnabled) { _ = try await context.fetch("task").all() }
            #expect(contexts?.message.contains("Gamma & Co.task") == true)
            _ = other
        }
    }

    @Test func changesOfTenantsThatNothingFollowsDoNotMakeTheModelBeRead() async throws {
        try await withTracking { database, other in
            var list = try await database.context(of: "acme").fetch("task").sorted("id").live().makeAsyncIterator()
            _ = try await list.update()
            let model = try #require(database.knownModel(ofTenant: "acme"))
            try await other.query("UPDATE beta.task SET title = 'x'")
            try await other.query("UPDATE acme.task SET title = 'y' WHERE id = 1")
            _ = try await list.update()
            try await database.tracking.catchUp()
            #expect(database.knownModel(ofTenant: "acme") === model)
        }
    }

    @Test func aMigrationOfATenantAndItsEndAreFollowed() async throws {
        try await withTracking { database, other in
            let context = try await database.tenant("acme").makeContext(tracking: .automatic)
            let task = try await context.get("task", 1)
            var list = try await database.context(of: "acme").fetch("task").where("size == 1").sorted("id").live()
                .makeAsyncIterator()
            var beta = try await database.context(of: "beta").fetch("task").sorted("id").live().makeAsyncIterator()
            _ = try await list.update()
            _ = try await beta.update()
            try await other.query("ALTER TABLE acme.task ALTER COLUMN size TYPE bigint")
            try await other.query("ALTER TABLE acme.task ADD COLUMN note text")
            try await other.query("UPDATE acme.task SET title = 'new' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(task["title"] == "new")
            var update = try await list.update()
            while update.values("title").first != "new" { update = try await list.update() }
            try await other.query("UPDATE beta.task SET title = 'new' WHERE id = 1")
            #expect(try await beta.update().values("title").first == "new")
            try await database.dropTenant("acme")
            let error = await expectError(.schemaChanged) { while try await list.next() != nil {} }
            #expect(error?.message.contains("task") == true)
            try await other.query("UPDATE beta.task SET title = 'newer' WHERE id = 1")
            #expect(try await beta.update().values("title").first == "newer")
        }
    }

    /// Random writes to the rows of two tenants; then what follows shows what SQL shows.
    @Test(arguments: 1...4) func whatFollowsAgreesWithSQL(_ seed: Int) async throws {
        try await withTracking { database, other in
            var random = RepeatedRandom(seed)
            let tenants = ["acme", "beta"]
            var contexts: [DatabaseContext] = []
            var projects: [[DatabaseObject]] = []
            var lists: [LiveRequest<DatabaseObject>.AsyncIterator] = []
            var shown: [[PostgresValue?]] = []
            for name in tenants {
                let context = try await database.tenant(name).makeContext(tracking: .automatic)
                contexts.append(context)
                projects.append(try await context.fetch("project").sorted("id").all())
                for project in projects.last ?? [] { _ = try await project.set(forKey: "taskSet").objects }
                var list = try await database.context(of: name).fetch("task").where("labelSet.@count > 0").sorted("id")
                    .live().makeAsyncIterator()
                shown.append(try await list.update().integers().map { $0.map { .integer($0) } })
                lists.append(list)
            }
            for _ in 0..<25 {
                let tenant = tenants[Int(random.below(2))]
                let (task, label) = (random.key(8), random.key(2))
                let sql: String =
                    switch random.below(5) {
                    case 0:
                        "INSERT INTO \(tenant).task (id, project_id, title) VALUES (\(task), \(random.key(2)), 'n') ON CONFLICT DO NOTHING"
                    case 1:
                        "UPDATE \(tenant).task SET project_id = \(random.key(2)), title = title || '.' WHERE id = \(task)"
                    case 2: "DELETE FROM \(tenant).task WHERE id = \(task)"
                    case 3:
                        "INSERT INTO \(tenant).task_label SELECT id, \(label) FROM \(tenant).task WHERE id = \(task) ON CONFLICT DO NOTHING"
                    default: "DELETE FROM \(tenant).task_label WHERE task_id = \(task)"
                    }
                try await other.runScript(sql)
            }
            try await database.tracking.catchUp()
            for (place, tenant) in tenants.enumerated() {
                for project in projects[place] {
                    let expected = try await other.values(
                        "SELECT id FROM \(identifier: tenant).task WHERE project_id = \(project.number ?? 0) ORDER BY id"
                    )
                    let members = try await project.membersInMemory("taskSet")
                    #expect(members.map { .integer($0) } == expected, "\(tenant)")
                }
                let expected = try await other.values(
                    "SELECT DISTINCT task_id FROM \(identifier: tenant).task_label ORDER BY 1")
                while shown[place] != expected {
                    shown[place] = try await lists[place].update().integers().map { $0.map { .integer($0) } }
                }
            }
        }
    }
}
