import Kindred
import KindredTesting
import Logging
import Testing

/// The fate of staged changes when the program lets go of their context.
@Suite(.database(.sql(GraphSchema.sql + "SELECT reset_graph();")))
struct ContextLifeTests {
    /// The actions of a request before it ends without a save.
    enum Pattern: CaseIterable {
        case newObject, value, newObjectsInACircle, newMember, newPair, deletion, failedSave, failedTransaction, problem
        case cancelledTask, valueAfterAMendedSave
    }

    private struct Undone: Error {}

    /// Knows objects and a context without keeping them.
    private struct Remains {
        weak var context: DatabaseContext?
        var objects: [WeakObject] = []

        var isGone: Bool { context == nil && objects.allSatisfy { $0.object == nil } }
    }

    private struct WeakObject {
        weak var object: DatabaseObject?
    }

    /// How often the log says that changes are lost.
    private func losses(_ log: LogLines) -> Int {
        log.take(.warning).count { $0.message.contains("their context was released") }
    }

    /// Lends a database whose log is kept.
    private func withLog(_ body: (Database, LogLines) async throws -> Void) async throws {
        let log = LogLines()
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        let database = try await Database.connect(configuration, logger: log.logger)
        do {
            try await body(database, log)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    /// Stages something in a context of its own, and lets go of all of it.
    private func request(_ pattern: Pattern, _ database: Database) async throws -> Remains {
        let context = database.makeContext()
        let unit = try #require(await context.find("unit", 1))
        let item = try #require(await context.find("item", 1))
        var objects = [unit, item]
        switch pattern {
        case .newObject: objects.append(try context.insert("unit", ["name": "new"]))
        case .value: item["name"] = "other"
        case .newObjectsInACircle:
            let (first, second) = (try context.insert("unit", ["name": "a"]), try context.insert("unit", ["name": "b"]))
            try await first.setValue(second, forKey: "parent")
            try await second.setValue(first, forKey: "parent")
            objects += [first, second]
        case .newMember:
            let new = try context.insert("item", ["name": "new"])
            try await unit.set(forKey: "items").insert(new)
            #expect(try await unit.set(forKey: "items").contains(new))
            objects.append(new)
        case .newPair:
            let new = try context.insert("tag", ["name": "new"])
            try await item.set(forKey: "tags").insert(new)
            #expect(try await item.set(forKey: "tags").contains(new))
            objects.append(new)
        case .deletion: try context.stageDeletion(of: item)
        case .failedSave:
            objects.append(try context.insert("unit", ["name": "u2"]))
            await expectError(.constraintViolation) { try await context.save() }
        case .valueAfterAMendedSave:
            let new = try context.insert("unit", ["name": "u2"])
            objects.append(new)
            await expectError(.constraintViolation) { try await context.save() }
            new["name"] = "new"
            try await context.save()
            item["name"] = "other"
        case .failedTransaction:
            let new = try context.insert("unit", ["name": "new"])
            objects.append(new)
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await context.save()
                    item["name"] = "other"
                    throw Undone()
                }
            }
            #expect(new.isInserted)
        case .problem: item["code"] = "no number"
        case .cancelledTask:
            let task = Task {
                item["name"] = "other"
                try await Task.sleep(for: .seconds(60))
                try await context.save()
            }
            task.cancel()
            _ = await task.result
        }
        return Remains(context: context, objects: objects.map { WeakObject(object: $0) })
    }

    @Test(arguments: Pattern.allCases)
    func aRequestThatEndsWithoutASaveLeavesNothing(pattern: Pattern) async throws {
        try await withLog { database, log in
            let remains = try await request(pattern, database)
            #expect(remains.isGone)
            // A save that was refused has said so.
            #expect(losses(log) == (pattern == .failedSave ? 0 : 1))
        }
    }

    @Test func manyRequestsWithoutASaveAreLoggedAFewTimes() async throws {
        try await withLog { database, log in
            for _ in 0..<100 { _ = try await request(.value, database) }
            #expect(losses(log) == 10)
        }
    }

    @Test func aContextWithoutChangesIsReleasedWithoutAWarning() async throws {
        try await withLog { database, log in
            var remains = Remains()
            do {
                let context = database.makeContext()
                let item = try #require(await context.find("item", 1))
                item["name"] = "other"
                let new = try context.insert("unit", ["name": "new"])
                try await item.setValue(new, forKey: "unit")
                try await context.save()
                item["name"] = "taken back"
                try context.insert("tag", ["name": "given up"])
                context.rollback()
                remains = Remains(context: context, objects: [WeakObject(object: item), WeakObject(object: new)])
            }
            #expect(remains.isGone)
            #expect(losses(log) == 0)
        }
    }

    @Test func whatTheProgramHoldsKeepsWhatIsStagedOnIt() async throws {
        try await withLog { database, log in
            let item = try #require(await database.makeContext().find("item", 6))
            item["name"] = "other"
            #expect(item.hasChanges && item["name"] == "other")
            // A new object, a link to it, and a pair with it.
            let (unit, tag) = (
                try item.context.insert("unit", ["name": "new"]), try item.context.insert("tag", ["name": "new"])
            )
            try await item.setValue(unit, forKey: "unit")
            try await item.set(forKey: "tags").insert(tag)
            #expect(item.context.hasChanges)
            try await item.context.save()
            #expect(item["name"] == "other" && unit["id"] != nil && item["unit_id"] == unit["id"])
            let pairs = try await database.client.query(
                "SELECT 1 FROM item_tag WHERE item_id = 6 AND tag_id = \(tag["id"])")
            #expect(pairs.count == 1)
            #expect(try await item.set(forKey: "tags").objects == [tag])
            #expect(losses(log) == 0)
        }
    }

    /// A pair and a link are held weakly then; a call on one of their ends must know them all the same.
    @Test func whatIsStagedWithoutAContextIsShownAndTakenBack() async throws {
        try await withLog { database, log in
            let item = try #require(await database.makeContext().find("item", 6))
            let (unit, tag) = (
                try item.context.insert("unit", ["name": "new"]), try item.context.insert("tag", ["name": "new"])
            )
            _ = try await item.set(forKey: "tags").objects
            try await item.setValue(unit, forKey: "unit")
            try await item.set(forKey: "tags").insert(tag)
            #expect(try await item.set(forKey: "tags").loaded.contains(tag))
            item.rollback()
            #expect(try await !item.set(forKey: "tags").loaded.contains(tag))
            try await item.setValue(unit, forKey: "unit")
            // Discards the object that the link leads to.
            unit.rollback()
            try await item.context.save()
            let stored = try await database.client.query(
                """
                SELECT (SELECT count(*) FROM item_tag WHERE item_id = 6 AND tag_id = \(tag["id"])),
                    (SELECT count(*) FROM unit WHERE name = 'new'), (SELECT count(*) FROM tag WHERE name = 'new')
                """)
            #expect(try stored[0][0] == 0 && stored[0][1] == 0 && stored[0][2] == 1)
        }
    }

    /// Staging one value must not stage all others again and release them.
    @Test func valuesThatAreStagedWithoutAContextAreSavedTogether() async throws {
        try await withLog { database, log in
            let items = try await database.makeContext().fetch("item").sorted("id").all()
            for item in items { item["name"] = "first" }
            for item in items { item["name"] = .string("name \(item["id"], default: "")") }
            items[0]["name"] = nil
            items[1].rollback()
            // A foreign key, and a link that a foreign key replaces.
            items[2]["unit_id"] = 2
            try await items[3].setValue(try items[3].context.insert("unit", ["name": "gone"]), forKey: "unit")
            items[3]["unit_id"] = 2
            #expect(items[0].context.hasChanges)
            let (_, recorder) = try await recordingStatements { try await items[0].context.save() }
            #expect(recorder.statements.count { $0.hasPrefix("UPDATE") } <= 2)
            for item in items.dropFirst(2) {
                let id = try #require(item["id"])
                #expect(item["name"] == .string("name \(id)"))
                let stored = try await database.client.query(
                    "SELECT 1 FROM item WHERE id = \(id) AND name = \(item["name"]) AND NOT unit_id IS DISTINCT FROM \(item["unit_id"])"
                )
                #expect(stored.count == 1)
            }
            #expect(items[2]["unit_id"] == 2 && items[3]["unit_id"] == 2)
        }
    }

    /// The transaction's journal asks the object for its context, which has to be made then.
    @Test func aValueThatIsStagedWithoutAContextInATransactionIsPutBack() async throws {
        try await withLog { database, _ in
            let item = try #require(await database.makeContext().find("item", 1))
            let other = database.makeContext()
            await #expect(throws: Undone.self) {
                try await other.transaction {
                    item["name"] = "staged"
                    #expect(item["name"] == "staged")
                    throw Undone()
                }
            }
            #expect(item["name"] != "staged")
        }
    }

    @Test func aLinkToANewObjectThatWasGivenUpIsGone() async throws {
        try await withLog { database, log in
            let item = try #require(await database.makeContext().find("item", 1))
            try await item.setValue(try item.context.insert("unit", ["name": "new"]), forKey: "unit")
            let context = item.context
            #expect(item["unit_id"] == .integer(1) && !context.hasChanges)
            #expect(losses(log) == 1)
            try await context.save()
            #expect(try await item.object(forKey: "unit")?["name"] == "u1")
        }
    }

    @Test func objectsOfOneContextGoOnToBelongTogether() async throws {
        try await withLog { database, log in
            func read() async throws -> [DatabaseObject] {
                let context = database.makeContext()
                return [
                    try #require(await context.find("unit", 1)), try #require(await context.find("item", 1)),
                    try #require(await context.find("item", 5)),
                ]
            }
            let objects = try await read()
            try await objects[0].set(forKey: "items").insert(objects[2])
            #expect(try await objects[2].object(forKey: "unit") === objects[0])
            #expect(try await objects[0].set(forKey: "items").contains(objects[1]))
            #expect(try await objects[0].context.find("item", 5) === objects[2])
            await expectError(.foreignContext) {
                try await objects[0].set(forKey: "items").insert(
                    try #require(await database.makeContext().find("item", 3)))
            }
            #expect(losses(log) == 0)
        }
    }
}
