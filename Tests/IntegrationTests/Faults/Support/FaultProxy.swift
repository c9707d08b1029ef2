import Foundation
import KindredPostgres
import KindredTesting
import Synchronization

/// A proxy before the test's server that stalls, cuts, drips and drops, as a test wants it.
final class FaultProxy: Sendable {
    enum Direction: Sendable {
        case toServer, toClient
    }

    /// The fate of some bytes.
    enum Verdict: Sendable {
        case forward
        /// Sends others instead.
        case replace([UInt8])
        /// Swallows them, as a line does that loses the bytes of one direction.
        case drop
        /// Keeps them and reads no more in this direction.
        case stall
        /// Lets so many through, keeps the others and reads no more in this direction.
        case stallAfter(Int)
        /// Ends the connection without them.
        case cut
        /// Lets so many through and ends the connection.
        case cutAfter(Int)
        /// Ends the connection without them, by a reset on both sides.
        case reset
    }

    typealias Rule = @Sendable (Direction, [UInt8]) -> Verdict

    let port: UInt16
    private let listener: TestSocket
    private let current: Mutex<Current>
    private let pause: Mutex<UInt32?>
    private let delay = Mutex<Duration>(.zero)
    private let isOver = Atomic(false)

    /// A closure by itself would be wrapped once more each time that it is read: the mutex is generic.
    private struct Current {
        var connect: @Sendable () -> TestSocket?
        var rule: Rule = { _, _ in .forward }
    }

    private let target: PostgresConfiguration

    /// A proxy that forwards everything, until it is told something else; by default to the test's database.
    init(to target: PostgresConfiguration? = nil) throws {
        let target = try target ?? PostgresConfiguration(uri: TestDatabase.current.uri)
        self.target = target
        current = Mutex(Current(connect: try Self.way(to: target)))
        pause = Mutex(nil)
        (listener, self.port) = try TestSocket.listening()
        let listener = listener
        Thread.detachNewThread { [weak self] in
            listener.acceptAll { client in
                guard let self, !self.isOver.load(ordering: .relaxed) else { return client.close() }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    deinit {
        listener.stopListening()
    }

    private static func way(to target: PostgresConfiguration) throws -> @Sendable () -> TestSocket? {
        switch target.endpoints.first {
        case .socket(let folder, let port)?: { .connected(path: "\(folder)/.s.PGSQL.\(port)") }
        // On this machine, whatever its name.
        case .tcp(_, let port, _)?: { .connected(port: port) }
        case nil: throw TestSocket.Failure()
        }
    }

    /// Leads new connections to another server, as an address that has moved; open ones stay where they are.
    func lead(to target: PostgresConfiguration) throws {
        let way = try Self.way(to: target)
        current.withLock { $0.connect = way }
    }

    /// A configuration for the same database over the proxy.
    var configuration: PostgresConfiguration {
        var configuration = target
        configuration.endpoints = [.tcp(host: "127.0.0.1", port: port)]
        configuration.tls.mode = .disable
        configuration.pool.acquireTimeout = .seconds(120)
        return configuration
    }

    /// Applies to all connections, from now on.
    func set(_ rule: @escaping Rule) {
        current.withLock { $0.rule = rule }
    }

    /// Lets bytes through one by one, so many milliseconds apart; nil is as fast as they come.
    func drip(everyMilliseconds pause: UInt32?) {
        self.pause.withLock { $0 = pause }
    }

    /// Lets all bytes through so much later, as the line to a distant server does.
    func delay(by time: Duration) {
        delay.withLock { $0 = time }
    }

    /// Ends all connections and takes no more.
    func stop() {
        isOver.store(true, ordering: .relaxed)
    }

    private func serve(_ client: TestSocket) {
        let connect = current.withLock(\.connect)
        guard let server = connect() else { return client.close() }
        defer {
            client.close()
            server.close()
        }
        var stalled: Set<Direction> = []
        /// On their way.
        var late: [(due: ContinuousClock.Instant, to: TestSocket, bytes: [UInt8])] = []
        while !isOver.load(ordering: .relaxed) {
            while let first = late.first, first.due <= .now {
                if !first.to.write(first.bytes) { return }
                late.removeFirst()
            }
            for (direction, from, to) in [(Direction.toServer, client, server), (.toClient, server, client)] {
                let pause = pause.withLock { $0 }
                guard !stalled.contains(direction),
                    let bytes = from.read(milliseconds: 1, atMost: pause == nil ? 65_536 : 1)
                else { continue }
                if bytes.isEmpty { return }
                let rule = current.withLock(\.rule)
                switch rule(direction, bytes) {
                case .forward:
                    let delay = delay.withLock { $0 }
                    if delay > .zero || !late.isEmpty {
                        late.append((.now + delay, to, bytes))
                    } else if !to.write(bytes) {
                        return
                    }
                case .replace(let others): if !to.write(others) { return }
                case .drop: break
                case .stall: stalled.insert(direction)
                case .stallAfter(let count):
                    to.write(Array(bytes.prefix(count)))
                    stalled.insert(direction)
                case .cut: return
                case .cutAfter(let count):
                    to.write(Array(bytes.prefix(count)))
                    return
                case .reset:
                    client.resetOnClose()
                    server.resetOnClose()
                    return
                }
                if let pause { usleep(pause * 1_000) }
            }
            if stalled.count == 2 { usleep(1_000) }
        }
    }
}

/// Whether bytes hold a text.
func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.firstRange(of: Array(text.utf8)) != nil
}
