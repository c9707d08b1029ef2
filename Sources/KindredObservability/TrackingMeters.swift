import Kindred
import Metrics
import Synchronization

/// Measures subscribers and live requests of a database; makes its instruments when the first of them begins.
final class TrackingMeters: Sendable {
    private struct Instruments: Sendable {
        let subscribers: Meter
        let liveRequests: Meter
        let listening: Meter
        let backlog: Meter
        let oldest: Meter
        let slowQuestions: Meter
        let readings: Counter
        let records: Counter
        let statements: Counter
        let readerStatements: Counter
        let wakeUps: Counter
        let retries: Counter

        init(_ dimensions: [(String, String)]) {
            subscribers = Meter(label: "kindred.tracking.subscribers", dimensions: dimensions)
            liveRequests = Meter(label: "kindred.tracking.live_requests", dimensions: dimensions)
            listening = Meter(label: "kindred.tracking.listening", dimensions: dimensions)
            backlog = Meter(label: "kindred.tracking.backlog", dimensions: dimensions)
            oldest = Meter(label: "kindred.tracking.oldest_record", dimensions: dimensions)
            slowQuestions = Meter(label: "kindred.tracking.slow_questions", dimensions: dimensions)
            readings = Counter(label: "kindred.tracking.readings", dimensions: dimensions)
            records = Counter(label: "kindred.tracking.records", dimensions: dimensions)
            statements = Counter(label: "kindred.tracking.statements", dimensions: dimensions)
            readerStatements = Counter(label: "kindred.tracking.reader_statements", dimensions: dimensions)
            wakeUps = Counter(label: "kindred.tracking.wake_ups", dimensions: dimensions)
            retries = Counter(label: "kindred.tracking.retries", dimensions: dimensions)
        }
    }

    private struct State {
        var figures = Tracking.Metrics()
        var instruments: Instruments?
    }

    private let dimensions: [(String, String)]
    private let last = Mutex(State())

    init(_ place: DatabasePlace) { dimensions = place.dimensions }

    func report(_ figures: Tracking.Metrics) {
        let (before, instruments) = last.withLock { last -> (Tracking.Metrics, Instruments?) in
            // Another task may come with older figures.
            let known = last.figures
            guard figures != known, figures.readings >= known.readings, figures.retries >= known.retries,
                figures.statements >= known.statements, figures.readerStatements >= known.readerStatements,
                figures.wakeUps >= known.wakeUps
            else { return (figures, nil) }
            defer { last.figures = figures }
            let instruments = last.instruments ?? Instruments(dimensions)
            last.instruments = instruments
            return (last.figures, instruments)
        }
        guard let instruments else { return }
        instruments.subscribers.set(figures.subscribers)
        instruments.liveRequests.set(figures.liveRequests)
        instruments.listening.set(figures.isListening ? 1 : 0)
        instruments.backlog.set(figures.backlog)
        instruments.oldest.set(figures.oldestRecord / .seconds(1))
        instruments.slowQuestions.set(figures.slowQuestions.count)
        for (counter, count) in [
            (instruments.readings, figures.readings - before.readings),
            (instruments.records, figures.records - before.records),
            (instruments.statements, figures.statements - before.statements),
            (instruments.readerStatements, figures.readerStatements - before.readerStatements),
            (instruments.wakeUps, figures.wakeUps - before.wakeUps),
            (instruments.retries, figures.retries - before.retries),
        ] where count > 0 {
            counter.increment(by: count)
        }
        for (reason, count) in figures.gaps where count > before.gaps[reason, default: 0] {
            Counter(label: "kindred.tracking.gaps", dimensions: dimensions + [("kindred.tracking.reason", reason)])
                .increment(by: count - before.gaps[reason, default: 0])
        }
    }
}
