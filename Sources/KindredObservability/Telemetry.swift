public import Kindred
public import KindredPostgres
import Metrics
import Tracing

/// The reports of a client to the program's metrics and tracing, under OpenTelemetry's names for databases.
///
/// ```swift
/// import KindredObservability
///
/// let telemetry = database.addTelemetry()   // keep it: reporting ends with the last reference
/// ```
///
/// Bootstrap `InstrumentationSystem` and `MetricsSystem` before adding telemetry: without either, statements are not even
/// observed. A span is a child of the calling task's. Reports never have values of rows or parameters.
public struct Telemetry: Sendable {
    /// Whether to measure `db.client.operation.duration` and `db.client.connection.*`.
    public var measures = true
    /// Whether to report each statement as a span.
    public var traces = true
    /// Whether to report spans for BEGIN, COMMIT and the like, too.
    public var tracesTransactions = true
    /// Whether spans have the statement's text, with `$1`, `$2`, … for its parameters.
    ///
    /// In raw SQL, interpolated values are parameters, but literals are shown.
    public var showsText = true

    /// Reports everything.
    public init() {}
}

extension PostgresClient {
    /// Reports statements as spans and metrics until the returned observation is cancelled or released.
    ///
    /// Sends nothing. The pool's gauges are updated whenever a statement ends. Costs nothing if the program has neither a
    /// tracer nor a metrics system: bootstrap them first.
    public func addTelemetry(_ telemetry: Telemetry = Telemetry()) -> StatementObservation {
        addTelemetry(telemetry, to: InstrumentationSystem.tracer, MetricsSystem.factory)
    }

    func addTelemetry(
        _ telemetry: Telemetry, to tracer: any Tracer, _ factory: any MetricsFactory,
        tracking: (@Sendable () -> Tracking.Metrics?)? = nil, reads: (@Sendable () -> ReadMetrics?)? = nil
    ) -> StatementObservation {
        let place = DatabasePlace(configuration)
        let spans = telemetry.traces && !(tracer is NoOpTracer) ? StatementSpans(place, telemetry) : nil
        let metrics = telemetry.measures && !(factory is NOOPMetricsHandler) ? StatementMetrics(place) : nil
        let meters = metrics == nil || tracking == nil ? nil : TrackingMeters(place)
        let readMeters = metrics == nil || reads == nil ? nil : ReadMeters(place)
        if spans == nil, metrics == nil { return .ofNothing }
        let summaries = StatementSummaries()
        // Weak, because the client keeps the handler.
        return addObserver { [weak self] event in
            let operation = summaries.summary(of: event.sql)
            spans?.report(event, operation)
            metrics?.report(event, operation)
            if let metrics, let figures = self?.metrics, let maximum = self?.configuration.pool.maximumConnections {
                metrics.report(figures, maximum: maximum)
            }
            if let meters, let figures = tracking?() { meters.report(figures) }
            if let readMeters, let figures = reads?() { readMeters.report(figures) }
        }
    }
}

extension Database {
    /// Reports statements as spans and metrics until the returned observation is cancelled or released.
    ///
    /// Sends nothing; see `PostgresClient.addTelemetry`. Subscribers and live requests are measured as
    /// `kindred.tracking.*`, reads by their server as `kindred.reads` and `kindred.replica.*`.
    public func addTelemetry(_ telemetry: Telemetry = Telemetry()) -> StatementObservation {
        client.addTelemetry(
            telemetry, to: InstrumentationSystem.tracer, MetricsSystem.factory,
            tracking: { [weak self] in self?.trackingMetrics }, reads: { [weak self] in self?.readMetrics })
    }
}
