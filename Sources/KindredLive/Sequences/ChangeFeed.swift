import Kindred
import KindredPostgres
import KindredSchema

/// Collects the changes of some entities until their consumer takes them.
///
/// A consumer that begins at an old cursor is behind: its records are read piece by piece, each when the last piece was
/// taken. Then it joins the other consumers, whose changes are read once for all of them.
final class ChangeFeed: ChangeSubscriber {
    private enum Place {
        case joined
        case behind(ChangeCursor)
    }

    /// Changes that no crash takes back once the step is committed.
    private struct Staged {
        var changes: [QualifiedName: TableChanges] = [:]
        var rights: [QualifiedName: String] = [:]
        var cursor: ChangeCursor
        var place: Place
    }

    /// The changes that were collected, and the place behind them.
    struct Delivery {
        let changes: [QualifiedName: TableChanges]
        let cursor: ChangeCursor
    }

    private struct State {
        var place: Place
        var staged: Staged?
        var pending: [QualifiedName: TableChanges] = [:]
        var cursor: ChangeCursor?
        /// The rights with which the role could not read tables when their changes were told.
        var rights: [QualifiedName: String] = [:]
        /// Where it began.
        var start: ChangeCursor?
        var failure: (any Error)?
        /// Why it ends behind the changes of the next step.
        var end: (any Error)?

        /// Whether the consumer has taken all collected changes.
        var isTaken: Bool { pending.allSatisfy(\.value.isEmpty) }

        mutating func take() -> Delivery? {
            guard !isTaken, let cursor else { return nil }
            defer { pending = [:] }
            return Delivery(changes: pending.filter { !$0.value.isEmpty }, cursor: cursor)
        }
    }

    private let reader: ChangeReader
    private let followed: [EntityRuntime]
    private let entities: Set<QualifiedName>
    private let limit: Int
    private let queue: WaitQueue<State, Void, Result<Delivery, any Error>>

    /// Makes a feed.
    ///
    /// - Parameters:
    ///   - since: where it begins; nil for the present.
    ///   - limit: the number of keys above which the consumer is too slow.
    init(_ reader: ChangeReader, of followed: [EntityRuntime], since: ChangeCursor?, limit: Int) {
        (self.reader, self.followed) = (reader, followed)
        entities = Set(followed.map(\.name))
        self.limit = limit
        let place = since.map { Place.behind($0) } ?? .joined
        queue = WaitQueue(State(place: place, cursor: since, start: since)) { state, _ in
            if let delivery = state.take() { return .success(delivery) }
            return state.failure.map { .failure($0) }
        }
    }

    var asks: Bool { false }

    // MARK: The consumer's view

    /// The place before the first changes; nil before its first step.
    var start: ChangeCursor? { queue.change { $0.start } }

    /// Whether all changes that the reader has told were taken.
    var isEmptied: Bool {
        queue.change { state in
            guard case .joined = state.place else { return false }
            return state.staged == nil && state.isTaken
        }
    }

    /// Waits for changes.
    ///
    /// - Throws: `CancellationError`, `WaitTimeout`, or why there will be none.
    func next(within timeout: Duration? = nil) async throws -> Delivery {
        let delivery = try await queue.wait(for: (), by: timeout.map { .now + $0 } ?? .never).get()
        if wantsStep { reader.askForStep() }
        return delivery
    }

    // MARK: The reader's view

    /// While it is behind, the next piece is read when the last was taken.
    var wantsStep: Bool {
        queue.change { state in
            guard case .behind = state.place else { return false }
            return state.isTaken
        }
    }

    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) async throws {
        let (place, isTaken) = queue.change { state in
            state.staged = nil
            return (state.place, state.isTaken)
        }
        let changes = batch.map(told) ?? [:]
        var own: ChangeCursor?
        if case .behind(let cursor) = place {
            own = cursor
        } else if changes.values.contains(where: { $0.gap == .overflow }) {
            // Too much for one step, as after a long pause of the process: it goes on by pieces.
            own = reader.cursor
        }
        var staged = Staged(changes: changes, rights: batch?.rights ?? [:], cursor: cursor, place: .joined)
        if let own {
            staged = isTaken ? try await piece(from: own, at: cursor) : Staged(cursor: own, place: .behind(own))
        }
        queue.change { $0.staged = staged }
    }

    /// The changes of the followed entities.
    ///
    /// Of a table that the role may not read changes are told once, until its rights change.
    private func told(_ batch: CommittedBatch) -> [QualifiedName: TableChanges] {
        let known = queue.change { $0.rights }
        return batch.changes.filter { name, changes in
            guard entities.contains(name) else { return false }
            return changes.gap != .accessDenied || known[name] == nil || known[name] != batch.rights[name]
        }
    }

    /// Reads the next piece of a consumer that is behind; with the last piece it joins the other consumers, whose place
    /// is `cursor`.
    private func piece(from own: ChangeCursor, at cursor: ChangeCursor) async throws -> Staged {
        var reading = try await reader.read(from: own, limit: 10_000)
        if let refusal = reading.refusal {
            let changes = entities.map { ($0, TableChanges(gap: refusal)) }
            return Staged(changes: Dictionary(uniqueKeysWithValues: changes), cursor: cursor, place: .joined)
        }
        if reading.batch.changes.values.contains(where: { $0.gap == .overflow }) {
            // Records of many rows each.
            reading = try await reader.read(from: own, limit: 100)
        }
        return Staged(
            changes: told(reading.batch), rights: reading.batch.rights,
            cursor: reading.isLast ? cursor : reading.cursor,
            place: reading.isLast ? .joined : .behind(reading.cursor))
    }

    func adapt(to tables: PresentTables, hasFailed: Bool) {
        let end = followed.lazy.compactMap { tables.end(of: $0, asTable: true) }.first
        queue.change { $0.end = end }
    }

    func commit(at cursor: ChangeCursor) {
        queue.change { state in
            guard let staged = state.staged, state.failure == nil else { return }
            // A consumer that is behind gets the changes before it first, and the end with the last piece.
            if case .joined = staged.place { state.failure = state.end }
            state.staged = nil
            (state.place, state.cursor) = (staged.place, staged.cursor)
            state.rights.merge(staged.rights) { $1 }
            if state.start == nil { state.start = staged.cursor }
            let isWaiting = !state.isTaken
            for (name, changes) in staged.changes { state.pending[name, default: TableChanges()].merge(changes) }
            // The consumer gets all changes of one step, however many they are.
            guard isWaiting, state.pending.values.reduce(0, { $0 + $1.count }) > limit else { return }
            for name in entities {
                state.pending[name] = TableChanges(gap: state.pending[name]?.gap ?? .overflow)
            }
        }
    }

    func fail(_ error: any Error) { queue.change { $0.failure = error } }
}
