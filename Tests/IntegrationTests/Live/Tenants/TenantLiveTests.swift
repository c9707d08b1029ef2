import KindredTesting
import Testing

@testable import Kindred

/// Live requests and contexts that follow changes, with settings and a role.
@Suite(.database(.sql(notesOfTenants)), .timeLimit(.minutes(5))) struct TenantLiveTests {
    @Test func eachTenantIsToldOfItsRowsAlone() async throws {
        try await withLiveTenants { tenants, other in
            var (first, second) = (try await tenants.notes(of: 1), try await tenants.notes(of: 2))
            #expect(try await first.update().integers() == [1, 2, 3])
            #expect(try await second.update().integers() == [11, 12])
            // What concerns the other gives no update: the next one is that of an own row.
            try await other.query("UPDATE note SET text = 'X' WHERE id = 11")
            try await tenants.database.tracking.catchUp()
            try await other.query("UPDATE note SET text = 'A' WHERE id = 1")
            let update = try await first.update()
            #expect(update.values("text") == ["A", "b", "c"] && update.updates == [0])
            #expect(try await second.update().values("text") == ["X", "y"])
            // A row that goes over.
            try await other.query("UPDATE note SET tenant = 2 WHERE id = 3")
            #expect(try await first.update().integers() == [1, 2])
            #expect(try await second.update().integers() == [3, 11, 12])
        }
    }

    @Test func theReadersOwnStatementsHaveNoneOfTheSettings() async throws {
        try await withLiveTenants { tenants, other in
            var all = try await tenants.database.makeContext().fetch("note").sorted("id").live().makeAsyncIterator()
            var second = try await tenants.notes(of: 2)
            #expect(try await all.update().integers() == [1, 2, 3, 11, 12])
            #expect(try await second.update().integers() == [11, 12])
            for id in 13...16 {
                try await other.query("INSERT INTO note VALUES (\(id), 2, 1, 'z')")
                #expect(try await second.update().integers().last == Int64(id))
                #expect(try await all.update().integers().last == Int64(id))
            }
            #expect(try await tenants.database.client.value("SELECT current_setting('app.tenant', true)") != "2")
            #expect(try await tenants.database.client.value("SELECT current_user = session_user") == true)
        }
    }

    @Test func prefetchedMembersAndPartsAreTheTenants() async throws {
        try await withLiveTenants { tenants, other in
            let topics = try tenants.context(of: 1).fetch("topic").sorted("id").prefetch("noteSet")
            var updates = try await topics.live().makeAsyncIterator()
            func members(_ update: LiveUpdate<DatabaseObject>) async throws -> [[Int64?]] {
                var members: [[Int64?]] = []
                for topic in update.objects {
                    members.append(
                        try await withStatementLimit(0) { try await topic.set(forKey: "noteSet").objects }.map(\.number)
                    )
                }
                return members
            }
            #expect(try await members(try await updates.update()) == [[1, 2], [3]])
            try await other.query("INSERT INTO note VALUES (13, 2, 2, 'z'), (4, 1, 2, 'd')")
            #expect(try await members(try await updates.update()) == [[1, 2], [3, 4]])
        }
    }

    @Test func equalSettingsShareAnAnswerAndOthersDoNot() async throws {
        try await withLiveTenants { tenants, other in
            let metrics = { tenants.database.tracking.metrics }
            /// The statements of the reader for a change of a row.
            func cost() async throws -> Int {
                try await tenants.database.tracking.catchUp()
                let before = metrics().statements
                try await other.query("UPDATE note SET rank = rank + 1 WHERE id = 1")
                try await tenants.database.tracking.catchUp()
                return metrics().statements - before
            }
            var first = try await tenants.notes(of: 1)
            _ = try await first.update()
            let alone = try await cost()
            var twin = try await tenants.notes(of: 1)
            _ = try await twin.update()
            #expect(try await cost() == alone && metrics().liveRequests == 1)
            // Whose row it is the policy alone says.
            var second = try await tenants.notes(of: 2)
            _ = try await second.update()
            #expect(try await cost() == alone + 1 && metrics().liveRequests == 2)
            #expect(try await first.update().values("rank").first == 3)
            #expect(try await twin.update().values("rank").first == 3)
        }
    }

    @Test func contextsFollowWhatTheirTenantSees() async throws {
        try await withLiveTenants { tenants, other in
            let context = try tenants.context(of: 1, tracking: .automatic)
            let second = try tenants.context(of: 2, tracking: .automatic)
            let notes = try await context.fetch("note").sorted("id").all()
            let topic = try #require(try await context.find("topic", 1))
            let theirs = try #require(try await second.find("topic", 1))
            _ = try await topic.set(forKey: "noteSet").objects
            #expect(try await theirs.set(forKey: "noteSet").count == 2)
            try await other.query("UPDATE note SET text = 'A', topic_id = 2 WHERE id = 1")
            try await other.query("UPDATE note SET tenant = 2 WHERE id = 2")
            try await other.query("UPDATE topic SET name = 'uno' WHERE id = 1")
            try await tenants.database.tracking.catchUp()
            #expect(notes.map { $0["text"] } == ["A", "b", "c"] && notes.map(\.isDeleted) == [false, true, false])
            #expect(try await topic.membersInMemory("noteSet") == [])
            #expect(try await theirs.countInMemory("noteSet") == 3)
            #expect(topic["name"] == "uno" && theirs["name"] == "uno")
            // A save beside it, with the settings.
            notes[2]["text"] = "saved"
            try await context.save()
            try await tenants.database.tracking.catchUp()
            #expect(try await other.value("SELECT text FROM note WHERE id = 3") == "saved")
            #expect(notes[2]["text"] == "saved" && !notes[2].hasChanges)
        }
    }

    @Test func anObjectAndASetAreObserved() async throws {
        try await withLiveTenants { tenants, other in
            let context = try tenants.context(of: 1)
            let note = try #require(try await context.find("note", 1))
            let topic = try #require(try await context.find("topic", 1))
            var values = try await context.observe(note).makeAsyncIterator()
            var members = try await topic.set(forKey: "noteSet").observe().makeAsyncIterator()
            _ = try await values.next()
            _ = try await members.next()
            try await other.query("INSERT INTO note VALUES (14, 2, 1, 'other'), (4, 1, 1, 'own')")
            #expect(try #require(try await members.next()).objects.compactMap(\.number).sorted() == [1, 2, 4])
            try await other.query("UPDATE note SET text = 'A' WHERE id = 1")
            #expect(try #require(try await values.next()).objects.first?["text"] == "A")
        }
    }

    @Test func aTenantThatIsRefusedEndsAlone() async throws {
        try await withLiveTenants { tenants, other in
            let context = try tenants.context(of: 1, tracking: .automatic)
            let topic = try #require(try await context.find("topic", 1))
            var first = try await tenants.notes(of: 1)
            _ = try await first.update()
            // Text where the policy reads a number.
            let wrong = try tenants.database.makeContext(settings: ["app.tenant": "no number"], role: tenants.role)
            var refused = try await wrong.fetch("note").live().makeAsyncIterator()
            await expectError(.invalidCondition) { _ = try await refused.next() }
            // A role that the server does not know.
            let unknown = try tenants.database.makeContext(settings: [:], role: "nobody_\(tenants.role)")
            var missing = try await unknown.fetch("note").live().makeAsyncIterator()
            await expectPostgresError(.settingsRefused) { _ = try await missing.next() }
            try await other.query("INSERT INTO note VALUES (4, 1, 1, 'd')")
            #expect(try await first.update().integers() == [1, 2, 3, 4])
            try await other.query("UPDATE topic SET name = 'uno' WHERE id = 1")
            try await tenants.database.tracking.catchUp()
            #expect(topic["name"] == "uno")
        }
    }

    @Test func aRoleThatLosesItsRightEndsAlone() async throws {
        try await withLiveTenants { tenants, other in
            try await other.query("REVOKE ALL ON note FROM PUBLIC")
            try await other.query("GRANT SELECT ON note TO \(identifier: tenants.role)")
            var theirs = try await tenants.notes(of: 1)
            var all = try await tenants.database.makeContext().fetch("note").sorted("id").live().makeAsyncIterator()
            _ = try await theirs.update()
            _ = try await all.update()
            try await other.query("REVOKE SELECT ON note FROM \(identifier: tenants.role)")
            try await other.query("UPDATE note SET text = 'A' WHERE id = 1")
            #expect(try await all.update().values("text").first == "A")
            await expectError(.accessDenied) { _ = try await theirs.next() }
        }
    }

    @Test func changesAreRefusedBeforeAnythingIsSent() async throws {
        try await withLiveTenants { tenants, _ in
            let context = try tenants.context(of: 1)
            let (_, recorder) = await recordingStatements {
                await expectError(.invalidRequest) { _ = try await context.changes(of: "note") }
                await expectError(.invalidRequest) { _ = try await context.changes(of: ["note"], consumer: "c") }
            }
            #expect(recorder.all.isEmpty, "\(recorder.all.map(\.sql))")
        }
    }
}
