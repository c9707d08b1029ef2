import Kindred
import KindredPostgres

/// The requests of a live hub, and the questions that are left to ask for them.
struct LiveHubState: Sendable {
    var sources = LiveSources()
    /// The consumers that need a first answer from a step that begins after they came.
    var joining: [LiveConsumer] = []
    var isClosed = false
    /// The number of distinct requests that the metrics have.
    var counted = 0
    /// The requests that the server does not answer in the time of a common step: they are asked alone.
    var slow: Set<Int> = []
    /// The slow requests that were answered in time when they were asked alone: the next step has them.
    ///
    /// The running step does not: its snapshot may be older than their answers.
    var quick: Set<Int> = []
    /// The causes of their next updates.
    var causes: [Int: LiveCause] = [:]
    /// The rows that could not be read in a step, for the requests that are found by their values.
    var missedRows: [EntityRuntime: Set<ObjectKey>] = [:]
    /// The entities of these rows, and when they are read.
    var retries = StepRetries<EntityRuntime>()
    /// The shapes that the server always refuses to answer together, for instance because the joint statement's
    /// values would meet a domain's CHECK.
    var refused: Set<LiveQuery.Shape.Key> = []
    /// The tables behind relations, as the catalog said while a model was in use.
    var tables: [LiveTables.Key: LiveTables] = [:]
    /// The requests that are asked anew since their tables were changed.
    var renewed: Set<Int> = []
    /// How often the requests have been adapted to the tables since the last step that succeeded.
    var attempts = 0
    /// When they are compared with the catalog again, at the latest.
    var definitionsAreDue = MonotonicTime.now + LiveHub.definitionsPause

    /// Whether the last answer to a request may lack changes of the last step.
    func isBehind(_ number: Int) -> Bool {
        if slow.contains(number) { return true }
        guard let query = sources.sources[number]?.query, query.equalities != nil else { return false }
        return missedRows[query.entity] != nil
    }

    /// The consumers that a common step gives their first answers.
    var mayJoin: some Sequence<LiveConsumer> {
        joining.lazy.filter { consumer in sources.number(of: consumer).map { !isBehind($0) } ?? false }
    }

    /// Gives requests that are no longer slow to the step that begins now.
    mutating func takeQuick() {
        slow.subtract(quick)
        quick = []
    }

    /// Lets a request go on with other tables.
    mutating func renew(_ number: Int, _ query: LiveQuery) {
        sources.renew(number, query)
        if sources.sources[number]?.latest != nil { renewed.insert(number) }
        refused = []
    }

    /// Forgets that a request is asked alone, if it is.
    mutating func endSlow(_ number: Int) {
        slow.remove(number)
        quick.remove(number)
        causes[number] = nil
    }

    /// Drops the rows of requests that have ended.
    mutating func dropEnded() {
        if missedRows.isEmpty { return }
        missedRows = missedRows.filter { sources.core(of: $0.key) != nil }
        retries.keep { [missedRows] in missedRows[$0] != nil }
    }
}

/// An answer that a step has found.
struct LiveFound: Sendable {
    let number: Int
    let query: LiveQuery
    let snapshot: LiveSnapshot
    let cause: LiveCause
    var changed: LiveSources.RowChanges?
}

/// The answers that the running step has found so far, and the consumers that were there before it began.
struct LiveHubStep: Sendable {
    var found: [LiveFound] = []
    var joined: [LiveConsumer] = []
    /// The entities whose changed rows were read, for the requests that are found by their values.
    var read: Set<EntityRuntime> = []
    /// Whether definitions were compared.
    var hasCompared = false
}
