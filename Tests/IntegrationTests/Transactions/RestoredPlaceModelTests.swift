import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random work in transactions and savepoints that fail or succeed, with keys that change hands, orders, staged changes
/// and SQL that memory does not follow: afterwards objects, sets, orders and counts are what SQL says.
@Suite struct RestoredPlaceModelTests {
    private struct Failure: Error {}

    private static let schema = """
        CREATE TABLE list (id integer PRIMARY KEY, name text);
        CREATE TABLE item (id integer PRIMARY KEY DEFERRABLE, name text, code integer UNIQUE DEFERRABLE,
            list_id integer CONSTRAINT item_list REFERENCES list ON DELETE SET NULL, position integer);
        COMMENT ON CONSTRAINT item_list ON item IS '@kindred {"inverse": "items", "orderedBy": "position"}';
        CREATE TABLE tag (id integer PRIMARY KEY, name text);
        CREATE TABLE list_tag (list_id integer CONSTRAINT tags REFERENCES list ON DELETE CASCADE,
            tag_id integer CONSTRAINT lists REFERENCES tag ON DELETE CASCADE, PRIMARY KEY (list_id, tag_id));
        INSERT INTO list SELECT i, 'list ' || i FROM generate_series(1, 3) AS i;
        INSERT INTO item SELECT i, 'item ' || i, i, 1 + i % 3, i FROM generate_series(1, 9) AS i;
        INSERT INTO tag SELECT i, 'tag ' || i FROM generate_series(1, 4) AS i;
        INSERT INTO list_tag SELECT 1 + i % 3, i FROM generate_series(1, 4) AS i;
        """

    @Test(.database(.sql(schema)), arguments: UInt64(1)...(LongTests.areOn ? 600 : 40))
    func everythingIsInItsPlace(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            let run = Run(context: context, other: other, random: SeededGenerator(seed: seed))
            for step in 0..<12 {
                await run.scope(depth: 0)
                context.rollback()
                if let difference = try await run.difference() {
                    let steps = run.log.joined(separator: "\n")
                    Issue.record("seed \(seed), step \(step): \(difference)\n\(steps)")
                    return
                }
            }
        }
    }

    /// The objects that the program holds, and its actions on them.
    private final class Run {
        let context: DatabaseContext
        let other: PostgresClient
        var random: SeededGenerator
        var held: Set<DatabaseObject> = []
        var log: [String] = []
        /// Only a scope that fails may write what memory does not follow.
        private var fails = false
        private var nextID = 20

        init(context: DatabaseContext, other: PostgresClient, random: SeededGenerator) {
            (self.context, self.other, self.random) = (context, other, random)
        }

        /// Some steps in a transaction, or at the outermost level also without one.
        func scope(depth: Int) async {
            let wereFailing = fails
            defer { fails = wereFailing }
            let isPlain = depth == 0 && random.chance(25)
            if !isPlain { fails = fails || random.chance(60) }
            let isFailing = !isPlain && fails
            let count = Int.random(in: 1...5, using: &random)
            note("\(isPlain ? "plain" : isFailing ? "failing" : "kept") scope")
            do {
                if isPlain {
                    for _ in 0..<count { try await step(depth: depth) }
                } else {
                    try await context.transaction {
                        for _ in 0..<count { try await step(depth: depth) }
                        if isFailing { throw Failure() }
                    }
                }
            } catch {
                note("failed: \(error is Failure ? "on purpose" : "\(error)")")
            }
        }

        private func note(_ text: String) { log.append(text) }

        private func fetched(_ entity: String) async throws -> [DatabaseObject] {
            let objects = try await context.fetch(entity).sorted("id").all()
            if random.chance(60) { held.formUnion(objects) }
            return objects
        }

        private func list() async throws -> DatabaseObject? {
            let lists = try await fetched("list")
            return lists.isEmpty ? nil : random.pick(lists)
        }

        private func step(depth: Int) async throws {
            let kind = Int.random(in: 0..<15, using: &random)
            switch kind {
            case 0 where depth < 3, 1 where depth < 3:
                await scope(depth: depth + 1)
            case 2, 3:
                try await moveKeys()
            case 4:
                try await appendMembers()
            case 5:
                guard let list = try await list() else { return }
                let items = try await list.set(forKey: "items").objects
                guard !items.isEmpty else { return }
                let (from, to) = (
                    Int.random(in: items.indices, using: &random), Int.random(in: items.indices, using: &random)
                )
                note("move \(from) to \(to) in list \(list["id"] ?? 0)")
                try await list.set(forKey: "items").move(from: from, to: to)
            case 6:
                try await delete()
            case 7:
                let id = try await freeID()
                note("create \(id)")
                let list = try await list()
                held.insert(
                    try await context.create(
                        "item", ["id": id, "name": "new", "list_id": list.flatMap { $0["id"] }, "position": id]))
            case 8:
                let id = try await freeID()
                note("stage \(id)")
                let new = try context.add("item", ["id": id, "name": "staged"])
                held.insert(new)
                if let list = try await list() { try await list.set(forKey: "items").append(new) }
            case 9:
                let name = "named \(nextID)"
                note("update request")
                _ = try await context.fetch("item").where("id < %@", Int.random(in: 1...9, using: &random)).update([
                    "name": name
                ])
            case 10:
                guard fails else { return }
                note("raw")
                try await context.query(
                    random.pick([
                        "UPDATE item SET name = 'raw', list_id = 1", "DELETE FROM item WHERE id < 4",
                        "UPDATE item SET position = -position",
                        "INSERT INTO item (id, name, list_id) VALUES (999, 'raw', 2)",
                        "UPDATE list SET name = 'raw'", "DELETE FROM list_tag",
                    ]))
            case 11:
                guard let list = try await list() else { return }
                let tags = try await fetched("tag")
                guard !tags.isEmpty else { return }
                let set = try await list.set(forKey: "tags")
                let isJoining = random.chance(50)
                let tag = random.pick(tags)
                note("\(isJoining ? "join" : "leave") tag \(tag["id"] ?? 0), list \(list["id"] ?? 0)")
                if isJoining { try await set.insert(tag) } else { try await set.remove(tag) }
            case 12:
                note("save")
                try await context.save()
            case 13:
                note("rollback")
                context.rollback()
            default:
                note("read")
                for list in try await fetched("list") {
                    _ = try await list.set(forKey: "items").objects
                    _ = try await list.set(forKey: "tags").count
                }
            }
        }

        /// A key of a new row: a free key, or a key that a row had before.
        private func freeID() async throws -> Int {
            let taken = Set(try await context.fetch("item").all().compactMap { $0["id"] })
            let former = (1...9).filter { !taken.contains(.integer(Int64($0))) }
            if !former.isEmpty, random.chance(70) { return random.pick(former) }
            nextID += 1
            return nextID
        }

        /// Gives items each other's keys and codes; sometimes a key that is taken.
        private func moveKeys() async throws {
            let items = try await fetched("item")
            guard items.count > 2 else { return }
            let chosen = random.some(items, atMost: 4)
            let isRefused = random.chance(30)
            let column = random.chance(70) ? "id" : "code"
            let values = chosen.map { $0[column] }
            note("turn \(column) of \(values.map { "\($0 ?? 0)" })\(isRefused ? ", refused" : "")")
            if isRefused {
                chosen[0][column] = items.first { $0 !== chosen[0] }?[column]
            } else {
                for (place, object) in chosen.enumerated() { object[column] = values[(place + 1) % values.count] }
            }
            if random.chance(30) { random.pick(items)["name"] = "beside" }
            // Else the outermost rollback takes it back.
            guard random.chance(80) else { return }
            do { try await context.save() } catch { note("refused") }
        }

        private func appendMembers() async throws {
            guard let list = try await list() else { return }
            let items = try await fetched("item")
            guard !items.isEmpty else { return }
            let set = try await list.set(forKey: "items")
            let chosen = random.some(items, atMost: 3)
            note("append \(chosen.map { "\($0["id"] ?? 0)" }) to list \(list["id"] ?? 0)")
            if random.chance(30) { _ = try await set.objects }
            if random.chance(30) {
                random.pick(items)["list_id"] = nil
                note("stage leaving")
            }
            if random.chance(70) { try await set.append(contentsOf: chosen) } else { try await set.remove(chosen[0]) }
        }

        private func delete() async throws {
            let entity = random.pick(["item", "item", "item", "list", "tag"])
            let objects = try await fetched(entity)
            guard objects.count > 1 else { return }
            let object = random.pick(objects)
            let kind = Int.random(in: 0..<3, using: &random)
            note("delete \(entity) \(object["id"] ?? 0), kind \(kind)")
            switch kind {
            case 0: try await context.delete(object)
            case 1: _ = try await context.fetch(entity).where("id = %@", object["id"] ?? 0).delete()
            default:
                try context.stageDeletion(of: object)
                try await context.save()
            }
        }

        /// How memory differs from the rows that another connection sees; nil if it does not.
        func difference() async throws -> String? {
            if context.hasStagedChanges { return "something is staged" }
            let beginsWithSets = random.chance(50)
            if beginsWithSets, let difference = try await sets() { return difference }
            if let difference = try await rows() { return difference }
            return try await sets()
        }

        private func rows() async throws -> String? {
            var found: Set<DatabaseObject> = []
            for (entity, columns) in [
                ("list", ["id", "name"]), ("item", ["id", "name", "code", "list_id", "position"]),
                ("tag", ["id", "name"]),
            ] {
                let list = columns.joined(separator: ", ")
                for row in try await other.query(SQL(unsafeRaw: "SELECT \(list) FROM \(entity) ORDER BY id")) {
                    let id = try row[0] ?? 0
                    guard let object = try await context.find(entity, id) else { return "\(entity) \(id) is not found" }
                    found.insert(object)
                    for (position, column) in columns.enumerated() {
                        let shown = try await object.value(forKey: column)?.attribute
                        let stored = try row[position]
                        if shown != stored {
                            return "\(entity) \(id).\(column) is \(shown ?? "nil"), not \(stored ?? "nil")"
                        }
                    }
                }
            }
            for object in held {
                _ = try await object.value(forKey: "name")
                if object.isInserted { return "\(object) is still new" }
                if object.isDeleted == found.contains(object) {
                    return
                        "\(object) \(object.isDeleted ? "says that it is deleted" : "has no row, or another object has it")"
                }
            }
            return nil
        }

        private func sets() async throws -> String? {
            for id in try await other.values("SELECT id FROM list ORDER BY id") {
                guard let id, let list = try await context.find("list", id) else { return "a list is not found" }
                let stored = [
                    "items": try await other.values("SELECT id FROM item WHERE list_id = \(id) ORDER BY position, id"),
                    "tags": try await other.values("SELECT tag_id FROM list_tag WHERE list_id = \(id) ORDER BY tag_id"),
                ]
                for (key, ids) in stored.sorted(by: { $0.key < $1.key }) {
                    let set = try await list.set(forKey: key)
                    let count = try await set.count
                    if count != ids.count { return "list \(id) counts \(count) \(key), not \(ids.count)" }
                    var shown = try await set.objects.map { $0["id"] }
                    if key == "tags" { shown.sort { "\($0 ?? 0)" < "\($1 ?? 0)" } }
                    if shown != ids { return "list \(id) shows the \(key) \(shown), not \(ids)" }
                    for member in try await set.objects where key == "items" {
                        if try await member.object(forKey: "list") !== list { return "\(member) is in another list" }
                    }
                }
            }
            return nil
        }
    }
}
