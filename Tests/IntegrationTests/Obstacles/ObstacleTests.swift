import Kindred
import KindredTesting
import Testing

/// Every call that writes, against everything that may keep, move or hide its rows.
///
/// All of it happens, or none, and memory is as the database. README.md has the table.
@Suite struct ObstacleTests {
    @Test(.database(.sql(ObstacleWorld.fixture)), arguments: Obstacle.allCases)
    func aCallDoesAllOrNothing(_ obstacle: Obstacle) async throws {
        try await judge(obstacle, inTransaction: false)
    }

    @Test(.database(.sql(ObstacleWorld.fixture)), arguments: Obstacle.allCases)
    func aCallWhoseErrorATransactionIgnoresDoesAllOrNothing(_ obstacle: Obstacle) async throws {
        try await judge(obstacle, inTransaction: true)
    }

    private func judge(_ obstacle: Obstacle, inTransaction: Bool) async throws {
        let role = "obstructed_\(UInt32.random(in: 0..<UInt32.max))"
        try await withDatabase { _, _, other in
            try await other.runScript(obstacle.sql)
            try await other.query("CREATE ROLE \(identifier: role) LOGIN")
            try await other.query("GRANT ALL ON ALL TABLES IN SCHEMA public TO \(identifier: role)")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            if obstacle.isPolicy { configuration.user = role }
            configuration.pool.acquireTimeout = .seconds(60)
            let database = try await Database.connect(configuration)
            for call in WriteCall.all { try await judge(call, obstacle, database, other, inTransaction) }
            await database.close()
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await eventually("the role is unused") {
                (try? await other.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    private func judge(
        _ call: WriteCall, _ obstacle: Obstacle, _ database: Database, _ other: PostgresClient, _ inTransaction: Bool
    ) async throws {
        let place: Comment = "\(call.name), \(obstacle), \(inTransaction ? "in a transaction" : "alone")"
        try await other.runScript("UPDATE obstacle SET stands = false")
        try await other.runScript(ObstacleWorld.reset.replacing("stands = true", with: "stands = false"))
        let before = try await ObstacleWorld.picture(other)
        let world = try await ObstacleWorld(database.makeContext())
        try await other.runScript("UPDATE obstacle SET stands = true")
        var made: [DatabaseObject] = []
        var failure: (any Error)?
        do {
            if inTransaction {
                try await world.context.transaction {
                    do { made = try await call.run(world) } catch { failure = error }
                }
            } else {
                made = try await call.run(world)
            }
        } catch {
            failure = failure ?? error
        }
        try await other.runScript("UPDATE obstacle SET stands = false")
        if let failure {
            #expect(try await ObstacleWorld.picture(other) == before, place)
            #expect(failure is KindredError || failure is PostgresError, place)
            world.context.rollback()
        } else {
            #expect(!obstacle.kept.contains(call.operation), place)
            let holds = try await other.value(SQL(unsafeRaw: "SELECT coalesce(\(call.effect), false)"))
            // A row that a policy hides from the role is no member for it.
            let mayHide = obstacle == .policyBefore || obstacle == .policyAfter
            #expect(holds == true || mayHide && call.isRemoval, place)
        }
        // A rule that hides nothing makes nothing fail.
        if obstacle == .alsoRule, call.isPlain { #expect(failure == nil, "\(place): \(String(describing: failure))") }
        let differences = try await world.differences(other, with: failure == nil ? made : [])
        #expect(differences == [], "\(place), after \(failure.map { "\($0)" } ?? "success")")
        try await other.query("DELETE FROM owner_tag WHERE owner_id = 9")
        try await other.query("DELETE FROM owner WHERE id = 9")
    }
}

extension WriteCall {
    /// Whether it sends plain statements, which take rules of any kind.
    fileprivate var isPlain: Bool {
        ["create", "setValue", "delete one", "insert", "removeAll of pairs", "save of changes"].contains(name)
    }

    /// Whether it takes members out of a set, some of which a policy may hide.
    fileprivate var isRemoval: Bool {
        ["remove", "subtract", "set", "nil"].contains { name.contains($0) }
    }
}
