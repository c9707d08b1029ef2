import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

/// Live requests of contexts with settings: each shows what its policies let it see, and equal requests share answers
/// only if their settings are the same.
@Suite(.database(.sql(organizationSchema)), .timeLimit(.minutes(10))) struct TenantLiveTests {
    private typealias Updates = LiveRequest<DatabaseObject>.AsyncIterator

    private func live(
        _ context: DatabaseContext, _ format: String? = nil, _ arguments: any PropertyValue...
    ) async throws -> Updates {
        let tasks = try context.fetch("task").sorted("id")
        return try await (format.map { try tasks.where($0, arguments: arguments) } ?? tasks).live().makeAsyncIterator()
    }

    @Test(arguments: KeyNaming.allCases) func eachSeesItsOwnRows(_ naming: KeyNaming) async throws {
        try await withTenantWorld(naming) { world in
            var (first, second) = (try await live(world.context(1)), try await live(world.context(2)))
            #expect(try await first.update().integers() == [11, 12, 13, 14])
            #expect(try await second.update().integers() == [21, 22, 23])
            try await world.admin.query("UPDATE task SET title = 'dug' WHERE id = 11")
            let own = try await first.update()
            #expect(own.updates == [0] && own.objects.first?["title"] == "dug")
            try await world.database.tracking.catchUp()
            // The other's change was none for it: its next update is that of its own rows.
            try await world.admin.query("UPDATE task SET title = 'secret end' WHERE id = 23")
            let update = try await second.update()
            #expect(update.updates == [2] && update.removals.isEmpty && update.insertions.isEmpty)
            #expect(update.values("title") == ["secret dig", "secret sow", "secret end"])
            try await world.admin.query("DELETE FROM task WHERE id IN (12, 22)")
            #expect(try await first.update().integers() == [11, 13, 14])
            #expect(try await second.update().integers() == [21, 23])
        }
    }

    /// By the columns that are shown, by values of the row, by a condition that the server decides, and without the column that
    /// the policy reads.
    @Test(arguments: KeyNaming.allCases) func aRowThatMovesToAnotherTenantLeavesOneListAndJoinsTheOther(
        _ naming: KeyNaming
    ) async throws {
        try await withTenantWorld(naming) { world in
            let requests: [@Sendable (FetchRequest<DatabaseObject>) throws -> FetchRequest<DatabaseObject>] = [
                { $0 }, { try $0.where("title == %@", "sow") }, { try $0.where("title LIKE %@", "s?w") },
                { try $0.omitting("organization") }, { $0.limit(4) },
            ]
            var lists: [(first: Updates, second: Updates)] = []
            for request in requests {
                func updates(_ organization: Int) async throws -> Updates {
                    let tasks = try world.context(organization).fetch("task").sorted("id")
                    return try await request(tasks).live().makeAsyncIterator()
                }
                lists.append((try await updates(1), try await updates(2)))
                #expect(try await lists[lists.count - 1].first.update().integers().contains(12))
                #expect(try await !lists[lists.count - 1].second.update().integers().contains(12))
            }
            try await world.admin.query("UPDATE task SET organization = 2 WHERE id = 12")
            for place in lists.indices {
                let (left, joined) = (try await lists[place].first.update(), try await lists[place].second.update())
                #expect(!left.integers().contains(12) && left.removals.count == 1, "\(place)")
                #expect(joined.integers().first == 12 && joined.insertions == [0], "\(place)")
            }
            try await world.admin.query("UPDATE task SET organization = 1 WHERE id = 12")
            for place in lists.indices {
                #expect(try await lists[place].first.update().integers().contains(12), "\(place)")
                #expect(try await !lists[place].second.update().integers().contains(12), "\(place)")
            }
        }
    }

    @Test(arguments: KeyNaming.allCases) func prefetchedAndOtherRelationshipsShowOwnRows(
        _ naming: KeyNaming
    ) async throws {
        try await withTenantWorld(naming) { world in
            func updates(_ organization: Int) async throws -> Updates {
                try await world.context(organization).fetch("project").prefetch("taskSet").live().makeAsyncIterator()
            }
            func tasks(_ update: LiveUpdate<DatabaseObject>) async throws -> [Int64] {
                try await #require(update.objects.first).membersInMemory("taskSet")
            }
            var (first, second) = (try await updates(1), try await updates(2))
            #expect(try await tasks(first.update()) == [11, 12, 13])
            // A task of the first organization refers to its project, too.
            #expect(try await tasks(second.update()) == [21, 22, 23])
            try await world.admin.query("UPDATE task SET organization = 2 WHERE id IN (12, 14)")
            #expect(try await tasks(first.update()) == [11, 13])
            let update = try await second.update()
            #expect(try await tasks(update) == [14, 21, 22, 23])
            // Relationships that are not prefetched are read with the settings.
            let dig = try #require(
                try await update.objects.first?.set(forKey: "taskSet").objects.first { $0.number == 21 })
            #expect(try await dig.set(forKey: "labelSet").objects.map { $0["name"] } == ["secret"])
        }
    }

    @Test func anObjectAndASetAreObserved() async throws {
        try await withTenantWorld(.hidden) { world in
            let context = try world.context(1)
            let task = try await context.fetch("task").where("id == 11").one()
            let project = try await context.fetch("project").one()
            var object = try await context.live(task).makeAsyncIterator()
            var members = try await project.set(forKey: "taskSet").live().makeAsyncIterator()
            #expect(try await object.update().integers() == [11])
            #expect(try await members.update().integers().count == 3)
            try await world.admin.query("UPDATE task SET organization = 2 WHERE id = 11")
            let gone = try await object.update()
            #expect(gone.objects.isEmpty && gone.removedIDs == [task.objectID])
            #expect(try await members.update().integers().count == 2)
        }
    }

    // MARK: Sharing

    @Test(arguments: KeyNaming.allCases) func equalSettingsShareAnAnswerAndOthersDoNot(
        _ naming: KeyNaming
    ) async throws {
        try await withTenantWorld(naming) { world in
            let savepoints = Mutex(0)
            let observation = world.database.client.addObserver { event in
                if event.sql.hasPrefix("SAVEPOINT") { savepoints.withLock { $0 += 1 } }
            }
            defer { observation.cancel() }
            func cost() async throws -> [Int] {
                let before = savepoints.withLock { $0 }
                let statements = try await world.statements {
                    try await world.admin.query("UPDATE task SET title = title || '.' WHERE id = 11")
                }
                return [statements, savepoints.withLock { $0 } - before]
            }
            // A savepoint for the settings, and one for each question.
            var lists = [try await live(world.context(1))]
            _ = try await lists[0].update()
            #expect(try await cost() == [1, 2])
            lists.append(try await live(world.context(1)))
            _ = try await lists[1].update()
            #expect(try await cost() == [1, 2])
            #expect(world.database.tracking.metrics.liveRequests == 1)
            lists.append(try await live(world.context(2)))
            #expect(try await lists[2].update().integers() == [21, 22, 23])
            #expect(try await cost() == [2, 4])
            #expect(world.database.tracking.metrics.liveRequests == 2)
            // Other requests with settings that are there are asked in the same savepoint of the settings.
            lists.append(try await live(world.context(2), "size > %@", 1))
            _ = try await lists[3].update()
            #expect(try await cost() == [3, 5])
        }
    }

    @Test func requestsOfAShapeAreAskedTogetherForEachOfTheSettings() async throws {
        try await withTenantWorld(.named) { world in
            var lists: [Updates] = []
            for organization in [1, 2] {
                for size in [0, 1, 200] {
                    lists.append(try await live(world.context(organization), "size > %@", size))
                    _ = try await lists[lists.count - 1].update()
                }
            }
            let asked = try await world.statements {
                try await world.admin.query("UPDATE task SET title = 'x' WHERE id IN (11, 21)")
            }
            #expect(asked == 2)
            #expect(try await lists[0].update().objects.first?["title"] == "x")
            #expect(try await lists[3].update().updates == [0])
            // By values in the row, it is read once for each of the settings.
            for organization in [1, 2] {
                for size in [1, 100] {
                    lists.append(try await live(world.context(organization), "size == %@", size))
                    _ = try await lists[lists.count - 1].update()
                }
            }
            let read = try await world.statements {
                try await world.admin.query("UPDATE task SET title = 'y' WHERE id = 11")
            }
            #expect(read == 4)
            let update = try await lists[6].update()
            #expect(update.updates == [0] && update.objects.first?["title"] == "y")
        }
    }

    @Test func aContextWithoutSettingsSharesNothingWithThem() async throws {
        try await withTenantWorld(.named) { world in
            // The connection's role sees all.
            var all = try await live(world.database.makeContext())
            var first = try await live(world.context(1))
            #expect(try await all.update().integers().count == 7)
            #expect(try await first.update().integers().count == 4)
            try await world.admin.query("UPDATE task SET title = 'x'")
            #expect(try await all.update().updates.count == 7)
            #expect(try await first.update().updates.count == 4)
        }
    }

    // MARK: Limits

    @Test func aDatabaseThatRequiresSettingsIsFollowedWithThem() async throws {
        try await withTenantWorld(.hidden, requiredSettings: ["app.organization"]) { world in
            var updates = try await live(world.context(1))
            _ = try await updates.update()
            await expectError(.missingSettings) {
                _ = try await world.database.makeContext().fetch("task").live()
            }
            let context = try world.context(2, tracking: .automatic)
            let task = try await context.fetch("task").where("id == 21").one()
            try await world.admin.query("UPDATE task SET title = 'x' WHERE id IN (11, 21)")
            #expect(try await updates.update().updates == [0])
            try await world.database.tracking.catchUp()
            #expect(task["title"] == "x")
        }
    }

    @Test func namesOfChangedRowsAndSettingsThatEndSessionsAreRefused() async throws {
        try await withTenantWorld(.hidden) { world in
            let context = try world.context(1)
            await expectError(.invalidRequest) { _ = try await context.changes(of: "task") }
            let timeout = ["idle_in_transaction_session_timeout": "1s"]
            await expectError(.invalidRequest) { _ = try world.context(1, settings: timeout, tracking: .automatic) }
            let limited = try world.context(1, settings: timeout)
            await expectError(.invalidRequest) { _ = try await limited.fetch("task").live() }
            #expect(try await limited.fetch("task").count() == 4)
        }
    }
}
