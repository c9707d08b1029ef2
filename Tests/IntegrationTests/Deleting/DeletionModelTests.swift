import Kindred
import KindredPostgres
import KindredTesting
import TestSupport
import Testing

/// Random schemas with random rules against a plain model of the objects that must be deleted, nullified or denied.
@Suite struct DeletionModelTests {
    /// How often a schema gets other rows: reading the catalog costs as much as many deletions.
    private static let fillings = LongTests.areOn ? 10 : 4

    @Test(.database(.empty, timeLimit: .seconds(3_600)), arguments: UInt64(1)...TestAmount.of(2, full: 5, long: 60))
    func databaseMemoryAndModelAgree(seed: UInt64) async throws {
        try await withDatabase { database, _, other in
            var random = SeededGenerator(seed: seed)
            for round in 0..<12 {
                var world = DeletionWorld(schema: "s\(round)", &random)
                try await other.runScript(world.script + "RESET search_path;")
                try await database.refreshSchema()
                for filling in 0..<Self.fillings {
                    if filling > 0 {
                        world.refill(&random)
                        try await other.runScript(world.refillScript + "RESET search_path;")
                    }
                    for step in 0..<6 where !world.rows.isEmpty {
                        let place = "seed \(seed), round \(round), filling \(filling), step \(step): \(world.summary)"
                        let before = world
                        let problem = try await Self.step(database, &world, &random)
                        try #require(problem == nil, "\(problem ?? "") in \(place); before: \(before.rows)")
                    }
                }
                _ = try await other.runScript("DROP SCHEMA \(world.schema) CASCADE")
            }
        }
    }

    /// Deletes something, and says what does not agree.
    private static func step(
        _ database: Database,
        _ world: inout DeletionWorld,
        _ random: inout SeededGenerator
    ) async throws -> String? {
        let context = database.makeContext()
        // A part of the graph is in memory, and some sets have rows without objects.
        var held = random.some(try await world.fetchAll(context), atMost: 40)
        for object in random.some(held, atMost: 8) {
            for relationship in object.entity.relationships where random.chance(50) {
                _ = try await members(object, relationship)
            }
        }
        let roots = random.some(world.rows.keys.sorted(), atMost: 3)
        let ids = Set(roots)
        let isByCondition = random.chance(25) && !world.helpers.contains(roots[0].table)
        var expected = ids
        if isByCondition { expected = ids.filter { $0.table == roots[0].table } }
        let doomed = try await world.fetchAll(context).filter { world.id(of: $0).map(expected.contains) ?? false }
        if random.chance(60) { held += doomed }
        var model = world
        let outcome = model.delete(expected)
        var error: KindredError?
        do {
            if isByCondition {
                try await context.fetch(world.entity(roots[0].table))
                    .where("id IN %@", expected.map(\.id)).delete()
            } else {
                try await context.delete(doomed)
            }
        } catch let thrown as KindredError {
            error = thrown
        }
        let codes: [KindredError.Code] = [.deletionDenied, .requiredRelationship, .missingValue]
        if let error, !codes.contains(error.code) { return "\(error)" }
        if outcome == .denied, error == nil { return "\(expected) were deleted and should not have been" }
        if outcome == .done, error != nil, world.hasUnruledCascades {
            // In which order the database's own actions run is not for the model to say.
            model = world
        } else if outcome == .done, let error {
            return "\(expected) were refused: \(error)"
        }
        world = model
        let fresh = database.makeContext()
        let stored = try await world.fetchAll(fresh)
        let rows = world.rows(stored)
        if rows != world.rows { return "after \(expected): \(rows), not \(world.rows)" }
        return try await difference(held, stored, world)
    }

    private static func difference(
        _ held: [DatabaseObject],
        _ stored: [DatabaseObject],
        _ world: DeletionWorld
    ) async throws -> String? {
        var twins: [ObjectID: DatabaseObject] = [:]
        for object in stored { if let id = object.objectID { twins[id] = object } }
        for object in held {
            guard let id = object.objectID, let twin = twins[id] else {
                if !object.isDeleted { return "\(object) is gone and does not say so" }
                continue
            }
            if object.isDeleted { return "\(object) is not gone and says so" }
            if object.dictionary != twin.dictionary {
                return "\(object) is \(object.dictionary), not \(twin.dictionary)"
            }
            for relationship in object.entity.relationships {
                let (mine, theirs) = (try await members(object, relationship), try await members(twin, relationship))
                if mine != theirs { return "\(object).\(relationship.name) is \(mine), not \(theirs)" }
            }
        }
        return nil
    }

    private static func members(_ object: DatabaseObject, _ relationship: Relationship) async throws -> Set<ObjectID?> {
        guard relationship.isToMany else {
            return Set([try await object.object(forKey: relationship.name)?.objectID])
        }
        let objects = try await object.set(forKey: relationship.name).objects
        return Set(objects.map(\.objectID))
    }
}
