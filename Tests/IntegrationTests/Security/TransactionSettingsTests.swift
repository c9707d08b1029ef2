import Kindred
import KindredTesting
import Testing

/// A transaction runs with the settings of one context: from its beginning, through savepoints, and for the program's own SQL.
@Suite(.database(.sql(organizationSchema)))
struct TransactionSettingsTests {
    private struct Unwanted: Error {}

    private func seen(_ client: PostgresClient) async throws -> PostgresValue? {
        try await client.value("SELECT coalesce(current_setting('app.organization', true), '')")
    }

    private func expectDiffers(_ body: () async throws -> Void) async {
        let (_, recorder) = await recordingStatements {
            do {
                try await body()
                Issue.record("settings met in one transaction")
            } catch let error as PostgresError {
                #expect(error.code == .settingsDiffer && error.category == .failure && !error.mayHaveTakenEffect)
            } catch {
                Issue.record(error)
            }
        }
        #expect(recorder.all.isEmpty, "\(recorder.all.map(\.sql))")
    }

    private func expectFailure(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("no error was thrown")
        } catch {}
    }

    @Test func theyAreMadeAtItsBeginningAndEndWithIt() async throws {
        try await withTenants(maximumConnections: 1) { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let (_, recorder) = try await recordingStatements {
                try await context.transaction { () async throws in
                    // The program's own, and the first.
                    #expect(try await seen(database.client) == "1")
                    #expect(try await context.fetch("task").count() == 4)
                }
            }
            #expect(recorder.all.map(\.kind) == [.transactionControl, .statement, .statement, .transactionControl])
            #expect(try await seen(database.client) == "")
            #expect(database.client.metrics.opened == 1)
        }
    }

    @Test func anEmptyTransactionSendsNothing() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let (_, recorder) = try await recordingStatements { try await context.transaction { () async throws in } }
            #expect(recorder.all.isEmpty)
        }
    }

    @Test func aSaveAndADeletionRunWithThem() async throws {
        try await withTenants { database, admin, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let project = try context.add("project", ["id": 30, "organization": 1, "name": "orchard"])
            let task = try context.add("task", ["id": 31, "organization": 1, "title": "graft"])
            try await task.setValue(project, forKey: "project")
            let label = try await context.fetch("label").one()
            try await task.set(forKey: "labelSet").insert(label)
            try await context.save()
            #expect(try await admin.value("SELECT count(*) FROM task_label WHERE organization = 1") == 3)
            try await context.delete(project)
            #expect(try await admin.value("SELECT count(*) FROM task WHERE id = 31") == 0)
        }
    }

    @Test func theFirstContextInATransactionOfTheProgramDecides() async throws {
        try await withTenants { database, _, _ in
            let first = try database.makeContext(settings: ["app.organization": 1])
            let equal = try database.makeContext(settings: ["app.organization": "1"])
            let second = try database.makeContext(settings: ["app.organization": 2])
            try await database.transaction { () async throws in
                #expect(try await seen(database.client) == "")
                #expect(try await first.fetch("task").count() == 4)
                #expect(try await seen(database.client) == "1")
                #expect(try await equal.fetch("task").count() == 4)
                await expectDiffers { _ = try await second.fetch("task").count() }
                await expectDiffers { _ = try await database.makeContext().fetch("task").count() }
                #expect(try await first.fetch("task").count() == 4)
            }
        }
    }

    @Test func aContextWithOtherSettingsOrNoneIsRefusedUnsent() async throws {
        try await withTenants { database, _, _ in
            let first = try database.makeContext(settings: ["app.organization": 1])
            for other in [
                try database.makeContext(settings: ["app.organization": 2]),
                try database.makeContext(settings: ["app.organization": 1], role: "nobody"), database.makeContext(),
            ] {
                try await first.transaction { () async throws in
                    #expect(try await first.fetch("task").count() == 4)
                    await expectDiffers { _ = try await other.fetch("task").all() }
                    await expectDiffers { _ = try await other.query("SELECT 1") }
                    await expectDiffers {
                        try await other.transaction { () async throws in _ = try await database.query("SELECT 1") }
                    }
                    await expectDiffers { for try await _ in try other.fetch("task").stream() {} }
                    await expectDiffers { _ = try await other.get(uri: "kindred:/public/task?id=11") }
                    await expectDiffers {
                        _ = try await other.create("label", ["id": 1, "organization": 1, "name": "x"])
                    }
                    #expect(try await first.fetch("task").count() == 4)
                }
            }
            try await database.makeContext().transaction { () async throws in
                #expect(try await database.query("SELECT 1").count == 1)
                await expectDiffers { _ = try await first.fetch("task").all() }
            }
        }
    }

    // MARK: Savepoints

    @Test func aRolledBackSavepointThatMadeThemDoesSoAgain() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            for ownSQLFirst in [true, false] {
                try await database.transaction { () async throws in
                    if ownSQLFirst { #expect(try await seen(database.client) == "") }
                    for _ in 0..<2 {
                        await #expect(throws: Unwanted.self) {
                            try await database.transaction { () async throws in
                                try await database.transaction { () async throws in
                                    #expect(try await context.fetch("task").count() == 4)
                                }
                                #expect(try await seen(database.client) == "1")
                                throw Unwanted()
                            }
                        }
                        #expect(try await context.fetch("task").count() == 4)
                        #expect(try await seen(database.client) == "1")
                    }
                }
            }
        }
    }

    @Test func aReleasedSavepointLeavesThem() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await database.transaction { () async throws in
                #expect(try await seen(database.client) == "")
                try await database.transaction { () async throws in
                    #expect(try await context.fetch("task").count() == 4)
                }
                #expect(try await seen(database.client) == "1")
                #expect(try await context.fetch("task").count() == 4)
            }
        }
    }

    @Test func whatTheProgramSetsInASavepointEndsWithIt() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await context.transaction { () async throws in
                await #expect(throws: Unwanted.self) {
                    try await context.transaction { () async throws in
                        try await context.query("SELECT set_config('app.organization', '2', true)")
                        #expect(try await context.fetch("task").count() == 3)
                        throw Unwanted()
                    }
                }
                #expect(try await context.fetch("task").count() == 4)
            }
        }
    }

    @Test func tasksBesideASavepointWaitAndRunWithThem() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await database.transaction { () async throws in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<12 {
                        group.addTask { () async throws in
                            if number % 3 == 0 {
                                await #expect(throws: Unwanted.self) {
                                    try await database.transaction { () async throws in
                                        #expect(try await context.fetch("task").count() == 4)
                                        throw Unwanted()
                                    }
                                }
                            } else {
                                #expect(try await context.query("SELECT id FROM task").count == 4)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    // MARK: Savepoints with settings of their own

    private func client(_ database: Database, _ organization: Int) throws -> PostgresClient {
        database.client.with(try SessionSettings(["app.organization": String(organization)]))
    }

    @Test func aSavepointWithSettingsOfItsOwnLeavesNothing() async throws {
        try await withTenants(maximumConnections: 1) { database, admin, _ in
            let plain = database.makeContext()
            try await database.client.withTransaction(isolation: .repeatableRead, readOnly: true) {
                transaction async throws in
                #expect(try await plain.fetch("task").count() == 0)
                try await admin.query("INSERT INTO task VALUES (30, 1, 10, 'late', 1)")
                for organization in [1, 2, 1] {
                    let client = try client(database, organization)
                    // The snapshot is that of the transaction.
                    let count = PostgresValue.integer(organization == 1 ? 4 : 3)
                    try await database.client.withOwnSettings { savepoint async throws in
                        #expect(try await client.value("SELECT count(*) FROM task") == count)
                        try await client.withTransaction { _ async throws in
                            #expect(try await client.value("SELECT count(*) FROM task") == count)
                        }
                        await #expect(throws: Unwanted.self) {
                            try await client.withTransaction { _ async throws in
                                #expect(try await client.value("SELECT count(*) FROM task") == count)
                                throw Unwanted()
                            }
                        }
                        #expect(try await seen(client) == .string(String(organization)))
                        #expect(savepoint.statementCount == 2)
                    }
                    #expect(try await seen(database.client) == "")
                    #expect(try await plain.fetch("task").count() == 0)
                }
                #expect(transaction.statementCount == 7)
            }
        }
    }

    @Test func aFailureInASavepointWithSettingsOfItsOwnEndsItAlone() async throws {
        try await withTenants(maximumConnections: 1) { database, _, role in
            let unknown = database.client.with(try SessionSettings([:], role: role + "_none"))
            let (first, second) = (try client(database, 1), try client(database, 2))
            try await database.client.withTransaction { _ async throws in
                for _ in 0..<2 {
                    await expectPostgresError(.settingsRefused) {
                        try await database.client.withOwnSettings { _ in _ = try await unknown.query("SELECT 1") }
                    }
                    await expectPostgresError(.server) {
                        try await database.client.withOwnSettings { _ async throws in
                            #expect(try await seen(first) == "1")
                            _ = try await first.query("SELECT 1 / 0")
                        }
                    }
                    // One of them in each.
                    await expectPostgresError(.settingsDiffer) {
                        try await database.client.withOwnSettings { _ async throws in
                            #expect(try await seen(first) == "1")
                            _ = try await second.query("SELECT 1")
                        }
                    }
                    #expect(try await seen(database.client) == "")
                }
            }
        }
    }

    @Test func aSavepointWithSettingsOfItsOwnCostsNothingWithoutStatements() async throws {
        try await withTenants(maximumConnections: 1) { database, _, _ in
            let first = try client(database, 1)
            let (_, recorder) = try await recordingStatements {
                try await database.client.withTransaction { _ async throws in
                    try await database.client.withOwnSettings { _ in }
                    try await database.client.withOwnSettings { _ in _ = try await seen(first) }
                }
                await expectPostgresError(.invalidParameter) { try await first.withOwnSettings { _ in } }
            }
            let expected = ["BEGIN", "SAVEPOINT", "SELECT", "ROLLBACK TO", "RELEASE", "COMMIT"]
            #expect(recorder.all.count == expected.count, "\(recorder.all.map(\.sql))")
            for (event, beginning) in zip(recorder.all, expected) { #expect(event.sql.hasPrefix(beginning)) }
        }
    }

    // MARK: Settings that cannot be made

    @Test func aRoleThatCannotBeTakenFailsTheTransactionAndLeavesTheConnectionUsable() async throws {
        try await withTenants(maximumConnections: 1) { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1], role: "no_such_role")
            await expectFailure {
                try await context.transaction { () async throws in
                    await expectFailure { _ = try await context.fetch("task").all() }
                    await expectFailure { _ = try await database.query("SELECT id FROM task") }
                }
            }
            await expectFailure {
                try await context.transaction { () async throws in _ = try await context.fetch("task").all() }
            }
            await expectFailure { _ = try await context.fetch("task").all() }
            #expect(try await seen(database.client) == "" && database.client.metrics.opened == 1)
        }
    }

    // MARK: Beside statements

    @Test func aCopyThatBeginsTheTransactionRunsWithThem() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            for isNested in [false, true] {
                try await context.transaction { () async throws in
                    func copied() async throws -> String {
                        var bytes: [UInt8] = []
                        for try await line in try database.client.copyOut(
                            "COPY (SELECT count(*), current_setting('app.organization') FROM task) TO STDOUT (FORMAT csv)"
                        ) {
                            bytes += line
                        }
                        return String(decoding: bytes, as: UTF8.self)
                    }
                    if isNested {
                        try await context.transaction { () async throws in #expect(try await copied() == "4,1\n") }
                    } else {
                        #expect(try await copied() == "4,1\n")
                    }
                    #expect(try await context.fetch("task").count() == 4)
                }
            }
            #expect(try await seen(database.client) == "")
        }
    }

    @Test func retriesAndIsolationLevelsKeepThem() async throws {
        try await withTenants { database, admin, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            var attempts = 0
            try await context.transaction(isolation: .serializable, retry: .attempts(3)) {
                attempts += 1
                let task = try await context.fetch("task").where("id == 11").one()
                if attempts == 1 { try await admin.query("UPDATE task SET size = size + 1 WHERE id = 11") }
                try await task.setValue(7, forKey: "size")
            }
            #expect(attempts == 2)
            #expect(try await admin.value("SELECT size FROM task WHERE id = 11") == 7)
        }
    }
}
