import TestSupport

/// The action of a step of a random program; its objects are drawn from the step's own seed.
enum GraphAction: String, CaseIterable, Sendable {
    case fetch, drop, read, readOther
    case stageValue, stageKey, unstage, stageDeletion
    case setToOne, join, leave, leaveAll, replace, order
    case insert, create, writeValue, changeKey, delete
    case save, saveObject, rollback, rollbackObject, refresh
    case rawChange, updateWhere, deleteWhere

    /// How often it comes, compared with the others.
    var weight: Int {
        switch self {
        case .fetch, .stageKey: 12
        case .read, .readOther, .join, .save: 10
        case .drop, .setToOne, .insert: 8
        case .leave, .replace, .create, .refresh: 4
        case .stageValue, .leaveAll, .writeValue, .order, .rawChange: 3
        case .rollback, .rollbackObject, .stageDeletion, .delete, .updateWhere: 2
        case .unstage, .saveObject, .changeKey, .deleteWhere: 1
        }
    }
}

/// The comparison at the end of a step.
enum GraphCheck: Sendable {
    case nothing
    /// So many relationships.
    case some(Int)
    /// All relationships of all objects in hand, or, in a program that is being made short, the relationships at some
    /// places.
    case everything(places: [Int])
}

/// One step of a random program.
///
/// It draws from a seed of its own, so that it does the same when others are left out.
struct GraphStep: Sendable {
    enum Kind: Sendable {
        case action(GraphAction)
        /// A transaction, or a savepoint inside of one.
        case transaction([GraphStep], fails: Bool)
        /// Nothing, so that there is only something to compare.
        case end
    }

    var kind: Kind
    let seed: UInt64
    var check: GraphCheck
    /// The relationships that most of the program is about.
    let focus: [GraphRelation]
}

/// Draws the steps of a program.
///
/// Each program has a taste of its own, so that what rarely comes together does so in some.
struct GraphProgram {
    private var random: SeededGenerator
    private let actions: [GraphAction]
    private let focus: [GraphRelation]
    /// To compare everything loads everything, after which other faults cannot be seen.
    private let thoroughness: Int

    private init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var generator = random
        let always: Set<GraphAction> = [.fetch, .read, .readOther, .save]
        actions = GraphAction.allCases.filter { always.contains($0) || generator.chance(65) }
            .flatMap { Array(repeating: $0, count: $0.weight) }
        let keys = generator.some(GraphSchema.keys, atMost: 3)
        focus = GraphSchema.relations.filter { relation in
            switch relation.link {
            case .holds(let key), .members(let key): keys.contains(key)
            case .pairs(let helper, _): keys.contains(helper.first) || keys.contains(helper.second)
            }
        }
        thoroughness = generator.pick([0, 0, 5, 15, 40])
        random = generator
    }

    /// The steps of a sequence; the first ones read something, so that there is something to do.
    static func steps(seed: UInt64, length: Int) -> [GraphStep] {
        var program = GraphProgram(seed: seed)
        var steps = (0..<2).map { _ in program.step(.action(.fetch), .nothing) }
        while steps.count < length {
            if program.random.chance(8) {
                steps += program.changeBesideAnother()
            } else {
                steps.append(program.step(depth: 0))
            }
        }
        return steps + [program.step(.end, .everything(places: Array(0..<GraphRun.comparisons)))]
    }

    /// A change, a look at an unconcerned object, and the end of the change: objects that are read together with others
    /// between a change and its end have to follow, too.
    private mutating func changeBesideAnother() -> [GraphStep] {
        let change = random.pick([GraphAction.stageKey, .stageKey, .setToOne, .join, .leave, .replace, .insert])
        let steps = [step(.action(change), .nothing), step(.action(.readOther), .nothing)]
        let end = step(.action(random.pick([.save, .save, .save, .rollback, .saveObject])), .some(2))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return [step(.transaction(steps + [end], fails: random.chance(50)), .some(2))]
        case 1: return [step(.transaction(steps, fails: random.chance(50)), .some(1)), end]
        default: return steps + [end]
        }
    }

    private mutating func step(_ kind: GraphStep.Kind, _ check: GraphCheck) -> GraphStep {
        GraphStep(kind: kind, seed: random.next(), check: check, focus: focus)
    }

    private mutating func step(depth: Int) -> GraphStep {
        let check: GraphCheck
        if random.chance(thoroughness) {
            check = .everything(places: Array(0..<GraphRun.comparisons))
        } else {
            check = random.chance(35) ? .nothing : .some(random.pick([1, 1, 2, 3]))
        }
        guard random.chance(depth == 0 ? 10 : 12), depth < 3 else { return step(.action(random.pick(actions)), check) }
        var body: [GraphStep] = []
        for _ in 0...Int.random(in: 0..<4, using: &random) { body.append(step(depth: depth + 1)) }
        return step(.transaction(body, fails: random.chance(55)), check)
    }
}
