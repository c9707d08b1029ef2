import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random writes of objects that filters show and hide, against a plain model; database, memory and model agree.
@Suite struct RandomFilterTests {
    @Test(.database(.empty, timeLimit: .seconds(1_800)), arguments: UInt64(1)...TestAmount.of(3, full: 12, long: 200))
    func databaseMemoryAndModelAgree(_ seed: UInt64) async throws {
        try await withDatabase { database, _, other in
            try await other.runScript(FilterModel.schema)
            try await database.refreshSchema()
            var random = SeededGenerator(seed: seed)
            var model = FilterModel()
            var context = database.makeContext()
            // Some objects are held, so that sets have members with objects and without.
            var held: [DatabaseObject] = []
            for step in 0..<80 {
                if random.once(in: 15) {
                    (context, held) = (database.makeContext(), [])
                }
                if random.chance(30) { held = Array(held.shuffled(using: &random).prefix(3)) }
                let action = FilterAction(model, &random)
                let place = "seed \(seed), step \(step): \(action)"
                if random.chance(60) { held += try await load(context, &random) }
                var next = model
                next.apply(action, at: step + 1)
                if random.once(in: 8) {
                    await fail(context) { try await action.run(context) }
                } else {
                    try await action.run(context)
                    model = next
                }
                let stored = try await FilterModel(other, marks: model)
                try #require(stored == model, "\(place): \(stored), not \(model)")
                for context in [context, database.makeContext()] {
                    let problem = try await model.difference(from: context)
                    try #require(problem == nil, "\(problem ?? "") after \(place)")
                }
            }
        }
    }

    /// Reads some sets, and returns some objects.
    private func load(_ context: DatabaseContext, _ random: inout SeededGenerator) async throws -> [DatabaseObject] {
        let (entity, key) = random.pick([("project", "taskSet"), ("task", "labelSet"), ("label", "taskSet")])
        let objects = try await context.fetch(entity).unfiltered().all()
        for object in objects where random.chance(50) { _ = try await object.set(forKey: key).objects }
        return objects.filter { _ in random.chance(50) }
    }
}

/// The writes.
enum FilterAction {
    case delete([Int], permanently: Bool)
    case deleteByCondition(below: Int)
    case deleteProject(Int)
    case restore([Int])
    case restoreProject(Int)
    case mark(Int, Bool)
    case archive(Int, Bool)
    case move([Int], to: Int)
    case leave([Int], from: Int)
    case setTasks([Int], of: Int)
    case clear(Int)
    case setLabels([Int], of: Int)
    case addLabels([Int], to: Int)
    case removeLabels([Int], from: Int)
    case clearLabels(of: Int)
    case clearTasks(ofLabel: Int)
    case moveByCondition(from: Int, to: Int)
    case create(Int, in: Int)

    init(_ model: FilterModel, _ random: inout SeededGenerator) {
        let tasks = model.tasks.keys.sorted()
        let shown = tasks.filter { model.tasks[$0]?.mark == nil }
        let few = random.some(tasks.isEmpty ? [0] : tasks, atMost: 3)
        let task = few[0]
        let project = random.pick(Array(1...FilterModel.count))
        let label = random.pick(Array(1...FilterModel.count))
        let labels = random.some(Array(1...FilterModel.count), atMost: 2)
        if tasks.count < 3 {
            self = .create((tasks.last ?? 0) + 1, in: project)
            return
        }
        self =
            switch Int.random(in: 0..<20, using: &random) {
            case 0: .delete(few, permanently: random.once(in: 4))
            case 1: .deleteByCondition(below: random.pick(tasks))
            case 2: .deleteProject(project)
            case 3: .restore(few)
            case 4: .restoreProject(project)
            case 5: .mark(task, random.chance(50))
            case 6: .archive(label, random.chance(50))
            case 7: .move(few, to: project)
            case 8: .leave(few, from: project)
            case 9: .setTasks(few, of: project)
            case 10: .clear(project)
            case 11: .setLabels(labels, of: task)
            case 12: .addLabels(labels, to: task)
            case 13: .removeLabels(labels, from: task)
            case 14: .clearLabels(of: task)
            case 15: .clearTasks(ofLabel: label)
            case 16: .moveByCondition(from: project, to: random.pick(Array(1...FilterModel.count)))
            case 17: .delete(random.some(shown.isEmpty ? tasks : shown, atMost: 2), permanently: false)
            default: .create((tasks.last ?? 0) + 1, in: project)
            }
    }

    /// Does it.
    func run(_ context: DatabaseContext) async throws {
        func task(_ id: Int) async throws -> DatabaseObject { try await context.any("task", id) }
        func tasks(_ ids: [Int]) async throws -> [DatabaseObject] {
            try await context.fetch("task").unfiltered().where("id IN %@", ids).all()
        }
        func labels(_ ids: [Int]) async throws -> [DatabaseObject] {
            try await context.fetch("label").unfiltered().where("id IN %@", ids).all()
        }
        func set(_ project: Int) async throws -> ToMany<DatabaseObject> {
            try await context.any("project", project).set(forKey: "taskSet")
        }
        func labels(of id: Int) async throws -> ToMany<DatabaseObject> {
            try await task(id).set(forKey: "labelSet")
        }
        switch self {
        case .delete(let ids, let permanently): try await context.delete(try await tasks(ids), permanently: permanently)
        case .deleteByCondition(let id): try await context.fetch("task").where("id < %@", id).delete()
        case .deleteProject(let id): try await context.delete(try await context.any("project", id))
        case .restore(let ids): try await context.restore(try await tasks(ids))
        case .restoreProject(let id): try await context.restore(try await context.any("project", id))
        case .mark(let id, true): try await context.delete(try await task(id))
        case .mark(let id, false):
            let task = try await task(id)
            task["deleted_at"] = nil
            try await context.save()
        case .archive(let id, let isArchived):
            try await context.any("label", id).setValue(isArchived, forKey: "archived")
        case .move(let ids, let project): try await set(project).formUnion(try await tasks(ids))
        case .leave(let ids, let project): try await set(project).subtract(try await tasks(ids))
        case .setTasks(let ids, let project): try await set(project).set(try await tasks(ids))
        case .clear(let project): try await set(project).removeAll()
        case .setLabels(let ids, let id): try await labels(of: id).set(try await labels(ids))
        case .addLabels(let ids, let id): try await labels(of: id).formUnion(try await labels(ids))
        case .removeLabels(let ids, let id): try await labels(of: id).subtract(try await labels(ids))
        case .clearLabels(let id): try await labels(of: id).removeAll()
        case .clearTasks(let id): try await context.any("label", id).set(forKey: "taskSet").removeAll()
        case .moveByCondition(let from, let to):
            try await context.fetch("task").where("project_id = %@", from).update(["project_id": to])
        case .create(let id, let project):
            try context.add("task", ["id": id, "project": try await context.any("project", project)])
            try await context.save()
        }
    }
}
