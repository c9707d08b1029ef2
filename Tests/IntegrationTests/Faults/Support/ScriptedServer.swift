import Foundation
import KindredPostgres

/// A server that says what a test tells it to, byte by byte.
final class ScriptedServer: Sendable {
    /// A connection to the server; used on a thread of its own.
    struct Session: Sendable {
        let socket: TestSocket

        /// Waits for a message of the start-up, which has no type; nil at the end.
        @discardableResult
        func readStartup() -> [UInt8]? {
            guard let head = read(4) else { return nil }
            let length = head.reduce(0) { $0 << 8 | Int($1) }
            return length < 4 || length > 10_000 ? nil : read(length - 4)
        }

        /// Waits for a message; nil at the end.
        @discardableResult
        func readMessage() -> (type: UInt8, body: [UInt8])? {
            guard let head = read(5) else { return nil }
            let length = head[1...].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 4, length < 1 << 20, let body = read(length - 4) else { return nil }
            return (head[0], body)
        }

        /// Waits until the client has sent a Sync; false at the end.
        func readUntilSync() -> Bool {
            while let message = readMessage() { if message.type == UInt8(ascii: "S") { return true } }
            return false
        }

        /// Lets the client in, without a password.
        func welcome(parameters: [(String, String)] = [("client_encoding", "UTF8"), ("server_version", "15.0")]) {
            readStartup()
            var bytes = message("R", [0, 0, 0, 0])
            for (name, value) in parameters { bytes += message("S", text(name) + text(value)) }
            bytes += message("K", [0, 0, 0, 1, 0, 0, 0, 2]) + ready
            socket.write(bytes)
        }

        var ready: [UInt8] { message("Z", [UInt8(ascii: "I")]) }

        func message(_ type: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
            [UInt8(ascii: type)] + number(Int32(body.count + 4)) + body
        }

        func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
        func number(_ number: Int32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        func short(_ number: Int16) -> [UInt8] {
            [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        }

        /// The description of a result of one integer column.
        var integerColumn: [UInt8] {
            message("T", short(1) + text("n") + number(0) + short(0) + number(23) + short(4) + number(-1) + short(1))
        }

        private func read(_ count: Int) -> [UInt8]? {
            var bytes: [UInt8] = []
            while bytes.count < count {
                guard let next = socket.read(milliseconds: 600_000, atMost: count - bytes.count), !next.isEmpty else {
                    return nil
                }
                bytes += next
            }
            return bytes
        }
    }

    let port: UInt16
    private let listener: TestSocket

    /// Runs `script` for each connection, and closes it afterwards.
    init(_ script: @escaping @Sendable (Session) -> Void) throws {
        (listener, port) = try TestSocket.listening()
        let listener = listener
        Thread.detachNewThread {
            listener.acceptAll { client in
                Thread.detachNewThread {
                    script(Session(socket: client))
                    client.close()
                }
            }
        }
    }

    deinit {
        listener.stopListening()
    }

    var configuration: PostgresConfiguration {
        var configuration = PostgresConfiguration(
            endpoints: [.tcp(host: "127.0.0.1", port: port)], user: "nobody", database: "nowhere")
        configuration.tls.mode = .disable
        // The script has no answer for a pooler's probe.
        configuration.pooler = .none
        configuration.connectTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        configuration.pool.acquireTimeout = .seconds(60)
        configuration.pool.maximumConnections = 1
        return configuration
    }
}
