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

/// Sockets that are at rest while another thread is about to read them, and sockets whose threads take turns.
@Suite struct PollerTests {
    /// Of its own, since in a process with a `PostgresExecutor` the threads of the shared one take turns.
    private static let poller = Poller()

    /// Counts how often it is told of input, which it never reads.
    private final class Source: PolledSource {
        private let toldCount = Mutex(0)
        let socket: Int32
        private let poller: Poller
        private let patience: Int

        /// - Parameter patience: from which time on it puts its socket to rest when it is told.
        init(_ socket: Int32, _ poller: Poller = PollerTests.poller, patience: Int = 1) {
            self.socket = socket
            self.poller = poller
            self.patience = patience
        }

        var count: Int { toldCount.withLock { $0 } }

        func socketIsReady() {
            let count = toldCount.withLock { count in
                count += 1
                return count
            }
            if count >= patience { poller.rest(self, socket: socket) }
        }

        func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime { .never }

        /// Whether it is told so often within a minute.
        func isTold(_ times: Int) async throws -> Bool {
            for _ in 0..<12_000 where count < times { try await Task.sleep(for: .milliseconds(5)) }
            return count >= times
        }
    }

    /// Runs `body` with two ends of a line.
    private func withLine(_ body: (Int32, Int32) async throws -> Void) async throws {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        try await body(ends[0], ends[1])
        for end in ends { close(end) }
    }

    /// Sends a byte.
    private func send(to socket: Int32) {
        var byte: UInt8 = 1
        #expect(write(socket, &byte, 1) == 1)
    }

    /// Runs `body` with a socket that has input.
    private func withInput(_ body: (Int32) async throws -> Void) async throws {
        try await withLine { socket, other in
            send(to: other)
            try await body(socket)
        }
    }

    /// Waits until the poller has looked at its sockets some more.
    private func letThePollerGoRound(_ poller: Poller = PollerTests.poller) async {
        for _ in 0..<5 {
            await withCheckedContinuation { waiter in poller.later { waiter.resume() } }
        }
    }

    @Test func aSocketAtRestIsToldAgainWhenItsSourceAsksForIt() async throws {
        try await withInput { socket in
            let source = Source(socket)
            try Self.poller.add(source, socket: socket)
            for times in 1...3 {
                #expect(try await source.isTold(times))
                await letThePollerGoRound()
                #expect(source.count == times)
                Self.poller.setInterest(reads: true, writes: false, socket: socket)
            }
            #expect(try await source.isTold(4))
            Self.poller.remove(source, socket: socket)
        }
    }

    @Test func onlyItsOwnSourcePutsASocketToRest() async throws {
        try await withInput { socket in
            let source = Source(socket, patience: 3)
            try Self.poller.add(source, socket: socket)
            Self.poller.rest(Source(socket), socket: socket)
            #expect(try await source.isTold(3))
            Self.poller.remove(source, socket: socket)
        }
    }

    /// Reads all bytes that come, and has a deadline that can be set.
    private final class Reader: PolledSource {
        private let state = Mutex((byteCount: 0, deadline: MonotonicTime.never))
        private let socket: Int32

        init(_ socket: Int32) { self.socket = socket }

        var byteCount: Int { state.withLock { $0.byteCount } }
        var deadline: MonotonicTime {
            get { state.withLock { $0.deadline } }
            set { state.withLock { $0.deadline = newValue } }
        }

        func socketIsReady() {
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = read(socket, &bytes, bytes.count)
            state.withLock { $0.byteCount += max(0, count) }
        }

        func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
            state.withLock { state in
                if state.deadline <= now { state.deadline = .never }
                return state.deadline
            }
        }
    }

    @Test(.timeLimit(.minutes(15))) func aPollerHearsOfEverything() async throws {
        let poller = Poller()
        try await withLine { socket, other in
            let source = Reader(socket)
            try poller.add(source, socket: socket)
            func send100() async {
                for _ in 0..<100 {
                    let count = source.byteCount
                    send(to: other)
                    while source.byteCount == count { await Task.yield() }
                }
            }
            for _ in 1...10 {
                await send100()
                await withCheckedContinuation { waiter in poller.later { waiter.resume() } }
                source.deadline = .now + .milliseconds(50)
                poller.wake(by: source.deadline)
                await send100()
                while source.deadline != .never { try await Task.sleep(for: .milliseconds(1)) }
            }
            poller.remove(source, socket: socket)
        }
    }

    #if os(Linux)
        /// Lends a poller for whose sockets threads take turns, from the time on when `takeTurns` is called.
        private func withTurns(of count: Int, _ body: (Poller) async throws -> Void) async throws {
            let poller = Poller()
            let isOver = Atomic(false)
            try #require(poller.openTurns())
            let ended = AsyncStream<Void>.makeStream()
            for _ in 0..<count {
                let status = SystemCalls.startThread {
                    while !isOver.load(ordering: .acquiring) { poller.waitForTurn { poller.tell($0) } }
                    // The next one ends as well.
                    poller.wakeTurn()
                    ended.continuation.yield()
                }
                try #require(status == 0)
            }
            try await body(poller)
            isOver.store(true, ordering: .releasing)
            poller.wakeTurn()
            var endedCount = 0
            for await _ in ended.stream {
                endedCount += 1
                if endedCount == count { break }
            }
        }

        @Test(.timeLimit(.minutes(5))) func threadsThatTakeTurnsHearOfASocketOnceUntilItsInterestIsSet() async throws {
            try await withTurns(of: 3) { poller in
                try await withLine { socket, other in
                    let source = Source(socket, poller, patience: .max)
                    try poller.add(source, socket: socket)
                    poller.takeTurns()
                    send(to: other)
                    for times in 1...20 {
                        #expect(try await source.isTold(times))
                        await letThePollerGoRound(poller)
                        #expect(source.count == times)
                        poller.setInterest(reads: true, writes: false, socket: socket)
                    }
                    #expect(try await source.isTold(21))
                    poller.remove(source, socket: socket)
                    // Another source may have the same socket afterwards.
                    let next = Source(socket, poller, patience: .max)
                    try poller.add(next, socket: socket)
                    #expect(try await next.isTold(1))
                    #expect(source.count == 21)
                    poller.remove(next, socket: socket)
                }
            }
        }

        @Test(.timeLimit(.minutes(5))) func aPollerWhoseSocketsMovedKeepsItsDeadlinesAndItsWork() async throws {
            try await withTurns(of: 2) { poller in
                try await withLine { socket, other in
                    let source = Reader(socket)
                    try poller.add(source, socket: socket)
                    send(to: other)
                    while source.byteCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
                    poller.takeTurns()
                    for number in 2...50 {
                        // It sets no interest by itself.
                        poller.setInterest(reads: true, writes: false, socket: socket)
                        send(to: other)
                        while source.byteCount < number { try await Task.sleep(for: .milliseconds(1)) }
                        await withCheckedContinuation { waiter in poller.later { waiter.resume() } }
                        source.deadline = .now + .milliseconds(1)
                        poller.wake(by: source.deadline)
                        while source.deadline != .never { try await Task.sleep(for: .milliseconds(1)) }
                    }
                    poller.remove(source, socket: socket)
                }
            }
        }
    #endif
}
