import KindredPostgres
import Synchronization

/// A proxy before the test's server that answers statements as a server does that lacks a feature.
///
/// It puts a statement that raises the error in the place of each that holds a text, so that the server itself goes on as after
/// any refused statement.
final class RefusingProxy: Sendable {
    private let proxy: FaultProxy
    private let forger: MessageForger

    /// - Parameters:
    ///   - text: what the refused statements hold.
    ///   - message: what the server says, without quotes.
    ///   - state: the SQLSTATE that it says it with.
    init(refusing text: String, _ message: String = "it is not supported", state: String = "0A000") throws {
        let refusal = "DO $refuse$BEGIN RAISE '\(message)' USING ERRCODE = '\(state)'; END$refuse$"
        proxy = try FaultProxy()
        let forger = MessageForger(seed: 1) { message, _ in
            // A prepared statement has its name before its text, and the types of its parameters behind it.
            let isParse = message[0] == UInt8(ascii: "P")
            guard isParse || message[0] == UInt8(ascii: "Q") else { return message }
            var parts = message[5...].split(separator: 0, maxSplits: isParse ? 2 : 1, omittingEmptySubsequences: false)
            let place = isParse ? 1 : 0
            guard parts.count > place + 1, contains(Array(parts[place]), text) else { return message }
            parts[place] = ArraySlice(refusal.utf8)
            return MessageForger.message(isParse ? "P" : "Q", Array(parts.joined(separator: [0])))
        }
        self.forger = forger
        proxy.set { direction, bytes in direction == .toServer ? .replace(forger.forge(bytes)) : .forward }
    }

    deinit { proxy.stop() }

    /// How many statements it has refused.
    var count: Int { forger.count }

    /// A configuration for the same database over the proxy.
    var configuration: PostgresConfiguration { proxy.configuration }
}
