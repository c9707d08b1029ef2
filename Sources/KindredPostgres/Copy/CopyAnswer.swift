import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds out that the server has answered a COPY from here before the end of the data.
///
/// During such a COPY libpq shows notices, and keeps an answer to itself until the data has ended. So what it has read is
/// compared with what it has shown: the rest is an answer, or a notice of which a part is missing.
struct CopyAnswer {
    /// So long may a notice's last part stay behind its first.
    private static let patience = Duration.seconds(1)

    private var meter: InputMeter?
    private var bytesShown = 0
    private var noticeBytes: Int
    private var answeredAt = MonotonicTime.never

    /// Begins to watch a connection on which nothing is under way.
    init(_ handle: OpaquePointer, _ notices: NoticeSink) {
        meter = InputMeter(handle)
        noticeBytes = notices.byteCount
    }

    /// Whether the server has answered.
    var isThere: Bool { answeredAt < .now }

    /// Just before libpq reads.
    mutating func willRead() { meter?.willRead() }

    /// When libpq has read.
    mutating func didRead() { meter?.didRead() }

    /// Notes what the server said before it took data.
    mutating func wasShown(_ result: OpaquePointer) {
        switch PQresultStatus(result) {
        case PGRES_COPY_IN: bytesShown += 8 + 2 * Int(PQnfields(result))
        case PGRES_COMMAND_OK: bytesShown += 6 + (PQcmdStatus(result).map { strlen($0) } ?? 0)
        // Nothing else precedes a COPY; what it would take up is not known.
        default: meter = nil
        }
    }

    /// Looks for an answer among what libpq has read.
    mutating func look(_ handle: OpaquePointer, _ notices: NoticeSink) {
        // Shows notices.
        _ = PQisBusy(handle)
        notices.takeNotifications(of: handle)
        bytesShown += notices.byteCount - noticeBytes
        noticeBytes = notices.byteCount
        guard let meter else { return }
        // What was shown was read; the meter may have missed it.
        bytesShown = min(bytesShown, meter.bytesRead)
        answeredAt = meter.bytesRead == bytesShown ? .never : min(answeredAt, .now + Self.patience)
    }
}
