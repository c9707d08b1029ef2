import Kindred
import Synchronization
import TestSupport

/// The findings of a soak: faults, refusals, times and memory.
final class SoakBooks: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The faults of which there are to be none.
    enum Fault: String, CaseIterable {
        case lost = "acknowledged writes lost"
        case doubled = "acknowledged writes doubled"
        case wrong = "wrong or stale answers"
        case ended = "lists that ended unasked"
    }

    /// An event, with the times since it began.
    private struct Event {
        let name: String
        var beganAt: Instant
        /// Since when an answer says that the event is over.
        var answersFrom: Instant
        /// When the server answered a call that began then.
        var firstAnswer: Duration?
        /// When all lists and contexts were equal to SQL, while nothing was written.
        var agreement: Duration?
        var isLeftOut = false
    }

    private struct State {
        var faults: [Fault: Int] = [:]
        var examples: [String] = []
        var events: [Event] = []
        var refusals: [String: Int] = [:]
        var causes: [String: Int] = [:]
        var memory: [Int] = []
        var heap: [Int] = []
        var mostConnections = 0
        var answers = 0
    }

    let start = ContinuousClock.now
    private let state = Mutex(State())

    // MARK: Notes

    /// Notes a fault, and prints it at once: the events around it tell the cause.
    func note(_ fault: Fault, _ text: String, count: Int = 1) {
        let line = "\(seconds(ContinuousClock.now - start)) s: \(fault.rawValue): \(text)"
        let isExample = state.withLock { state in
            state.faults[fault, default: 0] += count
            guard state.examples.count < 20 else { return false }
            state.examples.append(line)
            return true
        }
        if isExample { print("soak: \(line)") }
    }

    func count(_ fault: Fault) -> Int { state.withLock { $0.faults[fault, default: 0] } }

    /// The first faults, with their times.
    var examples: [String] { state.withLock { $0.examples } }

    /// Notes a call that was refused: no fault, as its caller knows that it was not answered.
    func refused(_ error: any Error, _ place: String) {
        let reason: String
        switch error {
        case is CancellationError: return
        case let error as PostgresError:
            reason = "\(error.code)" + (error.sqlState.map { " \($0.rawValue)" } ?? "")
        case let error as KindredError:
            let state = error.underlying?.sqlState.map { " \($0.rawValue)" } ?? ""
            reason = "\(error.code)" + state
        default: reason = "\(type(of: error))"
        }
        state.withLock { $0.refusals["\(place): \(reason)", default: 0] += 1 }
    }

    /// The refusals of a server that had no connection left.
    var refusedConnections: Int {
        state.withLock { $0.refusals.filter { $0.key.hasSuffix(" 53300") }.values.reduce(0, +) }
    }

    func noteCause(_ cause: String) { state.withLock { $0.causes[cause, default: 0] += 1 } }

    /// Notes the beginning of an event.
    func begin(_ event: String) {
        print("soak: \(seconds(ContinuousClock.now - start)) s: \(event)")
        state.withLock { $0.events.append(Event(name: event, beganAt: .now, answersFrom: .now)) }
    }

    /// Notes that no server takes writes since some time: only answers from now on come behind the event.
    func outage(since start: Instant) {
        state.withLock { state in
            guard let last = state.events.indices.last else { return }
            (state.events[last].beganAt, state.events[last].answersFrom) = (start, .now)
            state.events[last].firstAnswer = nil
        }
    }

    /// Notes that the machine does not allow an event.
    func leaveOut(_ event: String) {
        state.withLock { $0.events.append(Event(name: event, beganAt: .now, answersFrom: .now, isLeftOut: true)) }
    }

    /// Notes that a call which began at a time was answered.
    func answered(callFrom start: Instant) {
        state.withLock { state in
            state.answers += 1
            guard let last = state.events.indices.last, state.events[last].firstAnswer == nil,
                start >= state.events[last].answersFrom
            else { return }
            state.events[last].firstAnswer = .now - state.events[last].beganAt
        }
    }

    /// Notes that everything that is shown equals SQL.
    func agreed() {
        state.withLock { state in
            guard let last = state.events.indices.last, state.events[last].agreement == nil else { return }
            state.events[last].agreement = .now - state.events[last].beganAt
        }
    }

    /// The events after which no call was answered.
    var unanswered: [String] {
        state.withLock { $0.events.filter { $0.firstAnswer == nil && !$0.isLeftOut }.map(\.name) }
    }

    func sample(memory: Int?, heap: Int?, connections: Int?) {
        state.withLock { state in
            if let memory { state.memory.append(memory) }
            if let heap { state.heap.append(heap) }
            state.mostConnections = max(state.mostConnections, connections ?? 0)
        }
    }

    /// The highest of each half of the samples, in bytes.
    private func halves(_ samples: [Int]) -> (first: Int, second: Int) {
        let middle = samples.count / 2
        return (samples[..<middle].max() ?? 0, samples[middle...].max() ?? 0)
    }

    /// By how much the memory of the second half is above that of the first, as a part of that one.
    var growth: Double {
        let (first, second) = state.withLock { halves($0.memory) }
        return first == 0 ? 0 : Double(second - first) / Double(first)
    }

    // MARK: The table

    private func seconds(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        let hundredths = duration.components.seconds * 100 + duration.components.attoseconds / 10_000_000_000_000_000
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// The table of a soak.
    func table(_ facts: [(String, String)]) -> String {
        state.withLock { state in
            var lines = facts.map { padded($0, 50) + $1 }
            lines += Fault.allCases.map { padded($0.rawValue, 50) + "\(state.faults[$0, default: 0])" }
            let (memory, heap) = (halves(state.memory), halves(state.heap))
            func megabytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
            let change = memory.first == 0 ? 0 : Double(memory.second - memory.first) / Double(memory.first) * 100
            lines.append(
                padded("memory, highest of the first and second half", 50)
                    + " \(megabytes(memory.first)), \(megabytes(memory.second)) (\((change * 10).rounded() / 10) %)")
            lines.append(
                padded("heap in use, the same", 50) + "\(megabytes(heap.first)), \(megabytes(heap.second))")
            lines.append(padded("most connections of the program", 50) + "\(state.mostConnections)")
            lines.append(padded("answers of the probe", 50) + "\(state.answers)")
            lines.append("")
            lines.append(
                padded("event", 36) + padded("times", 8) + padded("first good answer", 26) + "all lists equal to SQL")
            for name in Set(state.events.map(\.name)).sorted() {
                let events = state.events.filter { $0.name == name }
                guard !events.allSatisfy(\.isLeftOut) else {
                    lines.append(padded(name, 36) + "left out: the machine does not allow it")
                    continue
                }
                func range(_ times: [Duration?]) -> String {
                    let known = times.compactMap(\.self).sorted()
                    guard let least = known.first, let most = known.last else { return "-" }
                    return known.count == 1 ? "\(seconds(most)) s" : "\(seconds(least)) to \(seconds(most)) s"
                }
                lines.append(
                    padded(name, 36) + padded("\(events.count)", 8) + padded(range(events.map(\.firstAnswer)), 26)
                        + range(events.map(\.agreement)))
            }
            func counts(_ title: String, _ counts: [String: Int]) {
                guard !counts.isEmpty else { return }
                lines.append("")
                lines.append(title)
                for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                    lines.append("  " + padded(name, 60) + "\(count)")
                }
            }
            counts("calls refused, whose callers were told so:", state.refusals)
            counts("updates of lists by cause:", state.causes)
            if !state.examples.isEmpty { lines += ["", "faults:"] + state.examples.map { "  " + $0 } }
            return lines.joined(separator: "\n")
        }
    }
}

/// Keeps workers out while the lists are compared with SQL.
final class SoakGate: Sendable {
    private struct State {
        var isClosed = false
        var inside = 0

        mutating func enter() -> Bool {
            guard !isClosed else { return false }
            inside += 1
            return true
        }
    }

    private let state = Mutex(State())

    /// Runs `body` as soon as the gate is open; not at all in a cancelled task.
    func pass(_ body: () async -> Void) async {
        while !state.withLock({ $0.enter() }) {
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return }
        }
        await body()
        state.withLock { $0.inside -= 1 }
    }

    /// Returns once all workers are outside.
    func close() async throws {
        state.withLock { $0.isClosed = true }
        while state.withLock({ $0.inside }) > 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    func open() { state.withLock { $0.isClosed = false } }
}
