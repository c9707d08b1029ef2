import CLibPQ
import Foundation
import Synchronization
import Testing

@testable import KindredPostgres

/// The calls of libpq 17's functions, whichever libpq is installed.
@Suite(.serialized) struct CancelKeyTests {
    /// The recorded calls, and the behaviour of the played server.
    private enum Played {
        static let calls = Mutex<[String]>([])
        static let polls = Mutex<[PostgresPollingStatusType]>([])
        static let socket = Atomic<Int32>(-1)
    }

    private static let functions = CancelFunctions(
        create: { connection in
            Played.calls.withLock { $0.append("create") }
            return connection
        },
        start: { _ in
            Played.calls.withLock { $0.append("start") }
            return 1
        },
        poll: { _ in
            Played.calls.withLock { $0.append("poll") }
            return Played.polls.withLock { $0.isEmpty ? PGRES_POLLING_READING : $0.removeFirst() }
        },
        socket: { _ in Played.socket.load(ordering: .relaxed) },
        finish: { _ in Played.calls.withLock { $0.append("finish") } })

    /// Cancels over a socket that is always ready to be written to, and to be read if so wanted.
    private func send(_ polls: [PostgresPollingStatusType], answers: Bool, timeout: Duration) throws -> [String] {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        if answers { _ = write(ends[1], "x", 1) }
        Played.socket.store(ends[0], ordering: .relaxed)
        Played.calls.withLock { $0 = [] }
        Played.polls.withLock { $0 = polls }
        var connection = 0
        try withUnsafeMutablePointer(to: &connection) { pointer in
            let key = try #require(CancelKey(for: ConnectionHandle(OpaquePointer(pointer)), functions: Self.functions))
            key.send(timeout: timeout)
        }
        return Played.calls.withLock { $0 }
    }

    @Test func aRequestGoesOverAConnectionUntilTheServerHasTakenIt() throws {
        let calls = try send([PGRES_POLLING_READING, PGRES_POLLING_OK], answers: true, timeout: .seconds(300))
        #expect(calls == ["create", "start", "poll", "poll", "finish"])
    }

    @Test func aServerThatRefusesEndsIt() throws {
        let calls = try send([PGRES_POLLING_FAILED], answers: true, timeout: .seconds(300))
        #expect(calls == ["create", "start", "poll", "finish"])
    }

    @Test func aServerThatSaysNothingEndsItInTime() throws {
        let calls = try send([PGRES_POLLING_READING], answers: false, timeout: .milliseconds(30))
        #expect(calls == ["create", "start", "poll", "finish"])
    }

    @Test func allOfTheFunctionsAreFoundOrNone() {
        let names = ["PQcancelCreate", "PQcancelStart", "PQcancelPoll", "PQcancelSocket", "PQcancelFinish"]
        let any = UnsafeMutableRawPointer(bitPattern: 16)
        #expect(CancelFunctions { names.contains($0) ? any : nil } != nil)
        for missing in names { #expect(CancelFunctions { $0 == missing ? nil : any } == nil) }
        #expect((CancelFunctions.installed != nil) == (PQlibVersion() >= 170_000))
    }
}
