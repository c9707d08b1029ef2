import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Follows the database's changes for all live requests of a process whose contexts have equal settings: one subscriber of the
/// reader for any number of requests.
///
/// It lives while a live request is iterated over.
final class LiveHub: ChangeSubscriber {
    /// The most new requests that are asked in one step, so that the other requests do not wait long for their answers.
    private static let newPerStep = 200

    /// DDL on tables and views is told with the changes; other DDL, such as that on policies, is looked for.
    static let definitionsPause: Duration = .seconds(10)

    let settings: SessionSettings
    private let reader: ChangeReader
    let state = RankedMutex(LiveHubState(), .leaf)
    private let step = RankedMutex(LiveHubStep(), .leaf)
    private let slowQuestions: SlowQuestions<Int>

    private init(_ settings: SessionSettings, _ reader: ChangeReader) {
        (self.settings, self.reader, slowQuestions) = (settings, reader, reader.slowQuestions())
    }

    // MARK: Consumers

    /// Begins to follow a request for a consumer; errors reach it as answers do.
    static func join(_ consumer: LiveConsumer) -> LiveHub {
        while true {
            guard let (hub, isNew) = hub(of: consumer.query.core) else { continue }
            // The hub holds the reader, which is made anew where nothing holds it.
            hub.reader.follow(consumer.query.core)
            guard hub.add(consumer) else { continue }
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

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// False if the hub has ended meanwhile.
    private func add(_ consumer: LiveConsumer) -> Bool {
        let added = state.withLock { state -> (number: Int, isSlow: Bool)? in
            guard !state.isClosed else { return nil }
            state.joining.append(consumer)
            let number = state.sources.add(consumer)
            return (number, state.slow.contains(number))
        }
        if let added, added.isSlow { askAlone(added.number, .first) }
        return added != nil
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
        let (ended, isLast) = state.withLock { state in
            state.joining.removeAll { $0 === consumer }
            let ended = state.sources.remove(consumer)
            if let ended { state.endSlow(ended) }
            let isLast = state.sources.isEmpty && !state.isClosed
            if isLast { state.isClosed = true }
            return (ended, isLast)
        }
        if let ended { slowQuestions.end(ended) }
        if isLast { reader.remove(self) }
        count()
    }

    // MARK: Steps

    var wantsStep: Bool {
        state.withLock { state in
            state.definitionsAreDue <= .now || state.retries.isAnyDue || !state.renewed.isEmpty
                || state.mayJoin.contains { _ in true }
        }
    }

    /// A request that is made later may follow a change that the step's snapshot does not have.
    func prepare() {
        let joining = state.withLock { state in
            state.takeQuick()
            return Array(state.mayJoin.prefix(Self.newPerStep))
        }
        step.withLock { $0.joined = joining }
    }

    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) async throws {
        let batch = batch?.named(for: TenantNames(settings, in: reader.database))
        let joining = step.withLock { step in
            step.found = []
            return step.joined
        }
        try await compareDefinitions(after: batch)
        let (work, new) = state.withLock { state in
            let new = Set(joining.compactMap { state.sources.unanswered($0) })
            var work = batch.map { state.sources.work(for: $0) }
            for number in state.renewed { work?.ask(number, because: .everything(.schemaChanged)) }
            for (entity, keys) in state.missedRows { work?.read(keys, of: entity) }
            return (work, new)
        }
        if let work { try await evaluate(work) }
        for number in new { try await evaluate(number, .first) }
    }

    /// Compares the tables of the requests with the catalog, if it is time or records are missing.
    ///
    /// Throws `ModelIsOutdated` where tables are defined differently.
    private func compareDefinitions(after batch: CommittedBatch?) async throws {
        let isTold = batch?.changes.values.contains { $0.gap == .unrecorded } ?? false
        let queries = state.withLock { state -> [Int: LiveQuery]? in
            guard batch != nil, isTold || state.definitionsAreDue <= .now, state.attempts == 0 else { return nil }
            return state.sources.sources.mapValues(\.query)
        }
        guard let queries else { return }
        let areOutdated = try await reader.database.client.withOwnSettings { _ in
            try await LiveDefinitions(queries: queries).areOutdated()
        }
        if areOutdated { throw ModelIsOutdated() }
        step.withLock { $0.hasCompared = true }
    }

    func adapt(to tables: PresentTables, hasFailed: Bool) async throws {
        let queries = state.withLock { state in
            state.attempts += hasFailed ? 1 : 0
            return state.sources.sources.mapValues(\.query)
        }
        for (number, query) in queries {
            if let error = query.misfit(in: tables) { giveUp([number], error, \.isTyped) }
        }
        for (number, result) in try await LiveDefinitions(queries: queries).adapted(to: tables) {
            switch result {
            case .success(let query): state.withLock { $0.renew(number, query) }
            case .failure(let error): giveUp([number], error)
            }
        }
        state.withLock { state in
            state.tables = [:]
            state.definitionsAreDue = .now + Self.definitionsPause
            state.attempts = max(state.attempts, 1)
        }
    }

    /// Whether an error is about the model, so that it is read again: three times in a row, since it may be about anything else.
    private func isOutdated(_ error: any Error) -> Bool {
        error.meansOutdatedModel && state.withLock { $0.attempts < 3 }
    }

    /// Sends a question as `ChangeReader.ask` does.
    ///
    /// Throws `ModelIsOutdated`, too.
    private func ask<Answer: Sendable>(
        waiting: Bool = true, _ body: () async throws -> Answer
    ) async throws -> Result<Answer, any Error> {
        let answer = try await reader.ask(waiting: waiting, body)
        if case .failure(let error) = answer, isOutdated(error) { throw ModelIsOutdated() }
        return answer
    }

    private func evaluate(_ work: LiveSources.Work) async throws {
        for (number, cause) in work.whole { try await evaluate(number, cause) }
        for group in try await groups(of: Array(work.byKeys.keys)) {
            guard let changes = group.first.flatMap({ work.byKeys[$0.number] }) else { continue }
            for (request, part) in try await parts(of: group, among: changes.presentKeys) {
                try await evaluating(request.number, because: .change) { query, latest in
                    try await self.changed(request.number, to: query, from: latest, by: changes.keys, part)
                }
            }
        }
        try await evaluate(members: work.members)
        for (entity, changes) in work.routed { try await evaluate(changes, of: entity, besides: work.whole) }
    }

    /// Reads changed rows for all requests that are found by their values.
    ///
    /// - Parameter whole: the requests that are asked anew.
    private func evaluate(
        _ changes: TableChanges, of entity: EntityRuntime, besides whole: [Int: LiveCause]
    ) async throws {
        guard let core = state.withLock({ $0.sources.core(of: entity) }) else { return }
        guard let rows = try await rows(changes, of: entity, in: core) else { return }
        step.withLock { _ = $0.read.insert(entity) }
        let routed = try state.withLock { try $0.sources.routed(changes, of: entity, present: rows) }
        for (number, changes) in routed where whole[number] == nil {
            try await evaluating(number, because: .change) { query, latest in
                try await self.changed(number, to: query, from: latest, by: changes.keys, LiveSnapshot(changes.found))
            }
        }
    }

    /// The rows of changed keys; nil if they are read in a later step, or cannot be read.
    private func rows(
        _ changes: TableChanges, of entity: EntityRuntime, in core: ContextCore
    ) async throws -> [Member]? {
        let isRepeated = state.withLock { $0.missedRows[entity] != nil }
        if isRepeated, state.withLock({ $0.retries.isPausing(entity) }) {
            state.withLock { $0.missedRows[entity, default: []].formUnion(changes.keys) }
            return nil
        }
        // A lock that is still held is not waited for again.
        let rows = try await ask(waiting: !isRepeated) {
            let rows = try await LiveQuery.rows(of: entity, changes.presentKeys, in: core)
            if rows.isEmpty, !changes.presentKeys.isEmpty { try await reader.requireRows(of: [entity], with: settings) }
            return rows
        }
        switch rows {
        case .success(let rows): return rows
        case .failure(let error):
            let numbers = state.withLock { state -> [Int] in
                if state.retries.mayRepeat(entity, after: error) {
                    state.missedRows[entity, default: []].formUnion(changes.keys)
                    return []
                }
                state.missedRows[entity] = nil
                state.retries.end(entity)
                return state.sources.numbers(of: entity)
            }
            if !numbers.isEmpty { giveUp(numbers, error) }
            return nil
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
            if isSlow(number) {
                askAlone(number, .change)
                continue
            }
            for (table, changes) in tables {
                guard let position = query.memberBranches[table] else { continue }
                let entity = query.memberEntity(of: table)
                if let entity, rows[entity] == nil {
                    let read = try await ask(number, because: .change) {
                        try await LiveQuery.rows(of: entity, changes.presentKeys, in: query.core)
                    }
                    guard let read else { break }
                    rows[entity] = read
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
            let part = try await ask { try await asked.query.members(at: asked.position, of: owners) }
            guard case .success(let part) = part else {
                // Which of them cannot be answered shows when each is asked alone.
                whole.formUnion(requests.keys)
                continue
            }
            for (number, own) in requests { parts[number, default: []].append((own.position, own.owners, part)) }
        }
        for number in whole { try await evaluate(number, .change) }
        for (number, parts) in parts where !whole.contains(number) {
            try await evaluating(number, because: .change) { query, latest in
                guard var snapshot = latest else { return nil }
                for (position, owners, part) in parts {
                    snapshot = snapshot.replacing(membersAt: position, of: owners, from: part)
                }
                return LiveFound(number: number, query: query, snapshot: snapshot, cause: .change)
            }
        }
    }

    /// A request that is asked together with other requests of its shape.
    private typealias Shaped = (number: Int, query: LiveQuery, shape: LiveQuery.Shape)

    /// Requests of one entity by their shapes.
    private func groups(of numbers: [Int]) async throws -> [[Shaped]] {
        var groups: [LiveQuery.Shape.Key: [Shaped]] = [:]
        for (number, query) in state.withLock({ state in numbers.map { ($0, state.sources.sources[$0]?.query) } }) {
            guard let query, let shape = try await ask(number, because: .change, { try query.shape() }) else {
                continue
            }
            groups[shape.key, default: []].append((number, query, shape))
        }
        let refused = state.withLock { $0.refused }
        return groups.flatMap { shape, group in refused.contains(shape) ? group.map { [$0] } : [group] }
    }

    /// The parts of the answers to requests of one shape that have the rows among some keys.
    private func parts(
        of group: [Shaped], among keys: [ObjectKey]
    ) async throws -> [(Shaped, LiveSnapshot)] {
        guard let first = group.first else { return [] }
        func ask(_ group: [Shaped]) async throws -> [LiveSnapshot] {
            let parts = try await LiveQuery.snapshots(of: group.map { ($0.query, $0.shape) }, among: keys)
            let isMissing = !parts.contains { !$0.rows.isEmpty } && holds(group, keys)
            if isMissing { try await reader.requireRows(of: [first.query.entity], with: settings) }
            return parts
        }
        if group.count == 1 {
            let parts = try await self.ask(first.number, because: .change) { try await ask(group) }
            return Array(zip(group, parts ?? []))
        }
        switch try await self.ask({ try await ask(group) }) {
        case .success(let parts): return Array(zip(group, parts))
        case .failure(let error):
            // Which of them cannot be answered shows when each is asked alone.
            if !error.isPassing { state.withLock { _ = $0.refused.insert(first.shape.key) } }
            var parts: [(Shaped, LiveSnapshot)] = []
            for request in group { parts += try await self.parts(of: [request], among: keys) }
            return parts
        }
    }

    /// The whole answer to a request; throws `SnapshotIsOutdated` where it has no rows and a table was written anew.
    private func snapshot(of query: LiveQuery, after latest: LiveSnapshot?) async throws -> LiveSnapshot {
        let snapshot = try await query.snapshot()
        let mayBeEmptied = snapshot.rows.isEmpty && latest?.rows.isEmpty != true
        if mayBeEmptied { try await reader.requireRows(of: query.followed, with: settings) }
        return snapshot
    }

    /// Whether last answers have rows with some keys.
    private func holds(_ group: [Shaped], _ keys: [ObjectKey]) -> Bool {
        let keys = Set(keys)
        let latest = state.withLock { state in group.compactMap { state.sources.sources[$0.number]?.latest } }
        return latest.contains { $0.rows.contains { keys.contains($0.key) } }
    }

    /// Asks a request anew.
    private func evaluate(_ number: Int, _ cause: LiveCause) async throws {
        try await evaluating(number, because: cause) { query, latest in
            LiveFound(
                number: number, query: query, snapshot: try await snapshot(of: query, after: latest), cause: cause)
        }
    }

    /// The answer to a request after changes of some rows; nil if it has none of them.
    ///
    /// - Parameter found: the part of the answer that has these rows.
    private func changed(
        _ number: Int, to query: LiveQuery, from latest: LiveSnapshot?, by keys: Set<ObjectKey>, _ found: LiveSnapshot
    ) async throws -> LiveFound? {
        guard let latest, !found.rows.isEmpty || latest.rows.contains(where: { keys.contains($0.key) })
        else { return nil }
        guard let snapshot = try query.replacing(keys, in: latest, with: found) else {
            return LiveFound(
                number: number, query: query, snapshot: try await self.snapshot(of: query, after: latest),
                cause: .change)
        }
        return LiveFound(
            number: number, query: query, snapshot: snapshot, cause: .change,
            changed: LiveSources.RowChanges(keys: keys, found: found.rows))
    }

    /// Runs a part of the step that is about one request.
    private func evaluating(
        _ number: Int, because cause: LiveCause, _ body: (LiveQuery, LiveSnapshot?) async throws -> LiveFound?
    ) async throws {
        guard let source = state.withLock({ $0.sources.sources[number] }) else { return }
        let found = try await ask(number, because: cause) { try await body(source.query, source.latest) }
        if let found = found.flatMap(\.self) { step.withLock { $0.found.append(found) } }
    }

    /// Sends a question of a request; nil if the request is asked alone, or has ended.
    ///
    /// - Parameter cause: why it is asked.
    private func ask<Answer: Sendable>(
        _ number: Int, because cause: LiveCause, _ body: () async throws -> Answer
    ) async throws -> Answer? {
        if isSlow(number) {
            askAlone(number, cause)
            return nil
        }
        switch try await ask(body) {
        case .success(let answer): return answer
        case .failure(let error):
            if error.isPassing { askAlone(number, cause) } else { giveUp([number], error) }
            return nil
        }
    }

    // MARK: Slow requests

    private func isSlow(_ number: Int) -> Bool { state.withLock { $0.slow.contains(number) } }

    /// Asks a request apart from the common step, which does not wait for it.
    private func askAlone(_ number: Int, _ cause: LiveCause) {
        let isThere = state.withLock { state in
            guard state.sources.sources[number] != nil else { return false }
            state.slow.insert(number)
            state.quick.remove(number)
            state.causes[number] = state.causes[number]?.merged(with: cause) ?? cause
            return true
        }
        guard isThere else { return }
        slowQuestions.ask(number) { [weak self] in
            try await self?.answerAlone(number)
        } orFail: { [weak self] error in
            self?.giveUp([number], error)
        }
    }

    private func answerAlone(_ number: Int) async throws {
        let asked = state.withLock { state in
            state.sources.sources[number].map { source in
                (
                    query: source.query, latest: source.latest,
                    cause: state.causes.removeValue(forKey: number) ?? .change,
                    joined: state.joining.filter { state.sources.number(of: $0) == number }
                )
            }
        }
        guard let asked else { return slowQuestions.end(number) }
        do {
            let found = try await reader.askAlone(asked.query.name, with: settings) {
                try await snapshot(of: asked.query, after: asked.latest)
            }
            let answer = LiveFound(number: number, query: asked.query, snapshot: found.answer, cause: asked.cause)
            give([answer], to: asked.joined, at: found.cursor)
            // Unless it is wished for again, it has a place in common steps again.
            state.withLock { if found.isQuick, $0.causes[number] == nil { $0.quick.insert(number) } }
        } catch  where isOutdated(error) {
            // The next common step finds out how it goes on.
            state.withLock { state in
                state.endSlow(number)
                state.renewed.insert(number)
            }
            slowQuestions.end(number)
            reader.askForStep()
        } catch {
            state.withLock { $0.causes[number] = $0.causes[number].map { asked.cause.merged(with: $0) } ?? asked.cause }
            throw error
        }
    }

    /// Returns when the requests that are asked alone have their answers.
    func catchUp() async throws { try await slowQuestions.catchUp() }

    // MARK: Ends

    /// Ends requests with an error; only for the consumers that it is about.
    private func giveUp(_ numbers: [Int], _ error: any Error, _ isAbout: (LiveConsumer) -> Bool = { _ in true }) {
        let (left, ended) = state.withLock { state in
            // One of them may have been why a shape was refused.
            state.refused = []
            let left = numbers.flatMap { state.sources.consumers(of: $0).filter(isAbout) }
            let ended = left.compactMap { state.sources.remove($0) }
            for number in ended { state.endSlow(number) }
            state.joining.removeAll { consumer in left.contains { $0 === consumer } }
            return (left, ended)
        }
        for number in ended { slowQuestions.end(number) }
        for consumer in left { consumer.fail(error) }
    }

    func commit(at cursor: ChangeCursor) {
        let step = step.withLock { step in
            defer { step = LiveHubStep() }
            return step
        }
        state.withLock { state in
            (state.renewed, state.attempts) = ([], 0)
            if step.hasCompared {
                // Tables that no request reads now were not compared.
                let read = state.sources.sources.values.reduce(into: Set<QualifiedName>()) {
                    $0.formUnion($1.query.tables.names)
                }
                state.tables = state.tables.filter { $0.key.names.isSubset(of: read) }
                state.definitionsAreDue = .now + Self.definitionsPause
            }
            for entity in step.read {
                state.missedRows[entity] = nil
                state.retries.end(entity)
            }
            state.dropEnded()
        }
        // A later answer to a request that is asked alone may have been given.
        let late = state.withLock { state in step.found.filter { state.slow.contains($0.number) } }
        let found = step.found.filter { found in !late.contains { $0.number == found.number } }
        give(found, to: step.joined, at: cursor)
        for found in late { askAlone(found.number, found.cause) }
    }

    /// Gives answers to the consumers of their requests, and first answers to new consumers.
    ///
    /// - Parameter joined: the consumers that were there before the questions were sent.
    private func give(_ found: [LiveFound], to joined: [LiveConsumer], at cursor: ChangeCursor) {
        let answers = state.withLock { state -> [(LiveConsumer, LiveAnswer)] in
            var answers: [(LiveConsumer, LiveAnswer)] = []
            let waiting = Set(state.joining.map { ObjectIdentifier($0) })
            for found in found {
                // Asked alone, the answer may be of a model that is no longer followed; the request is asked again.
                guard state.sources.sources[found.number]?.query.core.runtime === found.query.core.runtime else {
                    continue
                }
                let answer = LiveAnswer(
                    query: found.query, snapshot: found.snapshot, cause: found.cause, cursor: cursor)
                for consumer in state.sources.set(found.snapshot, of: found.number, changed: found.changed)
                where !waiting.contains(ObjectIdentifier(consumer)) {
                    answers.append((consumer, answer))
                }
            }
            let answered = Set(found.map(\.number))
            var left: Set<ObjectIdentifier> = []
            for consumer in joined where waiting.contains(ObjectIdentifier(consumer)) {
                guard let number = state.sources.number(of: consumer), let source = state.sources.sources[number],
                    let latest = source.latest, answered.contains(number) || !state.isBehind(number)
                else { continue }
                left.insert(ObjectIdentifier(consumer))
                let answer = LiveAnswer(query: source.query, snapshot: latest, cause: .first, cursor: cursor)
                answers.append((consumer, answer))
            }
            // A request that the server has not answered yet is asked again.
            state.joining.removeAll { left.contains(ObjectIdentifier($0)) }
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
        let (consumers, slow) = state.withLock { state in
            state.isClosed = true
            defer { (state.sources, state.joining, state.slow, state.quick) = (LiveSources(), [], [], []) }
            return (state.sources.sources.values.flatMap(\.consumers.values), state.slow)
        }
        for number in slow { slowQuestions.end(number) }
        for consumer in consumers { consumer.fail(error) }
        count()
    }
}
