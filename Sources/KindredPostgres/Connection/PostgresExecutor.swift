#if os(Linux)
    import DequeModule
    import Synchronization
#endif

/// Threads that wait for the server's answers in turns, and run the tasks that prefer them.
///
/// Usually an answer wakes two threads: the thread that waits for the server, and a thread of Swift's that goes on with
/// the task. Here the thread that reads an answer goes on with the task itself, while another thread waits for further
/// answers:
///
/// ```swift
/// try await withTaskExecutorPreference(PostgresExecutor.shared) {
///     try await handle(request)
/// }
/// ```
///
/// That makes short statements faster, and changes nothing else: child tasks prefer it as well, `Task.detached` and actors with
/// executors of their own do not. It runs as many tasks at once as the machine has processors, in the order in which they can
/// go on, without regard to priorities. One more thread always waits for the server: a task that computes for long, or blocks
/// its thread, holds up no connection, but other tasks of this executor if there are as many of them as processors.
///
/// Its threads start with the first use of `shared`, and stay until the process ends. From then on they read the answers of all
/// connections of the process, for tasks elsewhere as well. If the system has no threads or descriptors for it, and on other
/// systems than Linux, tasks run on Swift's own threads.
public final class PostgresExecutor: TaskExecutor {
    /// The executor of the process.
    public static let shared = PostgresExecutor()

    #if os(Linux)
        private struct State {
            /// Tasks that can go on.
            var jobs = Deque<UnownedJob>()
            var threadCount = 0
            /// Threads that wait, or are about to.
            var waitingCount = 0
            /// Threads that run tasks.
            var runningCount = 0

            /// Whether a further thread may run tasks: one is left to wait for the server.
            var mayRunMore: Bool { !jobs.isEmpty && runningCount + 1 < threadCount }
        }

        private let state = RankedMutex(State(), .executor)
        /// 1 while a thread of these reads answers: it looks for tasks right after.
        private let isReading = ThreadBits()

        private init() {
            guard Poller.shared.openTurns() else { return }
            // One more may run tasks with each thread, except for the first.
            for _ in 0...Processors.count where SystemCalls.startThread({ self.run() }) == 0 {
                state.withLock { $0.threadCount += 1 }
            }
            if state.withLock({ $0.threadCount > 1 }) { Poller.shared.takeTurns() }
        }

        /// Runs a task's next part soon; the runtime calls it.
        public func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isReading = isReading?.bits == 1
            let (isTaken, mustWake) = state.withLock { state in
                guard state.threadCount > 1 else { return (false, false) }
                state.jobs.append(job)
                return (true, !isReading && state.waitingCount > 0 && state.mayRunMore)
            }
            if !isTaken { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
            if mustWake { Poller.shared.wakeTurn() }
        }

        private func run() {
            let executor = unsafe asUnownedTaskExecutor()
            var isRunning = false
            while true {
                if let job = next(&isRunning) {
                    unsafe job.runSynchronously(on: executor)
                } else {
                    read()
                }
            }
        }

        /// The next task to go on; nil if the thread is to wait.
        private func next(_ isRunning: inout Bool) -> UnownedJob? {
            let (job, mustWake) = state.withLock { state -> (UnownedJob?, Bool) in
                if isRunning { state.runningCount -= 1 }
                guard state.mayRunMore, let job = state.jobs.popFirst() else {
                    state.waitingCount += 1
                    return (nil, false)
                }
                state.runningCount += 1
                return (job, state.waitingCount > 0 && state.mayRunMore)
            }
            isRunning = job != nil
            if mustWake { Poller.shared.wakeTurn() }
            return job
        }

        /// Waits for answers, and reads them.
        private func read() {
            var isWaiting = true
            func stopWaiting() {
                if isWaiting { state.withLock { $0.waitingCount -= 1 } }
                isWaiting = false
            }
            isReading?.bits = 1
            Poller.shared.waitForTurn { socket in
                stopWaiting()
                Poller.shared.tell(socket)
            }
            isReading?.bits = 0
            stopWaiting()
        }
    #else
        private init() {}

        /// Runs a task's next part soon; the runtime calls it.
        public func enqueue(_ job: consuming ExecutorJob) {
            globalConcurrentExecutor.enqueue(job)
        }
    #endif
}
