import Logging
import Synchronization

/// The first look at the servers of a client that writes to one of them: all are asked at once.
///
/// A former primary that has not noticed its end answers as the primary does, and may be the first of the list. So the
/// client takes the server of the highest timeline, once each has answered or failed; for silent servers it does not
/// wait for long.
final class PrimarySearch: PolledSource {
    typealias Opened = Connector.Opened
    /// Opens a connection to one of the servers, on a thread of its own.
    typealias Opening =
        @Sendable (
            _ server: PostgresConfiguration, _ search: PrimarySearch
        ) throws(PostgresError) -> Opened

    /// A server's connection, or the reason why it is not used.
    private struct Answer {
        let place: Int
        let result: Result<Opened, PostgresError>

        var opened: Opened? { if case .success(let opened) = result { opened } else { nil } }
        var error: PostgresError? { if case .failure(let error) = result { error } else { nil } }
    }

    private struct State {
        var answers: [Answer] = []
        /// Whether the time for silent servers is over.
        var isLate = false
        var isOver = false
    }

    private let servers: [PostgresConfiguration]
    private let record: PrimaryRecord
    private let logger: Logger?
    /// The end of the time for silent servers.
    private let end: MonotonicTime
    private let finish: @Sendable (Result<Opened, PostgresError>) -> Void
    private let state = RankedMutex(State(), .leaf)

    private init(
        _ configuration: PostgresConfiguration, _ record: PrimaryRecord, logger: Logger?,
        finish: @escaping @Sendable (Result<Opened, PostgresError>) -> Void
    ) {
        (servers, self.record, self.logger, self.finish) = (configuration.servers, record, logger, finish)
        end = .now + min(configuration.primarySearchTimeout, configuration.connectTimeout)
    }

    /// Asks all servers of a configuration, and finishes with a connection to the primary.
    static func begin(
        _ configuration: PostgresConfiguration, _ record: PrimaryRecord, logger: Logger?, opening: @escaping Opening,
        finish: @escaping @Sendable (Result<Opened, PostgresError>) -> Void
    ) throws(PostgresError) {
        let search = PrimarySearch(configuration, record, logger: logger, finish: finish)
        try Poller.shared.addTimed(search)
        Poller.shared.wake(by: search.end)
        for (place, server) in search.servers.enumerated() {
            do throws(PostgresError) {
                try DedicatedThread.start {
                    search.take(
                        Answer(
                            place: place,
                            result: Result { () throws(PostgresError) in try opening(server, search) }))
                }
            } catch {
                search.take(Answer(place: place, result: .failure(error)))
            }
        }
    }

    /// Whether it was decided, so that pending questions are of no use.
    var isOver: Bool { state.withLock { $0.isOver } }

    func socketIsReady() {}

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        guard now >= end else { return end }
        conclude { $0.isLate = true }
        return .never
    }

    private func take(_ answer: Answer) {
        let isTooLate = conclude { state in
            if !state.isOver { state.answers.append(answer) }
            return state.isOver
        }
        if isTooLate { answer.opened?.handle.finish() }
    }

    /// Ends the search if it is decided after a change.
    @discardableResult
    private func conclude<T: Sendable>(after change: (inout State) -> T) -> T {
        let (value, answers): (T, [Answer]?) = state.withLock { state in
            let value = change(&state)
            let isDecided =
                state.answers.count == servers.count
                || state.isLate && state.answers.contains { $0.opened != nil }
            guard isDecided, !state.isOver else { return (value, nil) }
            state.isOver = true
            return (value, state.answers.sorted { $0.place < $1.place })
        }
        guard let answers else { return value }
        Poller.shared.removeTimed(self)
        nameSilentServers(answers)
        let result = Result { () throws(PostgresError) in try choose(from: answers) }
        let place = try? result.get().place
        for answer in answers where answer.place != place { answer.opened?.handle.finish() }
        finish(result.map(\.opened))
        return value
    }

    private func nameSilentServers(_ answers: [Answer]) {
        for (place, server) in servers.enumerated() where !answers.contains(where: { $0.place == place }) {
            logger?.warning(
                "a server has not answered in time, so that it is not known whether it is the primary",
                metadata: ["server": "\(server)"])
        }
    }

    /// Chooses among the answers, in the order of the list.
    private func choose(from answers: [Answer]) throws(PostgresError) -> (place: Int, opened: Opened) {
        var failures: [PostgresError] = []
        var writable: [(place: Int, opened: Opened)] = []
        for answer in answers {
            switch answer.result {
            case .success(let opened): writable.append((answer.place, opened))
            case .failure(let error):
                // As libpq does: a server that refuses the role or the database ends the walk.
                if writable.isEmpty, error.isPermanent || error.code == .tooManyOpenFiles { throw error }
                failures.append(error)
            }
        }
        // A server of another cluster than the first server's is not used. A server without positions is taken as it
        // is.
        let system = writable.first?.opened.primary?.system
        let known = writable.filter { system != nil && $0.opened.primary?.system == system }
        let ordered =
            system == nil
            ? writable
            : known.sorted { a, b in
                let (timelineOfA, timelineOfB) = (a.opened.primary?.timeline ?? 0, b.opened.primary?.timeline ?? 0)
                return timelineOfA == timelineOfB ? a.place < b.place : timelineOfA > timelineOfB
            }
        for (place, opened) in ordered {
            if let sighting = opened.primary, let reason = record.admit(sighting) {
                failures.append(
                    PostgresError(.connectionFailed, "\(servers[place]) is not written to: \(reason)"))
                continue
            }
            if let own = opened.primary,
                ordered.contains(where: { $0.opened.primary.map(own.isRival) == true })
            {
                logger?.critical("two servers take writes on the same timeline; nothing is written to either")
                try record.noteRival()
            }
            record.note(place: place)
            record.noteFound()
            return (place, opened)
        }
        throw PostgresError(summary: failures)
    }
}
