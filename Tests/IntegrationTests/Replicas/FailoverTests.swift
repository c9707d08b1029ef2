import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import Logging
import TestSupport
import Testing

/// A replica that takes the place of the primary.
@Suite(.timeLimit(.minutes(30))) struct FailoverTests {
    @Test func nothingPromisedIsLostAndNothingIsDoneTwice() async throws {
        let limit = Duration.seconds(1)
        for _ in 0..<TestAmount.of(1, full: 1, long: 10) {
            try await ReplicaScene.with {
                $0.pool.acquireTimeout = limit
            } _: { scene in
                try await scene.writer.runScript(TransferLoad.tables)
                try await scene.makeSynchronous()
                let load = TransferLoad(scene.database.client)
                var pause = Duration.zero
                try await load.run(tasks: 8) {
                    try await eventually("transfers are answered") { load.count(.committed) > 200 }
                    let promotedAt = try await scene.failOver()
                    try await eventually("the new primary is written to") {
                        load.lastCommit.map { $0 > promotedAt } ?? false
                    }
                    pause = (load.lastCommit ?? .now) - promotedAt
                    try await scene.startPrograms(storing: "started")
                    let before = load.count(.committed)
                    try await eventually("transfers are answered again") { load.count(.committed) > before + 200 }
                }
                try await load.check(scene.readers[0])
                // One for each task at most.
                #expect(load.count(.unknown) <= 8)
                for id in load.unknown {
                    let fate = try await scene.database.client.resolveCommit(id, timeout: .seconds(120))
                    #expect(fate == .unknown)
                }
                // Far more than it takes, as other tests run beside it.
                #expect(pause < .seconds(60) && load.longestFailure < limit + .seconds(60))
                if TestAmount.isLong {
                    print(
                        "written to after \(pause), longest failure \(load.longestFailure), \(load.count(.unknown)) unknown"
                    )
                }
            }
        }
    }

    @Test func aTransactionThatWasOpenRunsAgainOnTheNewPrimary() async throws {
        try await ReplicaScene.with { scene in
            let context = scene.database.makeContext()
            let ann = try await context.get("person", 1)
            var runs = 0
            try await context.transaction(retry: .attempts(5)) {
                runs += 1
                #expect(ann["name"] == "ann")
                try await ann.setValue("anna", forKey: "name")
                if runs == 1 { try await scene.failOver() }
                _ = try await context.create("email", ["person_id": 1, "position": 2, "address": "anna@example.org"])
            }
            #expect(runs > 1 && ann["name"] == "anna")
            #expect(try await scene.readers[0].people("anna") == 1)
            let emails = "SELECT count(*) FROM email WHERE address = 'anna@example.org'" as SQL
            #expect(try await scene.readers[0].value(emails) == 1)
            try await scene.startPrograms(storing: "started")
        }
    }

    @Test func aFormerPrimaryThatStillRunsIsNotWrittenTo() async throws {
        try await ReplicaScene.with { scene in
            let client = scene.database.client
            await expectPostgresError(.connectionLost) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO person (name) VALUES ('open')")
                    try await scene.servers[0].promote()
                    // The samples show the new timeline, which ends the connections to the server below it.
                    for _ in 0..<24_000 {
                        try await client.query("SELECT 1")
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
            }
            for number in 0..<50 {
                if number % 10 == 0 { client.renewConnections() }
                try await client.query("INSERT INTO person (name) VALUES ('after')")
            }
            #expect(try await scene.readers[0].people("after") == 50)
            for server in [scene.writer, scene.readers[0]] { #expect(try await server.people("open") == 0) }
            #expect(try await scene.writer.people("after") == 0)
            #expect(try await scene.writer.value("SELECT pg_is_in_recovery()") == false)
            try await scene.startPrograms(8, storing: "started")
            try await tokens(scene)
            try await definitions(scene)
            #expect(try await scene.writer.people("started") == 0)
        }
    }

    /// Reads with a token in a program that starts.
    private func tokens(_ scene: ReplicaScene) async throws {
        for age in 50..<54 {
            let writing = scene.database.makeContext()
            try await writing.get("person", 1).setValue(age, forKey: "age")
            let token = try #require(writing.position)
            try await scene.startProgram { (program) async throws in
                let context = program.makeContext(reading: .automatic, after: token)
                #expect(try await context.get("person", 1)["age"] == .integer(Int64(age)))
            }
        }
    }

    /// Statements that define things: calls of a program that starts, and commands.
    private func definitions(_ scene: ReplicaScene) async throws {
        try await scene.startProgram { try await $0.tracking.install() }
        let migrations = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: migrations) }
        try "CREATE TABLE made (id integer);".write(
            to: migrations.appending(path: "1_made.sql"), atomically: true, encoding: .utf8)
        let folders = [scene.primary, scene.servers[0]].map(\.folder).joined(separator: ",")
        let uri =
            "postgresql:///postgres?host=\(folders)&user=postgres&connect_timeout=60&primarySearchTimeout=60000"
        for command in [["migrate", migrations.path], ["enable", "person"]] {
            let outcome = await TestCommand()(command + ["--database", uri])
            #expect(outcome.status == .success, "\(command): \(outcome.output)\(outcome.error)")
        }
        let made =
            """
            SELECT to_regclass('made') IS NOT NULL AND to_regclass('kindred.migration') IS NOT NULL
            AND to_regclass('kindred.tracking_state') IS NOT NULL
            AND EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'person'::regclass AND NOT tgisinternal)
            """ as SQL
        #expect(try await scene.readers[0].value(made) == true)
        let none =
            """
            SELECT to_regclass('made') IS NULL AND to_regnamespace('kindred') IS NULL
            AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'person'::regclass AND NOT tgisinternal)
            """ as SQL
        #expect(try await scene.writer.value(none) == true)
    }

    @Test func aStartWaitsForASilentServerAsLongAsItIsConfiguredTo() async throws {
        try await ReplicaScene.with { scene in
            let proxy = try FaultProxy(to: scene.servers[0].configuration)
            defer { proxy.stop() }
            let lines = LogLines()
            func start(_ limit: Duration) async throws -> Duration {
                var configuration = scene.primary.configuration
                configuration.connectTimeout = .seconds(60)
                configuration.primarySearchTimeout = limit
                let clock = ContinuousClock()
                let start = clock.now
                let database = try await Database.connect(
                    primary: configuration, replicas: [proxy.configuration], logger: lines.logger)
                let time = clock.now - start
                #expect(try await database.client.value("SELECT pg_is_in_recovery()") == false)
                await database.close()
                return time
            }
            func named() -> [String] {
                lines.take(.warning).filter { $0.message.contains("has not answered in time") }.compactMap {
                    $0.metadata["server"]
                }
            }
            // A server that answers is not waited for.
            #expect(try await start(.seconds(60)) < .seconds(60))
            #expect(named() == [])
            proxy.set { _, _ in .drop }
            #expect(try await start(.milliseconds(300)) >= .milliseconds(300))
            #expect(named() == ["\(proxy.configuration)"])
        }
    }

    @Test func aServerThatComesBackOnALowerTimelineIsRefused() async throws {
        try await ReplicaScene.with { scene in
            // Without samples: connections alone tell of timelines.
            var configuration = scene.primary.configuration
            configuration.endpoints += scene.servers[0].configuration.endpoints
            configuration.targetSession = .primary
            configuration.pool.acquireTimeout = .seconds(2)
            try await lend(configuration) { client in
                try await client.insist("before")
                try await scene.failOver()
                try await client.insist("new")
                try await scene.primary.start()
                client.renewConnections()
                try await client.insist("back")
                try await scene.startPrograms(storing: "started")
                #expect(try await scene.writer.people("started") == 0)
                #expect(try await scene.readers[0].people("new") == 1)
                #expect(try await scene.readers[0].people("back") == 1)
                try await scene.servers[0].stop(.immediate)
                try await eventually("the former primary is refused") {
                    do {
                        try await client.query("INSERT INTO person (name) VALUES ('alone')")
                    } catch let error as PostgresError where error.code == .connectionFailed {
                        return error.message.contains("timeline 2 was seen")
                    } catch is PostgresError {}
                    return false
                }
                try await scene.servers[0].start()
                try await client.insist("again")
                #expect(try await scene.readers[0].people("again") == 1)
                for name in ["new", "back", "alone", "again"] {
                    #expect(try await scene.writer.people(name) == 0, "\(name)")
                }
            }
        }
    }

    @Test func twoServersOfOneTimelineAreNotWrittenTo() async throws {
        try await ReplicaScene.with(replicas: 2) { scene in
            let client = scene.database.client
            try await scene.failOver()
            try await client.insist("first")
            try await scene.servers[1].promote()
            try await eventually("writes are refused") {
                do {
                    try await client.query("INSERT INTO person (name) VALUES ('early')")
                } catch let error as PostgresError {
                    return error.code == .twoPrimaries
                }
                return false
            }
            let context = scene.database.makeContext()
            let ann = try await context.get("person", 1)
            let error = await expectPostgresError(.twoPrimaries) { try await ann.setValue("two", forKey: "name") }
            #expect(error?.mayHaveTakenEffect == false && error?.category == .unavailable)
            await expectPostgresError(.twoPrimaries) {
                try await context.transaction { try await ann.setValue("two", forKey: "name") }
            }
            await expectPostgresError(.twoPrimaries) { try await client.runScript("UPDATE person SET name = 'two'") }
            // Reads go on.
            #expect(try await context.fetch("person").where("id = 1").count() == 1)
            for _ in 0..<4 {
                try await scene.startProgram { (program) async throws in
                    await expectPostgresError(.twoPrimaries) {
                        try await program.client.query("INSERT INTO person (name) VALUES ('early')")
                    }
                    let context = program.makeContext()
                    #expect(try await context.fetch("person").where("id = 1").count() == 1)
                }
            }
            // Without samples that would say when there is one again.
            var configuration = scene.primary.configuration
            configuration.endpoints += scene.servers.flatMap(\.configuration.endpoints)
            configuration.targetSession = .primary
            configuration.primarySearchTimeout = .seconds(60)
            await expectPostgresError(.twoPrimaries) { _ = try await PostgresClient.connect(configuration) }
            try await scene.startProgram { (program) async throws in
                await expectPostgresError(.twoPrimaries) {
                    try await program.client.query("INSERT INTO person (name) VALUES ('early')")
                }
                try await scene.servers[1].stop(.immediate)
                try await program.client.insist("later")
            }
            #expect(try await scene.readers[0].people("later") == 1)
            try await scene.startPrograms(storing: "started")
            try await client.insist("last")
            #expect(try await scene.readers[0].people("last") == 1)
            #expect(try await scene.readers[0].people("two") == 0)
        }
    }

    @Test func aTransactionThatIsOpenWhenASecondPrimaryAppearsIsRolledBack() async throws {
        try await ReplicaScene.with(replicas: 2) { scene in
            let client = scene.database.client
            try await scene.failOver()
            try await client.insist("first")
            try await client.withConnection { connection in
                await expectPostgresError(.twoPrimaries) {
                    try await client.withTransaction { _ in
                        try await client.query("INSERT INTO person (name) VALUES ('open')")
                        try await scene.servers[1].promote()
                        try await eventually("writes are refused") {
                            do {
                                try await client.query("INSERT INTO person (name) VALUES ('open')")
                            } catch let error as PostgresError {
                                return error.code == .twoPrimaries
                            }
                            return false
                        }
                    }
                }
                try await scene.servers[1].stop(.immediate)
                try await eventually("the connection is written to again") {
                    (try? await connection.query("INSERT INTO person (name) VALUES ('next')")) != nil
                }
            }
            #expect(try await scene.readers[0].people("next") == 1)
            #expect(try await scene.readers[0].people("open") == 0)
            try await scene.startPrograms(storing: "started")
        }
    }
}
