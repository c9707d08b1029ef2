import Kindred
import Synchronization
import TestSupport

/// One step of a task that shares a context with others; its objects are drawn from its own seed.
struct GraphTaskStep: Sendable {
    enum Kind: Sendable {
        case action(Action)
        /// A transaction, or a savepoint inside of one.
        case transaction([GraphTaskStep], fails: Bool)
    }

    enum Action: CaseIterable, Sendable {
        case stageName, writeName, stageKey, setToOne, setNoObject, replace, setNoMembers, join, leave, read, save,
            create
        case refresh, pause
    }

    let kind: Kind
    let seed: UInt64

    /// Whether the step saves staged changes, including other tasks'.
    var saves: Bool {
        switch kind {
        case .action(let action): action == .save
        case .transaction(let body, _): body.contains(where: \.saves)
        }
    }

    static func random(_ random: inout SeededGenerator, depth: Int = 0) -> GraphTaskStep {
        let seed = random.next()
        guard random.chance(depth == 0 ? 65 : 15), depth < 2 else {
            return GraphTaskStep(kind: .action(random.pick(Action.allCases)), seed: seed)
        }
        var body: [GraphTaskStep] = []
        for _ in 0...Int.random(in: 1..<5, using: &random) { body.append(.random(&random, depth: depth + 1)) }
        return GraphTaskStep(kind: .transaction(body, fails: random.chance(60)), seed: seed)
    }
}

/// A task at work on objects that other tasks work on at the same time.
///
/// One object is its own: no other task changes its name, so that its final value is known.
struct GraphTask: Sendable {
    let number: Int
    let context: DatabaseContext
    let objects: [String: [DatabaseObject]]
    let own: DatabaseObject
    let log: GraphTaskLog
    /// The value that the task's own object has to show.
    var shown: PostgresValue?

    private struct Undone: Error {}
    /// A failure that fails the transactions around it.
    private struct Refused: Error {}

    /// Runs steps one after the other; returns what the task's own object has to show.
    mutating func run(_ steps: [GraphTaskStep]) async throws -> PostgresValue? {
        for step in steps {
            do {
                try await perform(step, depth: 0)
            } catch is Refused {}
        }
        return shown
    }

    private mutating func perform(_ step: GraphTaskStep, depth: Int) async throws {
        let before = shown
        do {
            switch step.kind {
            case .action(let action):
                var random = SeededGenerator(seed: step.seed)
                try await perform(action, depth, &random)
            case .transaction(let body, let fails):
                say("transaction {", depth)
                try await context.transaction {
                    for step in body { try await perform(step, depth: depth + 1) }
                    if fails { throw Undone() }
                }
                say("}", depth)
            }
        } catch is Undone {
            shown = before
            say("throw }", depth)
        } catch is Refused {
            shown = before
            say("}", depth)
        } catch let error as KindredError {
            shown = before
            say("// \(error)", depth)
            throw Refused()
        } catch let error as PostgresError where error.sqlState == .deadlockDetected {
            shown = before
            say("// \(error)", depth)
            throw Refused()
        }
    }

    private func say(_ line: String, _ depth: Int) {
        log.append("task \(number): " + String(repeating: "    ", count: depth) + line)
    }

    /// The name of an object in the lines.
    private func name(_ object: DatabaseObject) -> String {
        guard let id = object.objectID else { return "\(object)" }
        return GraphRef(table: id.entity.name, key: id.values.map(\.description)).description
    }

    private mutating func perform(
        _ action: GraphTaskStep.Action, _ depth: Int, _ random: inout SeededGenerator
    ) async throws {
        let relations = GraphSchema.relations.filter { relation in
            let isIntended =
                switch action {
                case .setToOne, .setNoObject: !relation.isToMany
                case .replace: relation.isToMany && relation.payload == nil
                case .setNoMembers, .join, .leave: relation.isToMany
                default: true
                }
            if case .holds(let key) = relation.link { return isIntended && !key.isInPrimaryKey }
            if case .members(let key) = relation.link { return isIntended && !key.isInPrimaryKey }
            return isIntended
        }
        let relation = random.pick(relations)
        guard let owners = objects[relation.table], let members = objects[relation.target] else { return }
        let (owner, member) = (random.pick(owners), random.pick(members))
        let some = random.some(members, atMost: 3)
        let value = PostgresValue.string("n\(Int.random(in: 0..<100_000, using: &random))")
        switch action {
        case .stageName:
            say("\(name(own))[name] = \(value)", depth)
            own["name"] = value
            shown = value
        case .writeName:
            say("\(name(own)).setValue(\(value), forKey: name)", depth)
            try await own.setValue(value, forKey: "name")
            shown = value
        case .stageKey:
            let item = random.pick(objects["item"] ?? [])
            let unit = random.chance(20) ? nil : random.pick(objects["unit"] ?? [])["id"]
            say("\(name(item))[unit_id] = \(unit?.description ?? "nil")", depth)
            item["unit_id"] = unit
        case .setToOne:
            say("\(name(owner)).setValue(\(name(member)), forKey: \(relation.name))", depth)
            try await owner.setValue(member, forKey: relation.name)
        case .setNoObject, .setNoMembers:
            say("\(name(owner)).setValue(nil, forKey: \(relation.name))", depth)
            try await owner.setValue(nil, forKey: relation.name)
        case .replace:
            say("\(name(owner)).\(relation.name).set(\(some.map(name)))", depth)
            try await owner.set(forKey: relation.name).set(some)
        case .join:
            say("\(name(owner)).\(relation.name).insert(\(name(member)))", depth)
            let set = try await owner.set(forKey: relation.name)
            if let payload = relation.payload {
                try await set.insert(member, through: [payload: 5])
            } else {
                try await set.insert(member)
            }
        case .leave:
            say("\(name(owner)).\(relation.name).subtract(\(some.map(name)))", depth)
            try await owner.set(forKey: relation.name).subtract(some)
        case .read:
            say("read \(name(owner)).\(relation.name)", depth)
            if !relation.isToMany {
                _ = try await owner.object(forKey: relation.name)
            } else if random.chance(50) {
                _ = try await owner.set(forKey: relation.name).objects
            } else {
                _ = try await owner.set(forKey: relation.name).count
            }
        case .save:
            say("save()", depth)
            try await context.save()
        case .create:
            let unit = random.pick(objects["unit"] ?? [])
            say("create(item, unit: \(name(unit)))", depth)
            try await context.create("item", ["name": value, "unit": unit])
        case .refresh:
            say("\(name(owner)).refresh()", depth)
            try await owner.refresh()
        case .pause:
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<2_000, using: &random)))
        }
    }
}

/// The steps of several tasks, in the order in which they began.
final class GraphTaskLog: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func append(_ line: String) { state.withLock { $0.append(line) } }
}
