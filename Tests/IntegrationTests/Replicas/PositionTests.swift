import Foundation
import Kindred
import TestSupport
import Testing

/// The age of a person, as one SELECT gives it.
private func storedAge(of id: Int, in context: DatabaseContext) async throws -> Int? {
    let rows = try await context.fetch("person").where("id = %@", id).select("age").all()
    guard case .integer(let age)?? = rows.first?["age"] else { return nil }
    return Int(age)
}

/// Positions that one request hands on to the next.
@Suite(.timeLimit(.minutes(15))) struct PositionTests {
    @Test func aTokenShowsTheWriteAndAForgedOneChangesNothing() async throws {
        try await ReplicaScene.with { scene in
            try await scene.pause()
            let writing = scene.database.makeContext()
            #expect(writing.position == nil)
            try await writing.get("person", 1).setValue("anna", forKey: "name")
            let position = try #require(writing.position)
            // By the form that goes through a cookie.
            let token = try #require(DatabasePosition(position.description))
            #expect(token == position)
            #expect(try await scene.lagging(after: token).get("person", 1)["name"] == "anna")
            try await eventually("without the token the replica is read") {
                try await scene.lagging().get("person", 1)["name"] == "ann"
            }
            try await scene.resume()
            try await eventually("the replica has it") { try await scene.isOnReplica(scene.lagging(after: token)) }
            #expect(try await scene.lagging(after: token).get("person", 1)["name"] == "anna")

            let future = DatabasePosition(
                system: token.system, timeline: token.timeline, location: token.location + 1 << 40)
            let ignored = scene.database.readMetrics?.ignoredPositions ?? 0
            try await expectReplica(scene, after: future)
            #expect((scene.database.readMetrics?.ignoredPositions ?? 0) == ignored + 1)
            let others = scene.count(.otherTimeline)
            for foreign in [
                DatabasePosition(system: token.system, timeline: token.timeline + 1, location: token.location),
                DatabasePosition(system: token.system ^ 1, timeline: token.timeline, location: token.location),
            ] {
                try await expectReplica(scene, after: foreign)
            }
            #expect(scene.count(.otherTimeline) >= others + 2)
        }
    }

    private struct Undone: Error {}

    /// A way to read on the primary while the replica is paused.
    private struct PrimaryRead {
        let name: String
        /// Whether the primary tells a place in its log, and not the time alone.
        var tellsPlace = true
        /// Changes the name of the first person by the function, once the context has read before, and reads the new one.
        let run:
            @Sendable (_ scene: ReplicaScene, _ context: DatabaseContext, _ change: () async throws -> Void)
                async throws -> Void

        static let all = [
            PrimaryRead(name: "a stream") { _, context, change in
                try await change()
                for try await _ in try context.fetch("person").stream() {}
            },
            PrimaryRead(name: "a stream that is left", tellsPlace: false) { _, context, change in
                try await change()
                for try await _ in try context.fetch("many").stream() { break }
            },
            PrimaryRead(name: "a stream that goes on", tellsPlace: false) { scene, context, change in
                try await change()
                for try await person in try context.fetch("person").where("id = 1").stream() {
                    let next = try await scene.lagging(after: context.position).get("person", 1)
                    #expect(next["name"] == person["name"])
                    break
                }
            },
            PrimaryRead(name: "a stream in a transaction") { _, context, change in
                try await change()
                try await context.transaction {
                    for try await _ in try context.fetch("person").stream() {}
                }
            },
            PrimaryRead(name: "a stream in a lent connection") { scene, context, change in
                try await scene.database.client.withConnection { _ in
                    try await change()
                    for try await _ in try context.fetch("person").stream() {}
                }
            },
            PrimaryRead(name: "a COPY") { _, context, change in
                try await change()
                for try await _ in try context.copyOut("COPY person TO STDOUT") {}
            },
            PrimaryRead(name: "a COPY that is left", tellsPlace: false) { _, context, change in
                try await change()
                for try await _ in try context.copyOut("COPY many TO STDOUT") { break }
            },
            PrimaryRead(name: "a COPY in a lent connection") { scene, context, change in
                try await scene.database.client.withConnection { _ in
                    _ = try await context.get("person", 2)
                    try await change()
                    for try await _ in try scene.database.client.copyOut("COPY person TO STDOUT") {}
                }
            },
            PrimaryRead(name: "SQL in a lent connection") { scene, context, change in
                try await scene.database.client.withConnection { connection in
                    _ = try await context.get("person", 2)
                    try await change()
                    try await connection.query("SELECT name FROM person")
                }
            },
            PrimaryRead(name: "SQL in a transaction that SQL has begun") { scene, context, change in
                try await scene.database.client.withConnection { connection in
                    _ = try await context.get("person", 2)
                    try await connection.query("BEGIN")
                    try await change()
                    try await connection.query("SELECT name FROM person")
                    try await connection.query("COMMIT")
                }
            },
            PrimaryRead(name: "a stream of SQL in a lent connection") { scene, context, change in
                try await scene.database.client.withConnection { _ in
                    _ = try await context.get("person", 2)
                    try await change()
                    for try await _ in try scene.database.client.stream("SELECT name FROM person") {}
                }
            },
            PrimaryRead(name: "a transaction of the client") { scene, context, change in
                try await scene.database.client.withTransaction { transaction in
                    _ = try await context.get("person", 2)
                    try await change()
                    try await transaction.query("SELECT name FROM person")
                }
            },
            PrimaryRead(name: "a transaction of the database") { scene, context, change in
                try await scene.database.transaction {
                    try await change()
                    _ = try await context.fetch("person").all()
                }
            },
            PrimaryRead(name: "a transaction that is rolled back") { _, context, change in
                do {
                    try await context.transaction { () async throws in
                        try await change()
                        _ = try await context.fetch("person").all()
                        throw Undone()
                    }
                } catch is Undone {}
            },
        ]
    }

    @Test func nothingThatThePrimaryHasAnsweredIsReadOlderWithTheNextToken() async throws {
        try await ReplicaScene.with { scene in
            try await scene.pause()
            for (number, read) in PrimaryRead.all.enumerated() {
                let context = scene.lagging()
                // Unsaved changes have it read the primary.
                _ = try context.add("person", ["name": "staged"])
                let name = "ann \(number)"
                try await read.run(scene, context) {
                    try await scene.writer.query("UPDATE person SET name = \(name) WHERE id = 1")
                }
                context.rollback()
                let token = try #require(context.position, "\(read.name)")
                if read.tellsPlace { #expect(!token.isTime, "\(read.name)") }
                let next = scene.lagging(after: DatabasePosition(token.description))
                #expect(try await next.get("person", 1)["name"] == .string(name), "\(read.name)")
                #expect(try await context.fetch("person").where("name = %@", name).count() == 1, "\(read.name)")
            }
            // Otherwise nothing was tested.
            try await eventually("the replica is read") { try await scene.isOnReplica(scene.lagging()) }
            #expect(try await scene.lagging().get("person", 1)["name"] == "ann")
        }
    }

    /// Expects that a context with a token that cannot be reached reads the primary once, and replicas after that.
    private func expectReplica(_ scene: ReplicaScene, after token: DatabasePosition) async throws {
        let context = scene.lagging(after: token)
        // While no replica can be read, nothing is found out about the token.
        try await eventually("replicas are there") { try await scene.isOnReplica(scene.lagging()) }
        #expect(try await !scene.isOnReplica(context))
        try await eventually("replicas are read again") { try await scene.isOnReplica(context) }
    }

    @Test func withoutWaitingForTheDiskThePositionIsBehindTheWriteToo() async throws {
        try await ReplicaScene.with(settings: ["synchronous_commit = off", "autovacuum = off"]) { scene in
            for round in 1...TestAmount.of(30, full: 300) {
                let writing = scene.database.makeContext()
                try await writing.get("person", 1).setValue(round, forKey: "age")
                let context = scene.lagging(after: writing.position)
                #expect(try await storedAge(of: 1, in: context) == round)
                // An idle replica reaches it.
                if round.isMultiple(of: 10) {
                    try await eventually("the replica has it") {
                        try await scene.isOnReplica(scene.lagging(after: writing.position))
                    }
                }
            }
        }
    }

    /// Many tasks write and read with tokens while the replicas stop and go on: none reads rows that are older than the
    /// rows it knows.
    @Test func noReadIsStaleOrGoesBack() async throws {
        try await ReplicaScene.with(replicas: 2) { scene in
            let tasks = TestAmount.of(8, full: 16, long: 50)
            let rounds = TestAmount.of(40, full: 400, long: 2_000)
            try await scene.writer.query(
                "INSERT INTO person SELECT 1000 + i, 'task', 0 FROM generate_series(0, \(tasks - 1)) AS i")
            // The first requests have no token that would tell of the rows.
            for reader in scene.readers {
                try await eventually("the replica has the rows") {
                    try await reader.query("SELECT FROM person WHERE id >= 1000").count == tasks
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { () async throws in
                    var random = SeededGenerator(seed: 43)
                    do {
                        while true {
                            let reader = scene.readers[Int.random(in: 0..<2, using: &random)]
                            try await reader.query("SELECT pg_wal_replay_pause()")
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...100, using: &random)))
                            try await reader.query("SELECT pg_wal_replay_resume()")
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...50, using: &random)))
                        }
                    } catch is CancellationError {}
                }
                for task in 0..<tasks {
                    group.addTask { () async throws in
                        var session = Session(scene, task, of: tasks)
                        try await session.run(rounds)
                    }
                }
                for _ in 0..<tasks { try await group.next() }
                group.cancelAll()
                try await group.waitForAll()
            }
            let ages = try await scene.writer.query("SELECT age FROM person WHERE id >= 1000")
            #expect(try ages.allSatisfy { try $0.decode(0, as: Int.self) == rounds })
            // Otherwise nothing was tested.
            let metrics = try #require(scene.database.readMetrics)
            #expect(metrics.replica > rounds && (metrics.primary[.behind] ?? 0) > 0)
            #expect(metrics.ignoredPositions == 0)
        }
    }

    /// The requests of one user, each of which hands its position on.
    private struct Session {
        private let scene: ReplicaScene
        private let task: Int
        private let tasks: Int
        private var random: SeededGenerator
        private var token: DatabasePosition?
        /// The rows' values that it has seen.
        private var seen: [Int: Int] = [:]

        init(_ scene: ReplicaScene, _ task: Int, of tasks: Int) {
            (self.scene, self.task, self.tasks) = (scene, task, tasks)
            random = SeededGenerator(seed: UInt64(task))
        }

        mutating func run(_ rounds: Int) async throws {
            for round in 1...rounds {
                try await write(round)
                for _ in 0..<2 {
                    let context = scene.lagging(after: token)
                    let other = Int.random(in: 0..<tasks, using: &random)
                    for number in [task, other] { try await read(number, in: context) }
                    token = context.position ?? token
                }
            }
        }

        private mutating func write(_ round: Int) async throws {
            let context = scene.lagging(after: token)
            let object = try await context.get("person", 1_000 + task)
            if round.isMultiple(of: 3) {
                try await context.transaction { try await object.setValue(round, forKey: "age") }
            } else {
                try await object.setValue(round, forKey: "age")
            }
            #expect(context.position != nil)
            token = context.position
            seen[task] = round
            // The context itself, also where it has to read again.
            #expect(try await storedAge(of: 1_000 + task, in: context) == round)
            token = context.position
        }

        private mutating func read(_ number: Int, in context: DatabaseContext) async throws {
            let age = try #require(try await storedAge(of: 1_000 + number, in: context))
            let known = seen[number] ?? 0
            #expect(number == task ? age == known : age >= known, "row \(number): \(age) after \(known)")
            seen[number] = max(age, known)
        }
    }

    @Test(.enabled(if: LongTests.areOn)) func aReplicaThatTakesThePrimarysPlaceIsWrittenAndNotRead() async throws {
        try await ReplicaScene.with { scene in
            let context = scene.database.makeContext(reading: .automatic)
            let ann = try await context.get("person", 1)
            try await ann.setValue(31, forKey: "age")
            let token = try #require(context.position)
            try await eventually("the replica has it") { try await scene.isOnReplica(scene.lagging(after: token)) }
            try await scene.primary.signal(SIGKILL)
            try await scene.servers[0].promote()
            try await eventually("the new primary takes writes") {
                do {
                    try await scene.database.makeContext().get("person", 1).setValue(32, forKey: "age")
                    return true
                } catch {
                    return false
                }
            }
            let later = scene.database.makeContext(reading: .automatic, after: token)
            #expect(try await later.get("person", 1)["age"] == 32)
            let read = try await later.fetch("place").one()
            #expect(read["is_replica"] == false)
        }
    }
}
