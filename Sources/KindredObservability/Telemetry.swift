public import Kindred
public import KindredPostgres
import Metrics
import Tracing

/// What a client reports to the program's metrics and tracing, under OpenTelemetry's names for databases.
///
/// ```swift
/// import KindredObservability
///
/// let telemetry = database.addTelemetry()   // keep it: it ends when nobody does
/// ```
///
/// Spans and metrics go wherever `InstrumentationSystem` and `MetricsSystem` were told to send them before telemetry is
/// added: where neither was told anything, statements are not even observed. A span is a child of the one that the calling
/// task is in. Nothing that is reported holds a value of a row or a parameter.
public struct Telemetry: Sendable {
    /// Whether `db.client.operation.duration` and `db.client.connection.*` are measured.
    public var measures = true
    /// Whether each statement becomes a span.
    public var traces = true
    /// Whether BEGIN, COMMIT and their like become spans too.
    public var tracesTransactions = true
    /// Whether spans have the statement's text, with `$1`, `$2`, … for its parameters.
    ///
    /// Raw SQL shows what is written into it: interpolated values are parameters, literals are text.
    public var showsText = true

    /// Reports everything.
    public init() {}
}

extension PostgresClient {
    /// Reports statements as spans and metrics from now on, until the returned observation is cancelled or forgotten.
    ///
    /// Sends nothing. The pool's figures are taken whenever a statement ends. Costs nothing where the program has neither a
    /// tracer nor a metrics system: bootstrap them first.
    public func addTelemetry(_ telemetry: Telemetry = Telemetry()) -> StatementObservation {
        addTelemetry(telemetry, to: InstrumentationSystem.tracer, MetricsSystem.factory)
    }

    func addTelemetry(
        _ telemetry: Telemetry, to tracer: any Tracer, _ factory: any MetricsFactory
    ) -> StatementObservation {
        let place = DatabasePlace(configuration)
        let spans = telemetry.traces && !(tracer is NoOpTracer) ? StatementSpans(place, telemetry) : nil
        let metrics = telemetry.measures && !(factory is NOOPMetricsHandler) ? StatementMetrics(place) : nil
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
        }
    }
}

extension Database {
    /// Reports statements as spans and metrics from now on, until the returned observation is cancelled or forgotten.
    ///
    /// Sends nothing; see `PostgresClient.addTelemetry`.
    public func addTelemetry(_ telemetry: Telemetry = Telemetry()) -> StatementObservation {
        client.addTelemetry(telemetry)
    }
}
