import Kindred
import KindredLive
import KindredTesting
import Testing

/// Contexts with settings that follow: rows that their policies begin to hide are deleted for them, whichever client
/// hides them.
@Suite(.database(.sql(organizationSchema)), .timeLimit(.minutes(10))) struct TenantTrackingTests {
    @Test(arguments: KeyNaming.allCases) func contextsFollowTheirOwnRows(_ naming: KeyNaming) async throws {
        try await withTenantWorld(naming) { world in
            let first = try world.context(1, tracking: .automatic)
            let second = try world.context(2, tracking: .automatic)
            let counting = try world.context(1, tracking: .automatic)
            let own = try await first.fetch("task").sorted("id").all()
            let theirs = try await second.fetch("task").sorted("id").all()
            let garden = try #require(try await first.find("project", 10))
            let secret = try #require(try await second.find("project", 20))
            let counted = try #require(try await counting.find("project", 10))
            for project in [garden, secret] { _ = try await project.set(forKey: "taskSet").objects }
            #expect(try await counted.set(forKey: "taskSet").count == 3)

            try await world.admin.query("UPDATE task SET title = title || '!' WHERE id IN (11, 21)")
            try await world.database.tracking.catchUp()
            #expect(own[0]["title"] == "dig!" && theirs[0]["title"] == "secret dig!")

            try await world.admin.query(
                "INSERT INTO task VALUES (15, 1, 10, 'rake', 1), (25, 2, 10, 'secret rake', 100)")
            try await world.admin.query("DELETE FROM task WHERE id IN (13, 23)")
            try await world.database.tracking.catchUp()
            #expect(own.map(\.isDeleted) == [false, false, true, false])
            #expect(theirs.map(\.isDeleted) == [false, false, true])
            #expect(try await garden.membersInMemory("taskSet") == [11, 12, 15])
            #expect(try await secret.membersInMemory("taskSet") == [21, 22])
            #expect(try await counted.countInMemory("taskSet") == 3)

            // To another organization, with its project and without.
            try await world.admin.query("UPDATE task SET organization = 2, project_id = 20 WHERE id = 12")
            try await world.admin.query("UPDATE task SET organization = 2 WHERE id = 14")
            try await world.database.tracking.catchUp()
            #expect(own.map(\.isDeleted) == [false, true, true, true])
            #expect(try await garden.membersInMemory("taskSet") == [11, 15])
            #expect(try await secret.membersInMemory("taskSet") == [12, 14, 21, 22])
            #expect(try await counted.countInMemory("taskSet") == 2)

            // A row that comes back is a new object.
            try await world.admin.query("UPDATE task SET organization = 1, project_id = 10 WHERE id = 12")
            try await world.database.tracking.catchUp()
            #expect(own[1].isDeleted)
            #expect(try await garden.membersInMemory("taskSet") == [11, 12, 15])
            #expect(try await secret.membersInMemory("taskSet") == [14, 21, 22])
        }
    }

    @Test(arguments: KeyNaming.allCases) func pairsAndTheirEndsComeAndGo(_ naming: KeyNaming) async throws {
        try await withTenantWorld(naming) { world in
            let context = try world.context(1, tracking: .automatic)
            let task = try await context.fetch("task").where("id == 11").one()
            #expect(try await task.set(forKey: "labelSet").objects.count == 1)
            let changes: [(sql: SQL, labels: [Int64])] = [
                ("UPDATE task_label SET organization = 2 WHERE task_id = 11", []),
                ("UPDATE task_label SET organization = 1 WHERE task_id = 11", [15]),
                ("UPDATE label SET organization = 2 WHERE id = 15", []),
                ("UPDATE label SET organization = 1 WHERE id = 15", [15]),
                ("INSERT INTO task_label VALUES (11, 25, 1)", [15]),
                ("UPDATE label SET organization = 1 WHERE id = 25", [15, 25]),
                ("DELETE FROM task_label WHERE task_id = 11 AND label_id = 15", [25]),
            ]
            for change in changes {
                try await world.admin.query(change.sql)
                try await world.database.tracking.catchUp()
                #expect(try await task.membersInMemory("labelSet") == change.labels, "\(change.sql)")
            }
        }
    }

    @Test(arguments: KeyNaming.allCases) func aContextsOwnWritesAndStagedValuesStay(_ naming: KeyNaming) async throws {
        try await withTenantWorld(naming) { world in
            let context = try world.context(1, tracking: .automatic)
            let tasks = try await context.fetch("task").sorted("id").all()
            tasks[0]["title"] = "own"
            try await context.save()
            tasks[1]["title"] = "staged"
            try await world.admin.query("UPDATE task SET size = 7 WHERE id IN (11, 12, 21)")
            try await world.database.tracking.catchUp()
            #expect(tasks[0]["title"] == "own" && tasks[0]["size"] == 7)
            #expect(tasks[1]["title"] == "staged" && tasks[1]["size"] == 7)
            #expect(try await world.values("SELECT title FROM task WHERE id = 11", of: 1) == ["own"])
        }
    }

    @Test(arguments: KeyNaming.allCases) func equalSettingsShareStatementsAndOthersDoNot(
        _ naming: KeyNaming
    ) async throws {
        try await withTenantWorld(naming) { world in
            var held: [[DatabaseObject]] = []
            func follow(_ organization: Int) async throws {
                let context = try world.context(organization, tracking: .automatic)
                held.append(try await context.fetch("task").all())
            }
            func cost() async throws -> Int {
                try await world.statements {
                    try await world.admin.query("UPDATE task SET size = size + 1 WHERE id IN (11, 21)")
                }
            }
            try await follow(1)
            let alone = try await cost()
            #expect(alone > 0)
            try await follow(1)
            #expect(try await cost() == alone)
            try await follow(2)
            #expect(try await cost() == 2 * alone)
            #expect(held[0].first { $0.number == 11 }?["size"] == 4)
            #expect(held[2].first { $0.number == 21 }?["size"] == 103)
        }
    }
}
