import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Follows the database's changes for all live requests of a process whose contexts have equal settings: one subscriber of the
/// reader for any number of requests.
///
/// It lives while a live request is iterated over.
final class LiveHub: ChangeSubscriber {
    private struct State {
        var sources = LiveSources()
        /// The consumers that need a first answer from a step that begins after they came.
        var joining: [LiveConsumer] = []
        var isClosed = false
        /// The number of distinct requests that the metrics have.
        var counted = 0
        /// How often in a row a request could not be answered in time.
        var failures: [Int: Int] = [:]
        /// The shapes of requests that could not be asked together in this step.
        var apart: Set<LiveQuery.Shape.Key> = []
        /// The shapes that the server always refuses to answer together, for instance because the joint statement's
        /// values would meet a domain's CHECK.
        var refused: Set<LiveQuery.Shape.Key> = []
        /// The tables behind relations, as the catalog said while a model was in use.
        var tables: [TablesKey: LiveTables] = [:]
        /// When they are compared with the catalog again, at the latest.
        var definitionsAreDue = MonotonicTime.now + LiveHub.definitionsPause

        /// Whether requests take too long each time: the other requests cannot wait for them.
        mutating func isHopeless(_ numbers: [Int], _ error: any Error) -> Bool {
            guard error.isOfStatement else { return false }
            for number in numbers { failures[number, default: 0] += 1 }
            return numbers.contains { failures[$0, default: 0] >= 3 }
        }
    }

    private struct TablesKey: Hashable {
        let runtime: SchemaRuntime
        let names: Set<QualifiedName>

        static func == (left: TablesKey, right: TablesKey) -> Bool {
            left.runtime === right.runtime && left.names == right.names
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(runtime))
            hasher.combine(names)
        }
    }

    /// An answer that a step has found.
    private struct Found: Sendable {
        let number: Int
        let snapshot: LiveSnapshot
        let cause: LiveCause
        var changed: LiveSources.RowChanges?
    }

    /// The answers that the running step has found so far, and the consumers that were there before it began.
    private struct Step {
        var found: [Found] = []
        var joined: [LiveConsumer] = []
        /// Requests that read other tables from now on; nil if definitions were not compared.
        var renewed: [Int: LiveQuery]?
    }

    /// The most new requests that are asked in one step, so that the other requests do not wait long for their answers.
    private static let newPerStep = 200

    /// DDL on tables and views is told with the changes; other DDL, such as that on policies, is looked for.
    private static let definitionsPause: Duration = .seconds(10)

    let settings: SessionSettings
    private let reader: ChangeReader
    private let state = RankedMutex(State(), .leaf)
    private let step = RankedMutex(Step(), .leaf)

    private init(_ settings: SessionSettings, _ reader: ChangeReader) {
        (self.settings, self.reader) = (settings, reader)
    }

    // MARK: Consumers

    /// Begins to follow a request for a consumer; errors reach it as answers do.
    static func join(_ consumer: LiveConsumer) -> LiveHub {
        while true {
            guard let (hub, isNew) = hub(of: consumer.query.core), hub.add(consumer) else { continue }
            if isNew { hub.start() } else { hub.reader.askForStep() }
            return hub
        }
    }

    /// The hub of a context, made if no open hub exists; nil if another task has made one meanwhile.
    private static func hub(of core: ContextCore) -> (hub: LiveHub, isNew: Bool)? {
        let (database, settings) = (core.database, core.settings)
        let known = database.live.liveHubs.withLock { $0[settings] as? LiveHub }
        if let known, !known.isClosed { return (known, false) }
        let made = LiveHub(settings, database.changeReader)
        return database.live.liveHubs.withLock { hubs in
            guard hubs[settings] as? LiveHub === known else { return nil }
            hubs[settings] = made
            return (made, true)
        }
    }

    /// The tables that stand behind some relations: asked once for a model while live requests are followed.
    ///
    /// Throws `KindredError` `.trackingNotInstalled`; `PostgresError`.
    static func tables(behind names: Set<QualifiedName>, in core: ContextCore) async throws -> LiveTables {
        let key = TablesKey(runtime: core.runtime, names: names)
        let hub = core.database.live.liveHubs.withLock { $0[core.settings] as? LiveHub }
        if let known = hub?.state.withLock({ $0.tables[key] }) { return known }
        // As the connection's role: the catalog's answer is the same for all.
        try await core.database.requireHelperSchema()
        let asked = try await LiveTables(behind: names, core.database.client)
        // Only tracked tables are kept: tables that are not tracked now may be tracked soon.
        if let hub, asked.areTracked { hub.state.withLock { $0.tables[key] = asked } }
        return asked
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// False if the hub has ended meanwhile.
    private func add(_ consumer: LiveConsumer) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            _ = state.sources.add(consumer)
            state.joining.append(consumer)
            return true
        }
    }

    private func start() {
        // Detached: following has no part in the caller's transaction or limits.
        Task.detached { [self] in
            do {
                try await reader.add(self)
                if isClosed { reader.remove(self) }
            } catch {
                fail(error)
            }
        }
    }

    /// Ends the following for a consumer; the last one ends the hub.
    func leave(_ consumer: LiveConsumer) {
        let isLast = state.withLock { state in
            state.joining.removeAll { $0 === consumer }
            state.sources.remove(consumer)
            guard state.sources.isEmpty, !state.isClosed else { return false }
            state.isClosed = true
            return true
        }
        if isLast { reader.remove(self) }
        count()
    }

    // MARK: Steps

    var wantsStep: Bool { state.withLock { !$0.joining.isEmpty || $0.definitionsAreDue <= .now } }

    /// A request that is made later may follow a change that the step's snapshot does not have.
    func prepare() {
        let joining = state.withLock { Array($0.joining.prefix(Self.newPerStep)) }
        step.withLock { $0.joined = joining }
    }

    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) async throws {
        let joining = step.withLock { step in
            step.found = []
            return step.joined
        }
        let renewed = try await renewed(after: batch)
        let (work, new) = state.withLock { state in
            let new = joining.compactMap { state.sources.unanswered($0) }
            var work = batch.map { state.sources.work(for: $0) }
            for number in renewed where state.sources.sources[number]?.latest != nil {
                work?.ask(number, .schemaChanged)
            }
            return (work, Set(new))
        }
        if let work { try await evaluate(work) }
        for number in new { try await evaluate(number, .first) }
    }

    /// Compares the tables of the requests with the catalog, if it is time or a batch says that a definition was
    /// changed.
    ///
    /// Requests that cannot go on end. Returns the requests with tables that are defined differently.
    private func renewed(after batch: CommittedBatch?) async throws -> [Int] {
        let isTold = batch?.changes.values.contains { $0.gap == .schemaChanged || $0.gap == .unrecorded } ?? false
        let queries = state.withLock { state -> [Int: LiveQuery]? in
            guard batch != nil, isTold || state.definitionsAreDue <= .now else { return nil }
            return state.sources.sources.mapValues(\.query)
        }
        guard let queries else { return [] }
        var renewed: [Int: LiveQuery] = [:]
        for (number, result) in try await LiveDefinitions(queries: queries).changed() {
            switch result {
            case .success(let query): renewed[number] = query
            case .failure(let error): giveUp([number], error)
            }
        }
        step.withLock { $0.renewed = renewed }
        return Array(renewed.keys)
    }

    private func evaluate(_ work: LiveSources.Work) async throws {
        for (number, cause) in work.whole { try await evaluate(number, cause) }
        for group in try await groups(of: Array(work.byKeys.keys)) {
            guard let changes = group.first.flatMap({ work.byKeys[$0.number] }) else { continue }
            for (request, part) in zip(group, try await parts(of: group, among: changes.presentKeys)) {
                try await evaluating(request.number) { query, latest in
                    try await self.changed(request.number, to: query, from: latest, by: changes.keys, part)
                }
            }
        }
        try await evaluate(members: work.members)
        for (entity, changes) in work.routed {
            guard let core = state.withLock({ $0.sources.core(of: entity) }) else { continue }
            let rows = try await giving(up: { $0.numbers(of: entity) }) {
                try await LiveQuery.rows(of: entity, changes.presentKeys, in: core)
            }
            let routed = try state.withLock { try $0.sources.routed(changes, of: entity, present: rows) }
            for (number, changes) in routed where work.whole[number] == nil {
                try await evaluating(number) { query, latest in
                    try await self.changed(
                        number, to: query, from: latest, by: changes.keys, LiveSnapshot(changes.found))
                }
            }
        }
    }

    /// Asks for the members of the owners that changed members belong to, and belonged to.
    private func evaluate(members work: [Int: [QualifiedName: TableChanges]]) async throws {
        struct Owners {
            let query: LiveQuery
            let position: Int
            /// For each request, its place of the relationship, and the owners.
            var requests: [Int: (position: Int, owners: Set<ObjectKey>)] = [:]
        }
        var questions: [LiveQuery.MemberQuestion: Owners] = [:]
        var rows: [EntityRuntime: [Member]] = [:]
        var whole: Set<Int> = []
        for (number, tables) in work {
            guard let source = state.withLock({ $0.sources.sources[number] }), let latest = source.latest else {
                continue
            }
            let query = source.query
            for (table, changes) in tables {
                guard let position = query.memberBranches[table] else { continue }
                let entity = query.memberEntity(of: table)
                if let entity, rows[entity] == nil {
                    rows[entity] = try await giving(up: { _ in [number] }) {
                        try await LiveQuery.rows(of: entity, changes.presentKeys, in: query.core)
                    }
                }
                let found = entity.flatMap { rows[$0] } ?? []
                guard let owners = try latest.owners(at: position, changedBy: changes, in: table, rows: found) else {
                    whole.insert(number)
                    break
                }
                let question = query.memberQuestion(at: position)
                questions[question, default: Owners(query: query, position: position)]
                    .requests[number, default: (position, [])].owners.formUnion(owners)
            }
        }
        var parts: [Int: [(position: Int, owners: Set<ObjectKey>, part: LiveBranch)]] = [:]
        for asked in questions.values {
            let requests = asked.requests.filter { !whole.contains($0.key) && !$0.value.owners.isEmpty }
            if requests.isEmpty { continue }
            let owners = requests.values.reduce(into: Set<ObjectKey>()) { $0.formUnion($1.owners) }
            let part = try await giving(up: { _ in Array(requests.keys) }) {
                try await asked.query.members(at: asked.position, of: owners)
            }
            for (number, own) in requests { parts[number, default: []].append((own.position, own.owners, part)) }
        }
        for number in whole { try await evaluate(number, .change) }
        for (number, parts) in parts {
            try await evaluating(number) { _, latest in
                guard var snapshot = latest else { return nil }
                for (position, owners, part) in parts {
                    snapshot = snapshot.replacing(membersAt: position, of: owners, from: part)
                }
                return Found(number: number, snapshot: snapshot, cause: .change)
            }
        }
    }

    /// A request that is asked together with other requests of its shape.
    private typealias Shaped = (number: Int, query: LiveQuery, shape: LiveQuery.Shape)

    /// Requests of one entity by their shapes, those alone that cannot be asked together.
    private func groups(of numbers: [Int]) async throws -> [[Shaped]] {
        var groups: [LiveQuery.Shape.Key: [Shaped]] = [:]
        for (number, query) in state.withLock({ state in numbers.map { ($0, state.sources.sources[$0]?.query) } }) {
            guard let query else { continue }
            let shape = try await giving(up: { _ in [number] }) { try query.shape() }
            groups[shape.key, default: []].append((number, query, shape))
        }
        let apart = state.withLock { $0.apart }
        return groups.flatMap { shape, group in apart.contains(shape) ? group.map { [$0] } : [group] }
    }

    /// The parts of the answers to requests of one shape that have the rows among some keys.
    private func parts(of group: [Shaped], among keys: [ObjectKey]) async throws -> [LiveSnapshot] {
        let queries = group.map { ($0.query, $0.shape) }
        if let only = group.first, group.count == 1 {
            return try await giving(up: { _ in [only.number] }) {
                try await LiveQuery.snapshots(of: queries, among: keys)
            }
        }
        do {
            return try await LiveQuery.snapshots(of: queries, among: keys)
        } catch {
            guard error.isOfStatement || !error.isPassing, !(error is CancellationError) else { throw error }
            // Which of them cannot be answered shows when each is asked alone.
            state.withLock { state in
                state.apart.formUnion(group.map(\.shape.key))
                if !error.isPassing { state.refused.formUnion(group.map(\.shape.key)) }
            }
            throw StepIsVoid()
        }
    }

    /// Asks a request anew.
    private func evaluate(_ number: Int, _ cause: LiveCause) async throws {
        try await evaluating(number) { query, _ in
            Found(number: number, snapshot: try await query.snapshot(), cause: cause)
        }
    }

    /// The answer to a request after changes of some rows; nil if it has none of them.
    ///
    /// - Parameter found: the part of the answer that has these rows.
    private func changed(
        _ number: Int, to query: LiveQuery, from latest: LiveSnapshot?, by keys: Set<ObjectKey>, _ found: LiveSnapshot
    ) async throws -> Found? {
        guard let latest, !found.rows.isEmpty || latest.rows.contains(where: { keys.contains($0.key) })
        else { return nil }
        guard let snapshot = try query.replacing(keys, in: latest, with: found) else {
            return Found(number: number, snapshot: try await query.snapshot(), cause: .change)
        }
        return Found(
            number: number, snapshot: snapshot, cause: .change,
            changed: LiveSources.RowChanges(keys: keys, found: found.rows))
    }

    /// Runs a part of the step that is about one request.
    private func evaluating(
        _ number: Int, _ body: (LiveQuery, LiveSnapshot?) async throws -> Found?
    ) async throws {
        guard let source = state.withLock({ $0.sources.sources[number] }) else { return }
        let found = try await giving(up: { _ in [number] }) { try await body(source.query, source.latest) }
        if let found { step.withLock { $0.found.append(found) } }
    }

    /// Runs a part of the step; where it cannot be done, the requests that it is about fail alone.
    private func giving<T>(up numbers: (LiveSources) -> [Int], _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            let left = try state.withLock { state in
                let numbers = numbers(state.sources)
                let isPassing = error.isPassing && !state.isHopeless(numbers, error)
                if isPassing || error is CancellationError { throw error }
                return numbers
            }
            giveUp(left, error)
            // The error has ended the transaction; the other requests are asked again in another transaction.
            throw StepIsVoid()
        }
    }

    /// Ends requests with an error.
    private func giveUp(_ numbers: [Int], _ error: any Error) {
        let left = state.withLock { state in
            // One of them may have been why a shape was refused.
            state.refused = []
            let left = numbers.flatMap { state.sources.remove($0) }
            state.joining.removeAll { consumer in left.contains { $0 === consumer } }
            return left
        }
        for consumer in left { consumer.fail(error) }
    }

    func commit(at cursor: ChangeCursor) {
        let step = step.withLock { step in
            defer { step = Step() }
            return step
        }
        let answers = state.withLock { state -> [(LiveConsumer, LiveAnswer)] in
            (state.failures, state.apart) = ([:], state.refused)
            if let renewed = step.renewed {
                for (number, query) in renewed { state.sources.renew(number, query) }
                // Forgets all tables, including tables that no request reads now.
                state.tables = [:]
                state.definitionsAreDue = .now + Self.definitionsPause
            }
            var answers: [(LiveConsumer, LiveAnswer)] = []
            let joined = Set(step.joined.map { ObjectIdentifier($0) })
            let waiting = Set(state.joining.map { ObjectIdentifier($0) })
            for found in step.found {
                let answer = LiveAnswer(snapshot: found.snapshot, cause: found.cause, cursor: cursor)
                for consumer in state.sources.set(found.snapshot, of: found.number, changed: found.changed)
                where !waiting.contains(ObjectIdentifier(consumer)) {
                    answers.append((consumer, answer))
                }
            }
            state.joining.removeAll { joined.contains(ObjectIdentifier($0)) }
            for consumer in step.joined where waiting.contains(ObjectIdentifier(consumer)) {
                guard let latest = state.sources.latest(for: consumer) else { continue }
                answers.append((consumer, LiveAnswer(snapshot: latest, cause: .first, cursor: cursor)))
            }
            return answers
        }
        for (consumer, answer) in answers { consumer.give(answer) }
        count()
    }

    /// Tells the metrics how many distinct requests have come or gone.
    private func count() {
        let difference = state.withLock { state in
            let count = state.sources.sources.count
            defer { state.counted = count }
            return count - state.counted
        }
        if difference != 0 { reader.database.live.trackingMetrics.withLock { $0.liveRequests += difference } }
    }

    func fail(_ error: any Error) {
        let consumers = state.withLock { state in
            state.isClosed = true
            defer { (state.sources, state.joining) = (LiveSources(), []) }
            return state.sources.sources.values.flatMap(\.consumers.values)
        }
        for consumer in consumers { consumer.fail(error) }
        count()
    }
}
