import Kindred
import TestSupport

/// A random program at work on one context, judged by what SQL says after each step.
///
/// SQL is asked over another connection, inside a transaction through its own. The run holds some objects, lets go of them
/// at random, and remembers by itself only what neither SQL nor an attribute can show.
final class GraphRun {
    let context: DatabaseContext
    let other: PostgresClient
    /// The state that has to be shown now, and, while a step runs, the state to show after it.
    var picture = GraphPicture()
    var expected = GraphPicture()
    /// Whether the step's effect is known beforehand; if not, the shown state is compared with SQL only.
    var isPredicted = true
    /// Referenced objects, and objects that must stay referenced.
    var held: [DatabaseObject] = [] { didSet { index = nil } }
    var pinned: [DatabaseObject] = [] { didSet { index = nil } }
    /// Objects on which something is staged, which the context holds too.
    var staged: [DatabaseObject] = [] { didSet { index = nil } }
    /// New objects, and the numbers by which the test knows them.
    var new: [DatabaseObject] = [] { didSet { index = nil } }
    var numbers: [ObjectIdentifier: Int] = [:]
    /// Objects that the step has had in its hands.
    var touched: [DatabaseObject] = [] { didSet { index = nil } }
    /// The objects in hand by their names; made when it is needed.
    private var index: [GraphRef: DatabaseObject]?
    /// The names of the objects when the step began.
    var names: [(object: DatabaseObject, ref: GraphRef)] = []
    /// Relationships that have changed lately, which are compared more often than others.
    var suspects: [GraphPicture.End] = []
    /// The relationships that most of the program is about.
    var focus: [GraphRelation] = []
    /// How many transactions and savepoints are around the step.
    var depth = 0
    var count = 0
    var lines: [String] = []
    private var lastRead: (text: String, picture: GraphPicture)?

    /// A step that the library has refused inside a transaction, which fails with it.
    private struct Refused: Error {}
    /// The error with which a transaction is made to fail.
    private struct Undone: Error {}

    init(_ context: DatabaseContext, _ other: PostgresClient) {
        self.context = context
        self.other = other
    }

    /// Runs a program; returns the first failure.
    static func run(_ program: [GraphStep], _ database: Database, _ other: PostgresClient) async throws -> GraphFailure?
    {
        try await other.query("SELECT reset_graph()")
        let context = database.makeContext()
        let run = GraphRun(context, other)
        defer { context.rollback() }
        do {
            run.picture = try await run.readRows()
            for step in program { try await run.perform(step) }
            return nil
        } catch let failure as GraphFailure {
            return failure
        } catch {
            return run.failure("an error that nothing explains: \(String(reflecting: error))")
        }
    }

    func say(_ line: String) {
        lines.append(String(repeating: "    ", count: depth) + line)
    }

    func failure(_ difference: String) -> GraphFailure {
        GraphFailure(difference: difference, lines: lines)
    }

    /// Everything that the database has, as the task's own transaction sees it, else as another connection does.
    func readRows() async throws -> GraphPicture {
        let sql = GraphSchema.everything
        let result = depth > 0 ? try await context.query(sql) : try await other.query(sql)
        let text = try result.first?[0]?.description ?? ""
        // Most steps change nothing there.
        if let lastRead, lastRead.text == text { return lastRead.picture }
        let picture = GraphPicture(text)
        lastRead = (text, picture)
        return picture
    }

    func perform(_ step: GraphStep) async throws {
        begin()
        focus = step.focus
        var random = SeededGenerator(seed: step.seed)
        switch step.kind {
        case .action(let action):
            do {
                try await act(action, &random)
            } catch let error as KindredError where Self.refusals.contains(error.code) {
                lines.append(String(repeating: "    ", count: depth) + "// refused: \(error)")
                if case .save = action { try requireReason(error) }
                if depth > 0 { throw Refused() }
                (expected, isPredicted) = (picture, true)
                if random.chance(50) {
                    say("context.rollback()")
                    context.rollback()
                    expected.rollback()
                }
            }
        case .transaction(let body, let fails):
            try await transaction(body, fails)
        case .end: break
        }
        index = nil
        try await settle()
        switch step.check {
        case .nothing: break
        case .some(let count): for _ in 0..<count { try await compareSomething(&random) }
        case .everything(let places): try await compareEverything(places, seed: step.seed)
        }
        forgetDeleted()
    }

    /// Errors of the library that have a good reason.
    private static let refusals: Set<KindredError.Code> = [
        .objectDeleted, .objectDiscarded, .constraintViolation, .deletionDenied, .requiredRelationship, .missingValue,
        .wrongType,
        .notStored, .validationFailed, .indexOutOfRange,
    ]

    /// A save whose final state the server takes is carried out, or the error says which constraint would have to wait.
    private func requireReason(_ error: KindredError) throws {
        guard picture.invalidity(staged.contains(where: \.isDeletionStaged)) == nil,
            !error.message.lowercased().contains("deferrable")
        else { return }
        throw failure("the save was refused though its final state is valid: \(String(reflecting: error))")
    }

    private func transaction(_ body: [GraphStep], _ fails: Bool) async throws {
        let (before, staged, new) = (picture, self.staged, self.new)
        say("transaction {")
        do {
            try await context.transaction {
                depth += 1
                defer { depth -= 1 }
                for step in body { try await perform(step) }
                if fails { throw Undone() }
            }
            say("}")
            begin()
        } catch is Undone {
            say("    throw }")
            try await restore(before, staged, new)
        } catch is Refused {
            say("}")
            try await restore(before, staged, new)
        }
    }

    private func restore(
        _ before: GraphPicture, _ staged: [DatabaseObject], _ new: [DatabaseObject]
    ) async throws {
        // An object that was first read inside shows its last values until it is asked for.
        for object in held + self.staged + self.new + staged + new + pinned {
            _ = try await object.value(forKey: object.entity.attributes[0].name)
        }
        let inside = self.new.filter { object in !new.contains { $0 === object } }
        touched += self.staged
        (self.staged, self.new) = (staged, new)
        picture = before
        begin()
        for object in inside { numbers[ObjectIdentifier(object)] = nil }
        expected = before
    }

    private func begin() {
        expected = picture
        isPredicted = true
        names = []
        var seen = Set<DatabaseObject>()
        for object in held + staged + new + pinned where seen.insert(object).inserted {
            if let ref = ref(object) { names.append((object, ref)) }
        }
    }

    /// Reads the database's rows after a step, and compares the objects with the expected state.
    private func settle() async throws {
        var renamed: [GraphRef: GraphRef] = [:]
        for (object, old) in names {
            if let ref = ref(object), ref != old { renamed[old] = ref }
        }
        var seen = Set(staged)
        for object in touched + new where seen.insert(object).inserted { staged.append(object) }
        staged.removeAll { !$0.hasStagedChanges || $0.isDeleted }
        expected.rename(renamed) { source, key in
            staged.contains { ref($0) == source && $0[key.leaving[0]] == nil }
        }
        if depth == 0 { new.removeAll { !$0.isInserted } }
        let before = picture
        var actual = try await readRows()
        for (old, new) in renamed where !old.isNew && actual.isStored(old) {
            throw failure("the object of \(old) says that it is \(new)")
        }
        for object in staged {
            guard let ref = ref(object) else { continue }
            var row = actual.stored[ref.table]?[ref] ?? [:]
            let values = object.isInserted ? object.dictionary : object.stagedValues
            for (column, value) in values { row[column] = value?.description }
            for key in GraphSchema.keys where key.table == ref.table && expected.links[ref]?[key.name] != nil {
                for column in key.leaving { row[column] = nil }
            }
            actual.rows[ref.table, default: [:]][ref] = row
        }
        (actual.links, actual.pairs) = (expected.links, expected.pairs)
        if isPredicted, let difference = expected.difference(from: actual) {
            throw failure("shown are " + difference)
        }
        if !isPredicted { actual.dropLostEnds() }
        suspects = (suspects + actual.changedEnds(since: before)).suffix(12)
        picture = actual
        let hasStagedChanges = !staged.isEmpty || !picture.pairs.isEmpty
        if context.hasStagedChanges != hasStagedChanges {
            throw failure(
                hasStagedChanges ? "nothing is staged, says the context" : "something is staged, says the context")
        }
        touched = []
    }

    /// Takes the present state of SQL, and the changes staged on held objects, whatever was expected before.
    func lookAgain() async throws {
        begin()
        isPredicted = false
        touched = held
        try await settle()
    }

    private func forgetDeleted() {
        held.removeAll(where: \.isDeleted)
        pinned.removeAll(where: \.isDeleted)
    }

    /// The name of an object; nil for a deleted object.
    func ref(_ object: DatabaseObject) -> GraphRef? {
        if object.isInserted {
            guard let number = numbers[ObjectIdentifier(object)] else { return nil }
            return GraphRef(table: object.entity.name.name, key: ["\(number)"], isNew: true)
        }
        guard !object.isDeleted, let id = object.objectID else { return nil }
        return GraphRef(table: id.entity.name, key: id.values.map(\.description))
    }

    /// The object of a row that the run has in its hands.
    func known(_ ref: GraphRef) -> DatabaseObject? {
        if let index { return index[ref] }
        var made: [GraphRef: DatabaseObject] = [:]
        for objects in [pinned, new, staged, held, touched] {
            for object in objects { if let ref = self.ref(object) { made[ref] = object } }
        }
        index = made
        return made[ref]
    }
}
