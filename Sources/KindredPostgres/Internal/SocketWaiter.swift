import CLibPQ
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

#if os(Linux)
    /// Waits for sockets with epoll; an eventfd interrupts the wait.
    struct SocketWaiter: ~Copyable, Sendable {
        /// The events of each socket: with several threads it is reported to one of them, once for each `setInterest`.
        private let socketEvents: UInt32
        /// The events of the interrupt: with several threads each `wake` wakes one of them.
        private let alarmEvents: UInt32
        private let openEpoll = Atomic<Int32>(-1)
        private let openAlarm = Atomic<Int32>(-1)
        private var epoll: Int32 { openEpoll.load(ordering: .relaxed) }
        private var alarm: Int32 { openAlarm.load(ordering: .relaxed) }

        /// - Parameter isShared: whether several threads wait at once.
        init(isShared: Bool = false) {
            socketEvents = isShared ? EPOLLONESHOT.rawValue : 0
            alarmEvents = EPOLLIN.rawValue | (isShared ? EPOLLET.rawValue : 0)
        }

        /// Opens the descriptors before anything else is called; not thread-safe.
        ///
        /// Returns false if the process is out of descriptors.
        func open() -> Bool {
            if epoll < 0 { openEpoll.store(epoll_create1(Int32(EPOLL_CLOEXEC)), ordering: .relaxed) }
            guard epoll >= 0 else { return false }
            if alarm < 0 {
                openAlarm.store(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), ordering: .relaxed)
                if alarm >= 0 { control(EPOLL_CTL_ADD, of: alarm, events: alarmEvents) }
            }
            return alarm >= 0
        }

        func add(_ socket: Int32) -> Bool {
            control(EPOLL_CTL_ADD, of: socket, events: socketEvents | EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        }

        func remove(_ socket: Int32) {
            control(EPOLL_CTL_DEL, of: socket, events: 0)
        }

        func setInterest(reads: Bool, writes: Bool, _ socket: Int32) {
            let input = reads ? EPOLLIN.rawValue | EPOLLRDHUP.rawValue : 0
            control(EPOLL_CTL_MOD, of: socket, events: socketEvents | input | (writes ? EPOLLOUT.rawValue : 0))
        }

        func wake() {
            eventfd_write(alarm, 1)
        }

        /// Waits for a socket, the interrupt or the timeout, and reports the ready sockets.
        func wait(nanoseconds: UInt64?, _ ready: (Int32) -> Void) {
            let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
            let alarm = alarm
            SystemCalls.wait(epoll: epoll, milliseconds: milliseconds) { socket in
                if socket != alarm { return ready(socket) }
                // With several threads only its changes count.
                if socketEvents == 0 { SystemCalls.resetEvents(alarm) }
            }
        }

        @discardableResult
        private func control(_ operation: Int32, of socket: Int32, events: UInt32) -> Bool {
            SystemCalls.control(epoll, operation, socket: socket, events: events)
        }
    }
#else
    /// Waits for sockets with poll; a byte through a pipe interrupts the wait.
    struct SocketWaiter: ~Copyable, Sendable {
        private let sockets = RankedMutex<[Int32: Int32]>([:], .leaf)
        private let pipeEnds: (read: Int32, write: Int32)

        /// - Parameter isShared: whether several threads wait at once; not with poll.
        init(isShared: Bool = false) {
            pipeEnds = SystemCalls.openPipe()
            for end in [pipeEnds.read, pipeEnds.write] {
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
        }

        /// Returns false if the process was out of descriptors.
        func open() -> Bool { pipeEnds.read >= 0 }

        func add(_ socket: Int32) -> Bool {
            sockets.withLock { $0[socket] = POLLIN }
            wake()
            return true
        }

        func remove(_ socket: Int32) {
            _ = sockets.withLock { $0.removeValue(forKey: socket) }
            wake()
        }

        func setInterest(reads: Bool, writes: Bool, _ socket: Int32) {
            let events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0)
            sockets.withLock { if $0[socket] != nil { $0[socket] = events } }
            wake()
        }

        func wake() {
            SystemCalls.writeByte(to: pipeEnds.write)
        }

        /// Waits for a socket, the interrupt or the timeout, and reports the ready sockets.
        func wait(nanoseconds: UInt64?, _ ready: (Int32) -> Void) {
            var polled = [pollfd(fd: pipeEnds.read, events: Int16(POLLIN), revents: 0)]
            for (socket, events) in sockets.withLock({ $0 }) {
                polled.append(pollfd(fd: socket, events: Int16(events), revents: 0))
            }
            let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
            SystemCalls.wait(for: &polled, milliseconds: milliseconds)
            if polled[0].revents != 0 { SystemCalls.drain(pipeEnds.read) }
            for socket in polled.dropFirst() where socket.revents != 0 { ready(socket.fd) }
        }
    }
#endif
