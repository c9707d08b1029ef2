import Kindred
import TestSupport

/// Several tasks at work on one context, and the state that has to be shown when all tasks have ended.
struct GraphRound: Sendable {
    /// The steps of each task, by the task's number.
    var tasks: [Int: [GraphTaskStep]]
    let seed: UInt64
    let comparesEverything: Bool

    /// Rounds of two to four tasks each.
    static func program(seed: UInt64, count: Int) -> GraphRounds {
        var random = SeededGenerator(seed: seed)
        let rounds = (0..<count).map { _ in
            var tasks: [Int: [GraphTaskStep]] = [:]
            for number in 1...Int.random(in: 2...4, using: &random) {
                tasks[number] = (0..<Int.random(in: 1...3, using: &random)).map { _ in .random(&random) }
            }
            return GraphRound(tasks: tasks, seed: random.next(), comparesEverything: random.chance(50))
        }
        return GraphRounds(rounds: rounds, seed: random.next())
    }

    /// Lets the tasks work at the same time, and looks at the outcome.
    fileprivate func run(_ run: GraphRun) async throws {
        let log = GraphTaskLog()
        let objects = Dictionary(grouping: run.held.filter { !$0.isDeleted }) { $0.entity.name.name }
        let owns = (objects["item"] ?? []).filter { run.ref($0)?.key[0].count == 1 }
            .sorted { $0.description < $1.description }
        let results = try await withThrowingTaskGroup(of: (Int, DatabaseObject, PostgresValue?).self) { group in
            for (number, steps) in tasks where owns.indices.contains(number - 1) {
                let own = owns[number - 1]
                let task = GraphTask(
                    number: number, context: run.context, objects: objects, own: own, log: log, shown: own["name"])
                group.addTask {
                    var task = task
                    return (number, own, try await task.run(steps))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        run.lines += log.lines + ["// all tasks have come to their end"]
        for (number, own, name) in results where own["name"] != name {
            // A value that a task stages in a failing transaction may equal the value that another task has saved
            // meanwhile.
            if tasks.contains(where: { $0.key != number && $0.value.contains(where: \.saves) }) { continue }
            let shown = own["name"]?.description ?? "nil"
            throw run.failure(
                "item/\(own["id"]?.description ?? "")[name] is \(shown), not \(name?.description ?? "nil")")
        }
        try await run.lookAgain()
        var random = SeededGenerator(seed: seed)
        if comparesEverything {
            try await run.compareEverything(Array(0..<GraphRun.comparisons), seed: seed)
        } else {
            for _ in 0..<6 { try await run.compareSomething(&random) }
        }
        run.held.removeAll(where: \.isDeleted)
    }
}

/// Rounds of tasks on one context.
struct GraphRounds: GraphShrinkable {
    var rounds: [GraphRound]
    let seed: UInt64

    /// Runs the rounds; returns the first failure.
    func run(_ database: Database, _ other: PostgresClient) async throws -> GraphFailure? {
        try await other.query("SELECT reset_graph()")
        let context = database.makeContext()
        let run = GraphRun(context, other)
        defer { context.rollback() }
        do {
            try await fetch(run)
            for round in rounds { try await round.run(run) }
            return nil
        } catch let failure as GraphFailure {
            return failure
        } catch {
            return run.failure("an error that nothing explains: \(String(reflecting: error))")
        }
    }

    /// Reads all rows, in groups that differ, and some of the relationships.
    private func fetch(_ run: GraphRun) async throws {
        var random = SeededGenerator(seed: seed)
        run.picture = try await run.readRows()
        var objects: [DatabaseObject] = []
        for table in GraphSchema.tables {
            let request = try run.context.fetch(table).sorted(
                GraphSchema.key(of: table)[0], ascending: random.chance(50))
            if random.chance(50) { objects += try await request.limit(3).all() }
            objects += try await request.all()
        }
        var seen = Set<DatabaseObject>()
        run.held = objects.filter { seen.insert($0).inserted }
        for _ in 0..<Int.random(in: 0..<20, using: &random) { try await run.compareSomething(&random) }
    }

    var simpler: [GraphRounds] {
        var found = rounds.parts
        for place in rounds.indices.reversed() {
            found += rounds[place].simpler.map { rounds.replacing(place, with: [$0]) }
        }
        return found.map { GraphRounds(rounds: $0, seed: seed) }
    }
}

extension GraphRound {
    fileprivate var simpler: [GraphRound] {
        var found: [GraphRound] = []
        for (number, steps) in tasks.sorted(by: { $0.key < $1.key }) {
            for less in [[]] + steps.simpler {
                var round = self
                round.tasks[number] = less.isEmpty ? nil : less
                found.append(round)
            }
        }
        return found
    }
}

extension [GraphTaskStep] {
    fileprivate var simpler: [[GraphTaskStep]] {
        var found = parts
        for place in indices.reversed() {
            guard case .transaction(let body, let fails) = self[place].kind else { continue }
            for less in body.simpler {
                let step = GraphTaskStep(kind: .transaction(less, fails: fails), seed: self[place].seed)
                found.append(replacing(place, with: [step]))
            }
        }
        return found
    }
}
