import KindredPostgres
import Tracing

/// Reports each statement as a finished span: events arrive after the answer.
struct StatementSpans: Sendable {
    private let place: DatabasePlace
    private let telemetry: Telemetry

    init(_ place: DatabasePlace, _ telemetry: Telemetry) {
        self.place = place
        self.telemetry = telemetry
    }

    func report(_ event: StatementEvent, _ summary: StatementSummary) {
        guard event.kind == .statement || telemetry.tracesTransactions else { return }
        let end = DefaultTracerClock().now
        let duration = event.duration.components
        let nanoseconds = UInt64(clamping: duration.seconds * 1_000_000_000 + duration.attoseconds / 1_000_000_000)
        let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end.nanosecondsSinceEpoch &- nanoseconds)
        let span = startSpan(
            summary.text,
            at: start,
            ofKind: .client
        )
        span.updateAttributes { attributes in
            attributes["db.system.name"] = "postgresql"
            attributes["db.operation.name"] = summary.operation
            attributes["db.query.summary"] = summary.text
            if telemetry.showsText { attributes["db.query.text"] = event.sql }
            if let namespace = place.namespace { attributes["db.namespace"] = namespace }
            if let address = place.address { attributes["server.address"] = address }
            if let port = place.port { attributes["server.port"] = Int(port) }
            if let rows = event.rows { attributes["db.response.returned_rows"] = rows }
            if let state = event.error?.sqlState { attributes["db.response.status_code"] = "\(state)" }
            if let error = event.error { attributes["error.type"] = error.reportedType }
            if let place = event.place {
                attributes["code.file.path"] = place.fileID
                attributes["code.line.number"] = place.line
            }
        }
        // The error's description, which has no values.
        if let error = event.error { span.setStatus(SpanStatus(code: .error, message: "\(error)")) }
        span.end(at: end)
    }
}

extension PostgresError {
    /// The SQLSTATE, or the client's code if the error is not the server's.
    var reportedType: String { sqlState.map { "\($0)" } ?? "\(code)" }
}
