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
        case .newObject: objects.append(try context.add("unit", ["name": "new"]))
        case .value: item["name"] = "other"
        case .newObjectsInACircle:
            let (first, second) = (try context.add("unit", ["name": "a"]), try context.add("unit", ["name": "b"]))
            try await first.setValue(second, forKey: "parent")
            try await second.setValue(first, forKey: "parent")
            objects += [first, second]
        case .newMember:
            let new = try context.add("item", ["name": "new"])
            try await unit.set(forKey: "items").insert(new)
            #expect(try await unit.set(forKey: "items").contains(new))
            objects.append(new)
        case .newPair:
            let new = try context.add("tag", ["name": "new"])
            try await item.set(forKey: "tags").insert(new)
            #expect(try await item.set(forKey: "tags").contains(new))
            objects.append(new)
        case .deletion: try context.stageDeletion(of: item)
        case .failedSave:
            objects.append(try context.add("unit", ["name": "u2"]))
            await expectError(.constraintViolation) { try await context.save() }
        case .valueAfterAMendedSave:
            let new = try context.add("unit", ["name": "u2"])
            objects.append(new)
            await expectError(.constraintViolation) { try await context.save() }
            new["name"] = "new"
            try await context.save()
            item["name"] = "other"
        case .failedTransaction:
            let new = try context.add("unit", ["name": "new"])
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
                let new = try context.add("unit", ["name": "new"])
                try await item.setValue(new, forKey: "unit")
                try await context.save()
                item["name"] = "taken back"
                try context.add("tag", ["name": "given up"])
                context.rollback()
                remains = Remains(context: context, objects: [WeakObject(object: item), WeakObject(object: new)])
            }
            #expect(remains.isGone)
            #expect(losses(log) == 0)
        }
    }

    /// The objects are held beyond the context; their values are compared with another connection's.
    @Test func whatIsStagedGoesWithTheContextFromObjectsThatAreHeld() async throws {
        try await withLog { database, log in
            func stage() async throws -> (unit: DatabaseObject, items: [DatabaseObject], new: [DatabaseObject]) {
                let context = database.makeContext()
                let unit = try #require(await context.find("unit", 1))
                let items = try await context.fetch("item").sorted("id").prefetch("unit", "tags").all()
                _ = try await unit.set(forKey: "items").objects
                let new = [
                    try context.add("unit", ["name": "new"]), try context.add("tag", ["name": "new"]),
                    try context.add("item", ["name": "new"]),
                ]
                items[0]["name"] = "other"
                items[1]["code"] = "no number"
                try await items[2].setValue(new[0], forKey: "unit")
                try await items[3].set(forKey: "tags").insert(new[1])
                try await unit.set(forKey: "items").insert(new[2])
                items[4]["unit_id"] = 1
                try context.stageDeletion(of: items[5])
                #expect(try await unit.set(forKey: "items").loaded.contains(new[2]))
                #expect(items[4]["unit_id"] == 1 && context.hasStagedChanges)
                return (unit, items, new)
            }
            let (unit, items, new) = try await stage()
            #expect(losses(log) == 1)
            let context = unit.context
            #expect(!context.hasStagedChanges && items.allSatisfy { !$0.hasStagedChanges })
            for object in new {
                #expect(object.isDeleted && !object.isInserted)
                await expectError(.objectDiscarded) { try await object.setValue("x", forKey: "name") }
            }
            for item in items {
                let id = try #require(item["id"])
                let stored = try await database.client.query("SELECT name, unit_id FROM item WHERE id = \(id)")
                #expect(try item["name"] == stored[0][0] && item["unit_id"] == stored[0][1])
                let owner = try await item.object(forKey: "unit")
                #expect(owner?["id"] == item["unit_id"])
                let tags = try await database.client.query(
                    "SELECT tag_id FROM item_tag WHERE item_id = \(id) ORDER BY 1")
                let shown = try await item.set(forKey: "tags").objects.compactMap { $0["id"] }
                #expect(Set(shown) == Set(try tags.compactMap { try $0[0] }))
            }
            let members = try await database.client.query("SELECT id FROM item WHERE unit_id = 1")
            let shown = try await unit.set(forKey: "items").objects.compactMap { $0["id"] }
            #expect(Set(shown) == Set(try members.compactMap { try $0[0] }))
            // With a context that is held the objects can be changed again.
            items[0]["name"] = "again"
            try await context.save()
            let stored = try await database.client.query("SELECT name FROM item WHERE id = \(items[0]["id"])")
            #expect(try stored[0][0] == "again" && losses(log) == 0)
        }
    }

    /// An error of a call that cannot throw is logged with its place, and the next save reports it; other calls throw.
    @Test func nothingIsStagedWithoutAContext() async throws {
        try await withLog { database, log in
            let item = try #require(await database.makeContext().find("item", 6))
            let name = item["name"]
            item["name"] = "other"
            let line = #line - 1
            item["unit_id"] = 2
            #expect(item["name"] == name && !item.hasStagedChanges)
            let logged = log.take(.error)
            #expect(logged.count == 2)
            #expect(logged.allSatisfy { $0.message.contains("hold the context") })
            #expect(logged.first?.metadata["place"] == "\(#fileID):\(line)")
            let error = await expectError(.validationFailed) { try await item.save() }
            #expect(error?.problems.map(\.code) == [.contextReleased, .contextReleased])
            try await item.save()
            item["name"] = "other"
            await expectError(.contextReleased) { try await item.context.save() }
            let patch = try ObjectPatch(json: #"{"name": "other"}"#.utf8)
            await expectError(.contextReleased) { try item.apply(patch) }
            // A new object goes with the context that has made it, and so with the statement.
            let unit = try item.context.add("unit", ["name": "new"])
            #expect(unit.isDeleted && losses(log) == 1)
            await expectError(.objectDiscarded) { try await item.setValue(unit, forKey: "unit") }
            #expect(!item.context.hasStagedChanges)
            // Reading, and writing at once, goes on.
            try await item.setValue("written", forKey: "name")
            let stored = try await database.client.query("SELECT name FROM item WHERE id = 6")
            #expect(try stored[0][0] == "written" && item["name"] == "written")
            #expect(losses(log) == 0)
        }
    }

    @Test func anObjectThatStagesNothingWithoutAContextLeavesNothing() async throws {
        try await withLog { database, log in
            var remains = Remains()
            do {
                let item = try #require(await database.makeContext().find("item", 6))
                item["name"] = "other"
                item["code"] = "no number"
                item["nothing"] = 1
                remains.objects = [WeakObject(object: item)]
            }
            #expect(remains.isGone && losses(log) == 0)
        }
    }

    @Test func aContextFromAnObjectStagesWhileItIsHeld() async throws {
        try await withLog { database, log in
            let items = try await database.makeContext().fetch("item").sorted("id").all()
            let context = items[0].context
            for item in items { item["name"] = .string("name \(item["id"], default: "")") }
            #expect(items[0].context === context && context.hasStagedChanges)
            let (_, recorder) = try await recordingStatements { try await context.save() }
            #expect(recorder.statements.count { $0.hasPrefix("UPDATE") } == 1)
            let stored = try await database.client.query("SELECT id FROM item WHERE name = 'name ' || id")
            #expect(stored.count == items.count && losses(log) == 0)
        }
    }

    /// The journal has states with staged changes, which no context could save any more.
    @Test func aTransactionThatIsRolledBackBringsNothingBackWithoutItsContext() async throws {
        try await withLog { database, log in
            var remains = Remains()
            do {
                let items = try await database.makeContext().fetch("item").where("id < 3").sorted("id").all()
                let other = database.makeContext()
                await #expect(throws: Undone.self) {
                    try await other.transaction {
                        try await items[0].setValue("written", forKey: "name")
                        do {
                            let context = items[1].context
                            // Outside of the transaction, so that its journal has the object with the staged changes.
                            await Task.detached { items[1]["code"] = 7 }.value
                            items[1]["name"] = "staged"
                            #expect(context.hasStagedChanges)
                        }
                        throw Undone()
                    }
                }
                for item in items {
                    let stored = try await database.client.query("SELECT name, code FROM item WHERE id = \(item["id"])")
                    #expect(try item["name"] == stored[0][0] && item["code"] == stored[0][1] && !item.hasStagedChanges)
                }
                remains.objects = items.map { WeakObject(object: $0) }
            }
            #expect(remains.isGone && losses(log) > 0)
        }
    }

    @Test func aLinkToANewObjectThatWasGivenUpIsGone() async throws {
        try await withLog { database, log in
            let item = try #require(await database.makeContext().find("item", 1))
            let context = item.context
            let unit = try context.add("unit", ["name": "new"])
            try await item.setValue(unit, forKey: "unit")
            unit.rollback()
            #expect(item["unit_id"] == .integer(1) && !context.hasStagedChanges)
            #expect(try await item.object(forKey: "unit")?["name"] == "u1")
            #expect(losses(log) == 0)
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
