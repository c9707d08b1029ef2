import Kindred
import KindredLive
import KindredTesting
import TestSupport
import Testing

/// Random changes beside parts with filters and left-out columns: what sets give is what SQL says, at the cost of one statement
/// for each part, and every value in memory is the row's.
@Suite struct CombinedModelTests {
    /// How the context learns of another connection's writes.
    enum Mode: CaseIterable { case refreshing, following }

    @Test(
        .database(.sql(combinedSchema), timeLimit: .seconds(900)),
        arguments: Mode.allCases, UInt64(1)...TestAmount.of(4, full: 16, long: 200))
    func memoryIsWhatTheDatabaseSays(mode: Mode, seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            if mode == .following {
                try await database.tracking.install()
                try await database.tracking.enable(["project", "task", "label", "task_label"])
            }
            let context = mode == .following ? database.makeContext(tracking: .automatic) : context
            var world = CombinedWorld(context, other, isFollowing: mode == .following, seed: seed)
            try await world.begin()
            for step in 0..<(mode == .following ? 15 : 50) {
                let action = try await world.step()
                let problem = try await world.problem()
                #expect(problem == nil, "\(mode), seed \(seed), step \(step), \(action): \(problem ?? "")")
                if problem != nil { return }
            }
        }
    }
}

/// The objects that the program holds, and the actions on them.
private struct CombinedWorld {
    private struct Undone: Error {}
    private typealias Values = [String: PostgresValue?]

    let context: DatabaseContext
    let other: PostgresClient
    let isFollowing: Bool
    private var random: SeededGenerator
    private var owners: [String: [DatabaseObject]] = [:]
    /// Tasks that the program holds.
    private var held: [DatabaseObject] = []
    private var number: Int64 = 100
    /// Whether objects may have to be read again before anything is asked of them.
    private var isUndone = false

    init(_ context: DatabaseContext, _ other: PostgresClient, isFollowing: Bool, seed: UInt64) {
        (self.context, self.other, self.isFollowing) = (context, other, isFollowing)
        random = SeededGenerator(seed: seed)
    }

    /// Loads the parts, with some columns of their members.
    mutating func begin() async throws {
        for owner in ["project", "label"] {
            var request = try context.fetch(owner).unfiltered().sorted("id")
            for each in CombinedCase.all where each.owner == owner {
                let columns = Int.random(in: 0..<4, using: &random)
                request = try request.prefetch("tasks") { part in
                    switch columns {
                    case 0: each.part(part)
                    case 1: each.part(part).omitting("body")
                    case 2: each.part(part.omitting("title", "position"))
                    default: each.part(part).only("title", "log")
                    }
                }
            }
            owners[owner] = try await request.all()
        }
        if random.once(in: 2) { held = try await context.fetch("task").unfiltered().omitting("title").all() }
        if random.once(in: 3) { held = try await context.fetch("task").sorted("id").limit(4).all() }
    }

    // MARK: Checks

    /// The difference from the database; a context that follows changes has some time.
    mutating func problem() async throws -> String? {
        guard isFollowing else { return try await difference() }
        var found: String?
        for _ in 0..<200 {
            found = try await difference()
            if found == nil { return nil }
            try await Task.sleep(for: .milliseconds(50))
        }
        return found
    }

    private mutating func difference() async throws -> String? {
        var rows: [PostgresValue: Values] = [:]
        for row in try await other.query(
            "SELECT id, title, body, log, cost, position, done, project_id, deleted_at FROM task")
        {
            var values: Values = [:]
            for column in ["title", "body", "log", "cost", "position", "done", "project_id", "deleted_at"] {
                values.updateValue(try row[column], forKey: column)
            }
            if let id = try row["id"] { rows[id] = values }
        }
        for each in CombinedCase.all.shuffled(using: &random) where random.chance(70) {
            let owners = owners[each.owner] ?? []
            var expected: [[PostgresValue?]] = []
            for owner in owners { expected.append(try await other.keys(each.sql, of: owner)) }
            let (found, recorder) = try await recordingStatements {
                var found: [[DatabaseObject]] = []
                for owner in owners {
                    found.append(try await each.asked(try await owner.set(forKey: "tasks").request()).all())
                }
                return found
            }
            if found.map(\.keys) != expected { return "\(each.sql) gives \(expected), and not \(found.map(\.keys))" }
            if !isFollowing, recorder.statements.count > (isUndone ? 2 : 1) { return "sent: \(recorder.statements)" }
            if let wrong = Self.wrongValue(found.flatMap(\.self), rows) { return wrong }
        }
        for owner in owners["project"] ?? [] where random.once(in: 3) {
            let shown = try await other.keys(
                "SELECT id FROM task WHERE project_id = %1 AND deleted_at IS NULL", of: owner)
            let all = try await other.keys("SELECT id FROM task WHERE project_id = %1", of: owner)
            let set = try await owner.set(forKey: "tasks")
            if random.once(in: 2), try await set.count != shown.count {
                return "\(owner) counts \(try await set.count)"
            }
            if try await Set(set.objects.keys) != Set(shown) { return "\(owner) has \(try await set.objects.keys)" }
            if try await set.unfiltered().count() != all.count { return "\(owner) counts otherwise without the filter" }
        }
        if let wrong = Self.wrongValue(held, rows) { return wrong }
        for task in held where random.once(in: 6) && !task.hasStagedChanges && !task.isDeleted {
            guard let row = task["id"].flatMap({ rows[$0] }) else { continue }
            for column in ["title", "body", "log"] where random.once(in: 2) {
                let value = try await task.loaded(column)
                if value != row[column] { return "\(task).\(column) loads \(String(describing: value))" }
            }
        }
        return nil
    }

    /// A value in memory that is not the row's.
    private static func wrongValue(_ tasks: [DatabaseObject], _ rows: [PostgresValue: Values]) -> String? {
        for task in tasks where !task.hasStagedChanges && !task.isDeleted {
            guard let row = task["id"].flatMap({ rows[$0] }) else { continue }
            for (key, value) in task.dictionary where row[key] != nil && row[key] != value {
                return "\(task).\(key) is \(String(describing: value)), and not \(String(describing: row[key]))"
            }
        }
        return nil
    }

    // MARK: Steps

    /// Does something at random; returns what.
    mutating func step() async throws -> String {
        isUndone = false
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            held = []
            try await begin()
            return "load the parts anew"
        case 1: return try await changeByOthers()
        case 2:
            for task in held where random.once(in: 3) && !task.isDeleted { try stage(task) }
            return "stage"
        case 3:
            for owner in (owners["project"] ?? []) + (owners["label"] ?? []) where random.once(in: 3) {
                try await owner.refresh()
            }
            return "refresh"
        case 4:
            isUndone = true
            var action = ""
            do {
                try await context.transaction {
                    action = try await change()
                    throw Undone()
                }
            } catch is Undone {}
            return "undo \(action)"
        default: return try await change()
        }
    }

    private mutating func stage(_ task: DatabaseObject) throws {
        number += 1
        switch Int.random(in: 0..<4, using: &random) {
        case 0: task["done"] = .bool(random.once(in: 2))
        case 1: task["position"] = .integer(Int64.random(in: 0..<100, using: &random))
        case 2: task["log"] = .string(random.pick(["a", "b"]))
        default: task["body"] = .string("body \(number)")
        }
    }

    /// Changes that the context is told of, or has to read: each shows in the title.
    private mutating func changeByOthers() async throws -> String {
        context.rollback()
        number += 1
        let change = random.pick([
            "UPDATE task SET title = 'o\(number)', deleted_at = now() WHERE id % 5 = \(number % 5) AND deleted_at IS NULL",
            "UPDATE task SET title = 'o\(number)', deleted_at = NULL WHERE id % 3 = \(number % 3)",
            "UPDATE task SET title = 'o\(number)', log = 'a', done = NOT done, position = id % 7 WHERE id % 4 = \(number % 4)",
            "UPDATE task SET title = 'o\(number)', body = 'o', project_id = id % 3 + 1 WHERE id % 4 = \(number % 4)",
            "INSERT INTO task (id, title, log, position, project_id) VALUES (\(number), 'o', 'a', 3, \(number % 3 + 1))",
            "UPDATE label SET archived = NOT archived WHERE id = \(number % 3 + 1)",
            "INSERT INTO task_label SELECT id, \(number % 3 + 1) FROM task WHERE id % 3 = 0 ON CONFLICT DO NOTHING",
            "DELETE FROM task_label WHERE task_id % 4 = \(number % 4)",
        ])
        try await other.query(SQL(unsafeRaw: change))
        if isFollowing { return change }
        for owner in (owners["project"] ?? []) + (owners["label"] ?? []) { try await owner.refresh() }
        _ = try await context.fetch("task").unfiltered().all()
        return change
    }

    /// One change by any of the ways to write.
    private mutating func change() async throws -> String {
        number += 1
        let ids = try await context.query("SELECT id FROM task ORDER BY id").compactMap {
            try $0.decode(0, as: Int.self)
        }
        guard let project = owners["project"].map({ random.pick($0) }),
            let label = owners["label"].map({ random.pick($0) }),
            !ids.isEmpty
        else { return "nothing" }
        let (id, position) = (random.pick(ids), Int.random(in: 0..<100, using: &random))
        let task = try await context.fetch("task").unfiltered().where("id == %@", id).one()
        let action = Int.random(in: 0..<14, using: &random)
        switch action {
        case 0: try await context.delete(task)
        case 1: try await context.restore(task)
        case 2: try await context.delete(task, permanently: true)
        case 3: _ = try await context.fetch("task").where("position < %@", position / 3).delete()
        case 4:
            let request = try context.fetch("task").where("position >= %@", position)
            try await (random.once(in: 2) ? request : request.unfiltered()).update([
                "done": random.once(in: 2), "log": random.pick(["a", "b"]),
            ])
        case 5: try await context.fetch("task").unfiltered().where("id <= %@", id).update(["deleted_at": nil])
        case 6:
            try stage(task)
            try await context.save()
        case 7: try await task.setValue(random.pick(["a", "b"]), forKey: "log")
        case 8: try await task.setValue(random.once(in: 4) ? nil : project, forKey: "project")
        case 9:
            try await context.create(
                "task",
                [
                    "id": number, "title": "new", "log": "a", "position": position, "project": project,
                    "done": random.once(in: 3),
                ])
        case 10: try await context.delete(project)
        case 11: try await context.restore(project)
        case 12:
            try await label.setValue(random.once(in: 2), forKey: "archived")
        default:
            let labels = try await task.set(forKey: "labels")
            if random.once(in: 2) { try await labels.insert(label) } else { try await labels.remove(label) }
        }
        return "change \(action) of \(task), \(project), \(label)"
    }
}
