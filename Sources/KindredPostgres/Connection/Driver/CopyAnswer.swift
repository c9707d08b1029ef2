import CLibPQ

/// Detects that the server answered a COPY FROM before the end of its data.
///
/// During such a COPY libpq returns notices, and withholds an answer until the data ends. So the bytes that it read are
/// compared with the bytes that it returned: the difference is an answer, or a partial notice.
struct CopyAnswer {
    /// The longest time that the rest of a partial notice may take.
    private static let patience = Duration.seconds(1)

    private var meter: InputMeter?
    private var bytesShown = 0
    private var noticeBytes: Int
    private var answeredAt = MonotonicTime.never

    /// Begins to watch an idle connection.
    init(_ handle: ConnectionHandle, _ notices: NoticeSink) {
        meter = InputMeter(handle)
        noticeBytes = notices.byteCount
    }

    /// Whether the server has answered.
    var isThere: Bool { answeredAt < .now }

    /// Called before libpq reads.
    mutating func willRead() { meter?.willRead() }

    /// Called after libpq has read.
    mutating func didRead() { meter?.didRead() }

    /// Counts the messages that the server sent before the COPY began.
    mutating func wasShown(_ result: ResultHandle) {
        switch result.status {
        case PGRES_COPY_IN: bytesShown += 8 + 2 * result.columnCount
        case PGRES_COMMAND_OK: bytesShown += 6 + result.commandTagSize
        // Nothing else precedes a COPY; its size is unknown.
        default: meter = nil
        }
    }

    /// Checks for an answer in libpq's buffer.
    mutating func look(_ handle: ConnectionHandle, _ notices: NoticeSink) {
        // Makes libpq process notices.
        _ = handle.isBusy
        notices.takeNotifications(of: handle)
        bytesShown += notices.byteCount - noticeBytes
        noticeBytes = notices.byteCount
        guard let meter else { return }
        // The meter may miss bytes that were read and returned.
        bytesShown = min(bytesShown, meter.bytesRead)
        answeredAt = meter.bytesRead == bytesShown ? .never : min(answeredAt, .now + Self.patience)
    }
}
