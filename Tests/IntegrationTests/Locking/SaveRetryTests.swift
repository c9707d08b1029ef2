import Kindred
import KindredTesting
import Synchronization
import Testing

/// A save with a retry runs its closure again on the other clients' state of the objects.
@Suite struct SaveRetryTests {
    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func aStaleSaveRunsAgainOnFreshObjects(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).where("id = 1").one()
            let theirs = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await theirs.setValue(10, forKey: "value")
            mine["name"] = "staged before"
            var seen: [PostgresValue?] = []
            let result = try await context.save(retry: .attempts(3)) {
                seen.append(mine["value"])
                mine["value"] = .integer(Int64(try #require(try mine.value(forKey: "value", as: Int.self)) + 1))
                return seen.count
            }
            #expect(result == 2 && seen == [0, 10])
            #expect(mine["value"] == 11 && !mine.hasStagedChanges)
            let row = try await other.query("SELECT name, value FROM \(identifier: table.rawValue) WHERE id = 1")
            #expect(try row.first?[0] == "staged before" && row.first?[1] == 11)
        }
    }

    @Test(.database(.sql(lockingSchema))) func theLastAttemptsErrorIsThrownAndItsChangesTakenBack() async throws {
        try await withDatabase { database, context, other in
            // A row in conflict stays locked in the next attempt, so each attempt meets another row.
            let mine = try await context.fetch("counted").sorted("id").all()
            var attempts = 0
            let error = await expectError(.staleObject) {
                try await context.save(retry: .attempts(2)) {
                    attempts += 1
                    _ = try await other.query("UPDATE counted SET version = version + 1 WHERE id = \(attempts)")
                    mine[attempts - 1]["value"] = 1
                }
            }
            #expect(attempts == 2 && error?.object === mine[1])
            #expect(!context.hasStagedChanges && mine[0]["value"] == 0 && mine[1]["value"] == 0)
        }
    }

    @Test(.database(.sql(lockingSchema))) func otherErrorsAreNotTriedAgain() async throws {
        struct Failure: Error {}
        try await withDatabase { database, context, other in
            var attempts = 0
            await #expect(throws: Failure.self) {
                try await context.save(retry: .attempts(5)) {
                    attempts += 1
                    throw Failure()
                }
            }
            #expect(attempts == 1)
        }
    }

    @Test(.database(.sql(lockingSchema))) func aSerializationFailureRunsAgainOnFreshObjects() async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch("owner").where("id = 1").one()
            var attempts = 0
            try await context.save(isolation: .repeatableRead, retry: .attempts(3)) {
                attempts += 1
                // The snapshot is taken, and then another session writes.
                _ = try await context.fetch("owner").count()
                if attempts == 1 { _ = try await other.query("UPDATE owner SET name = 'theirs' WHERE id = 1") }
                mine["name"] = .string("\(try mine.value(forKey: "name", as: String.self) ?? "") and mine")
            }
            #expect(attempts == 2)
            #expect(try await other.value("SELECT name FROM owner WHERE id = 1") == "theirs and mine")
        }
    }

    @Test(.database(.sql(lockingSchema))) func aConnectionThatIsLostBeforeCOMMITRunsAgain() async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch("owner").where("id = 1").one()
            var attempts = 0
            try await context.save(retry: .attempts(3)) {
                attempts += 1
                mine["name"] = .string("attempt \(attempts)")
                guard attempts == 1 else { return }
                try await context.save()
                try await other.endSessions([database.client.processID])
            }
            #expect(attempts == 2 && mine["name"] == "attempt 2" && !mine.hasStagedChanges)
            #expect(try await other.value("SELECT name FROM owner WHERE id = 1") == "attempt 2")
        }
    }

    @Test(.database(.sql(lockingSchema))) func insideATransactionItIsASavepoint() async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch("counted").sorted("id").all()
            _ = try await other.query("UPDATE counted SET value = 5, version = version + 1 WHERE id = 1")
            try await context.transaction {
                try await mine[1].setValue("kept", forKey: "name")
                try await context.save(retry: .attempts(2)) {
                    mine[0]["value"] = .integer(Int64(try mine[0].value(forKey: "value", as: Int.self) ?? 0) + 1)
                }
            }
            #expect(try await other.value("SELECT value FROM counted WHERE id = 1") == 6)
            #expect(try await other.value("SELECT name FROM counted WHERE id = 2") == "kept")
        }
    }
}
