import Synchronization

/// The bytes that a client has sent to its server through a proxy.
final class SentBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var all: [UInt8] { bytes.withLock { $0 } }

    /// The texts, and `|` for every byte that is part of none.
    var text: String {
        String(decoding: all.map { $0 < 0x20 || $0 > 0x7e ? UInt8(ascii: "|") : $0 }, as: UTF8.self)
    }

    fileprivate func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }
}

extension FaultProxy {
    /// Forwards everything, and keeps the bytes that are sent to the server from here on.
    func recordSent() -> SentBytes {
        let sent = SentBytes()
        set { direction, bytes in
            if direction == .toServer { sent.append(bytes) }
            return .forward
        }
        return sent
    }
}
