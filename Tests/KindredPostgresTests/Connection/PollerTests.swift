import Synchronization
import Testing

@testable import KindredPostgres

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sockets that are at rest while somebody else is about to read them.
@Suite struct PollerTests {
    /// Counts how often it is told of input, which it never reads.
    private final class Source: PolledSource {
        private let toldCount = Mutex(0)
        let socket: Int32
        private let patience: Int

        /// - Parameter patience: from which time on it puts its socket to rest when it is told.
        init(_ socket: Int32, patience: Int = 1) {
            self.socket = socket
            self.patience = patience
        }

        var count: Int { toldCount.withLock { $0 } }

        func socketIsReady() {
            let count = toldCount.withLock { count in
                count += 1
                return count
            }
            if count >= patience { Poller.shared.rest(self, socket: socket) }
        }

        func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime { .never }

        /// Whether it is told so often within a minute.
        func isTold(_ times: Int) async throws -> Bool {
            for _ in 0..<12_000 where count < times { try await Task.sleep(for: .milliseconds(5)) }
            return count >= times
        }
    }

    /// Runs `body` with sockets of which the first has input.
    private func withInput(_ body: (Int32) async throws -> Void) async throws {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        var byte: UInt8 = 1
        #expect(write(ends[1], &byte, 1) == 1)
        try await body(ends[0])
        close(ends[0])
        close(ends[1])
    }

    /// Waits until the poller has looked at its sockets some more.
    private func letThePollerGoRound() async {
        for _ in 0..<5 {
            await withCheckedContinuation { waiter in Poller.shared.later { waiter.resume() } }
        }
    }

    @Test func aSocketAtRestIsToldAgainWhenItsSourceAsksForIt() async throws {
        try await withInput { socket in
            let source = Source(socket)
            try Poller.shared.add(source, socket: socket)
            for times in 1...3 {
                #expect(try await source.isTold(times))
                await letThePollerGoRound()
                #expect(source.count == times)
                Poller.shared.setInterest(reads: true, writes: false, socket: socket)
            }
            #expect(try await source.isTold(4))
            Poller.shared.remove(source, socket: socket)
        }
    }

    @Test func onlyItsOwnSourcePutsASocketToRest() async throws {
        try await withInput { socket in
            let source = Source(socket, patience: 3)
            try Poller.shared.add(source, socket: socket)
            Poller.shared.rest(Source(socket), socket: socket)
            #expect(try await source.isTold(3))
            Poller.shared.remove(source, socket: socket)
        }
    }
}
