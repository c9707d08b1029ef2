import Foundation
import Kindred
import Testing

/// Which reads go to a replica, and which do not.
@Suite(.timeLimit(.minutes(15))) struct ReplicaReadTests {
    /// A read that a program asks for.
    private struct Read {
        let name: String
        /// The number of its statements.
        let count: Int
        /// Whether the answer is right.
        let run: @Sendable (DatabaseContext) async throws -> Bool

        init(_ name: String, _ count: Int = 1, _ run: @escaping @Sendable (DatabaseContext) async throws -> Bool) {
            (self.name, self.count, self.run) = (name, count, run)
        }
    }

    private static let reads = [
        Read("all") { try await $0.fetch("person").all().count == 2 },
        Read("prefetch", 2) { try await $0.fetch("person").prefetch("emailSet").all().count == 2 },
        Read("count") { try await $0.fetch("person").count() == 2 },
        Read("exists") { try await $0.fetch("person").exists() },
        Read("sum") { try await $0.fetch("person").sum("age") == 70 },
        Read("page") { try await $0.fetch("person").sorted("id").page(size: 1).objects.count == 1 },
        Read("select") { try await $0.fetch("person").select("name").all().count == 2 },
        Read("find") { try await $0.find("person", 1) != nil },
        Read("several") { try await $0.find("person", [1, 2]).count == 2 },
        Read("get") { try await $0.get("person", 2)["name"] == "bob" },
        Read("members", 2) { try await $0.get("person", 1).set(forKey: "emailSet").all().count == 2 },
        Read("number", 2) { try await $0.get("person", 1).set(forKey: "emailSet").count == 2 },
        Read("stream") { context in
            var count = 0
            for try await _ in try context.fetch("person").stream() { count += 1 }
            return count == 2
        },
    ]

    @Test func whatTheProgramAsksForIsReadOnAReplicaAndTheRestOnThePrimary() async throws {
        try await ReplicaScene.with { scene in
            for read in Self.reads {
                // On a busy machine a sample may be too old, and the primary is read.
                try await eventually("\(read.name) is read on the replica") { () async throws in
                    let before = scene.database.readMetrics?.replica ?? 0
                    #expect(try await read.run(scene.database.makeContext(reading: .automatic)))
                    return scene.database.readMetrics?.replica == before + read.count
                }
            }
            try await primaryReads(scene)
            try await writesOfAReader(scene)
            try await settings(scene)
            try await statements(scene)
            try await rawQueries(scene)
            try await endings(scene)
        }
    }

    private func primaryReads(_ scene: ReplicaScene) async throws {
        let context = scene.database.makeContext(reading: .automatic)
        #expect(try await !scene.isOnReplica(scene.database.makeContext()))
        #expect(try await context.query("SELECT pg_is_in_recovery()")[0][0] == false)
        try await context.transaction {
            #expect(try await !scene.isOnReplica(context))
            let ann = try await context.get("person", 1)
            try await ann.lock()
        }
        try await scene.database.client.withConnection { (_) async throws in
            #expect(try await !scene.isOnReplica(context))
        }
        // Unsaved changes.
        _ = try context.add("person", ["name": "eve"])
        let staged = scene.count(.stagedChanges)
        #expect(try await !scene.isOnReplica(context))
        #expect(scene.count(.stagedChanges) == staged + 1)
        context.rollback()
        // Reads that a write depends on.
        let writes = scene.count(.write)
        let ann = try await context.get("person", 1)
        let emails = try await ann.set(forKey: "emailSet")
        try await emails.move(from: 0, to: 1)
        #expect(scene.count(.write) == writes + 1)
        #expect(try await scene.writer.query("SELECT id FROM email ORDER BY position").map { try $0[0] } == [2, 1])
    }

    /// One context reads and writes.
    private func writesOfAReader(_ scene: ReplicaScene) async throws {
        let context = scene.lagging()
        try await eventually("read on the replica") { try await scene.isOnReplica(context) }
        try await scene.pause()
        let ann = try await context.get("person", 1)
        try await ann.setValue("anna", forKey: "name")
        let behind = scene.count(.behind)
        // The replica has the former name.
        try await eventually("the replica is behind") { () async throws in
            #expect(try await context.fetch("person").where("name = 'anna'").count() == 1)
            return scene.count(.behind) > behind
        }
        #expect(try await context.fetch("person").sorted("id").all().first?["name"] == "anna")
        try await eventually("the replica shows the former name") {
            try await scene.lagging().get("person", 1)["name"] == "ann"
        }
        // In transactions of the database too.
        let other = scene.lagging()
        let bob = try await other.get("person", 2)
        try await scene.database.transaction { try await bob.setValue(41, forKey: "age") }
        #expect(try await other.fetch("person").where("age = 41").count() == 1)
        // By the limit of its own lag, the replica is not read.
        try await eventually("the lag is known") {
            try await !scene.isOnReplica(scene.database.makeContext(reading: .automatic))
        }
        try await eventually("by a greater limit it is read") { try await scene.isOnReplica(scene.lagging()) }
        try await scene.resume()
        try await eventually("the replica has caught up with the context") { try await scene.isOnReplica(context) }
        #expect(try await context.fetch("person").where("name = 'anna'").count() == 1)
    }

    /// Settings hold on replicas too.
    private func settings(_ scene: ReplicaScene) async throws {
        try await scene.writer.runScript(
            "CREATE VIEW setting AS SELECT pg_is_in_recovery() AS is_replica, current_setting('app.tenant', true) AS tenant"
        )
        try await scene.database.refreshSchema()
        try await eventually("a replica answers with the setting") {
            let context = try scene.database.makeContext(settings: ["app.tenant": "acme"], reading: .automatic)
            // The view may not have arrived: then the primary answers.
            let row = try await context.fetch("setting").one()
            #expect(row["tenant"] == "acme")
            return row["is_replica"] == true
        }
    }

    /// The statements that the program sees are the same as without replicas.
    private func statements(_ scene: ReplicaScene) async throws {
        let context = scene.database.makeContext(reading: .automatic)
        try await expectStatements(["SELECT", "UPDATE", "SELECT"]) {
            let ann = try await context.get("person", 1)
            try await ann.setValue(31, forKey: "age")
            _ = try await context.fetch("person").all()
        }
        #expect(context.position != nil)
        // A database without replicas sends nothing more.
        let plain = try await Database.connect(scene.primary.configuration)
        let single = plain.makeContext()
        try await single.get("person", 1).setValue(32, forKey: "age")
        #expect(single.position == nil && plain.readMetrics == nil)
        // Unless a context wants it.
        let asking = plain.makeContext(reading: .automatic)
        try await asking.get("person", 1).setValue(33, forKey: "age")
        #expect(asking.position != nil)
        await plain.close()
    }

    /// SQL of the program goes to a replica where the call says so.
    private func rawQueries(_ scene: ReplicaScene) async throws {
        let (database, context) = (scene.database, scene.database.makeContext())
        let question = "SELECT pg_is_in_recovery()" as SQL
        try await eventually("rows") { try await context.query(question, reading: .automatic)[0][0] == true }
        try await eventually("rows of the database") {
            try await database.query(question, reading: .automatic)[0][0] == true
        }
        try await eventually("values") {
            try await context.query(question, as: Bool.self, reading: .automatic) == [true]
        }
        try await eventually("objects") {
            try await context.query("SELECT * FROM place", as: "place", reading: .automatic)[0]["is_replica"] == true
        }
        #expect(try await context.query(question)[0][0] == false)
        let inTransaction = try await context.transaction {
            try await context.query(question, reading: .automatic)[0][0]
        }
        #expect(inTransaction == false)
        try await expectStatements(["SELECT"]) {
            _ = try await context.query("SELECT 1", reading: .automatic)
        }
        // A statement that is no query is not sent.
        let update = "UPDATE person SET age = 1 RETURNING *" as SQL
        try await expectStatements([]) {
            await expectPostgresError(.invalidParameter) { try await context.query(update, reading: .automatic) }
            await expectPostgresError(.invalidParameter) { try await database.query(update, reading: .automatic) }
            await expectPostgresError(.invalidParameter) {
                _ = try await context.query(update, as: "person", reading: .automatic)
            }
        }
        // A lock of the session is put back there, too.
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'" as SQL
        try await eventually("the replica locks") {
            let lock = "SELECT pg_is_in_recovery(), pg_advisory_lock(4711)" as SQL
            return try await context.query(lock, reading: .automatic)[0][0] == true
        }
        for server in scene.readers + [scene.writer] {
            try await eventually("the lock is put back") { try await server.value(locks) == 0 }
        }
        // A function that writes: a replica refuses it, and the primary runs it once.
        try await scene.writer.runScript(
            """
            CREATE FUNCTION store() RETURNS bigint LANGUAGE sql AS
                $$ INSERT INTO person (name) VALUES ('stored') RETURNING id $$
            """)
        let failed = scene.count(.failed)
        var number: Int64 = 0
        try await eventually("the replica refuses it") {
            try await context.query("SELECT store()", reading: .replica(maximumLag: .seconds(200)))
            number += 1
            let stored = try await scene.writer.value("SELECT count(*) FROM person WHERE name = 'stored'")
            #expect(stored == .integer(number))
            return scene.count(.failed) > failed
        }
        try await scene.writer.query("DELETE FROM person WHERE name = 'stored'")
        // Behind the context's own write.
        try await scene.pause()
        try await context.get("person", 2).setValue(50, forKey: "age")
        let ages = try await context.query(
            "SELECT age FROM person WHERE id = 2", as: Int.self, reading: .replica(maximumLag: .seconds(200)))
        #expect(ages == [50])
        try await scene.resume()
    }

    /// Replicas that fail while they are asked.
    private func endings(_ scene: ReplicaScene) async throws {
        let reader = scene.readers[0]
        try await eventually("a session is ended in the middle of a read, which the primary answers") {
            let context = scene.database.makeContext(reading: .automatic)
            let (failed, missing) = (scene.count(.failed), scene.count(.noReplica))
            async let found = context.fetch("slow").all()
            try await eventually("the read runs") {
                let ended = try await reader.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE state = 'active' AND query LIKE '%"slow"%' AND pid <> pg_backend_pid()
                    """)
                return !ended.isEmpty || scene.count(.noReplica) > missing
            }
            #expect(try await found.count == 2)
            return scene.count(.failed) > failed
        }
        try await eventually("a stream whose session is ended has an error of its own") {
            let context = scene.database.makeContext(reading: .automatic)
            let read = scene.database.readMetrics?.replica
            var objects = try context.fetch("many").stream().makeAsyncIterator()
            _ = try await objects.next()
            guard scene.database.readMetrics?.replica != read else { return false }
            try await eventually("the stream's session is gone") {
                try await reader.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
                ).isEmpty
            }
            let error = await expectError(.replicaConflict) { while try await objects.next() != nil {} }
            #expect(error?.category == .unavailable)
            return true
        }
        try await scene.servers[0].stop(.immediate)
        for _ in 0..<20 {
            #expect(try await !scene.isOnReplica(scene.database.makeContext(reading: .automatic)))
        }
        try await scene.servers[0].start()
        try await eventually("the replica is back") {
            try await scene.isOnReplica(scene.database.makeContext(reading: .automatic))
        }
    }
}
