import Foundation
import Kindred
import Synchronization
import TestSupport

/// One night of a program: its servers, its clients, and the events that disturb them.
final class Soak: Sendable {
    private struct State {
        var program: SoakProgram?
        /// The lists, with the task that follows each of them in the present program.
        var followed: [(list: SoakList, task: Task<Void, Never>)] = []
        var deployments = 0
    }

    let servers: SoakServers
    let books = SoakBooks()
    let gate = SoakGate()
    let ledger = SoakLedger()
    let lists: [SoakList]
    private let state = Mutex(State())

    init(_ servers: SoakServers) {
        self.servers = servers
        lists = SoakList.all(hasPooler: servers.pooler != nil)
    }

    private var program: SoakProgram? { state.withLock { $0.program } }
    private var followed: [(list: SoakList, task: Task<Void, Never>)] { state.withLock { $0.followed } }

    // MARK: The night

    /// Runs every event once at least, in a random order, and goes on until the time is over.
    func run(for duration: Duration, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await deploy()
        let probe = Task { await self.probe() }
        let sampler = Task { await self.sample() }
        defer {
            probe.cancel()
            sampler.cancel()
        }
        try await agree()
        let end = books.start + duration
        var events = SoakEvent.allCases.shuffled(using: &random)
        var isFirstRound = true
        while isFirstRound || ContinuousClock.now < end {
            let event = events.removeFirst()
            if event.isPossible(servers) {
                books.begin(event.rawValue)
                try await event.run(self)
                try await agree()
                try await Task.sleep(for: .milliseconds(500))
            } else {
                books.leaveOut(event.rawValue)
            }
            if events.isEmpty {
                events = SoakEvent.allCases.shuffled(using: &random)
                isFirstRound = false
            }
        }
        probe.cancel()
        sampler.cancel()
        await probe.value
        await sampler.value
        try await agree()
        try await stop()
        try await servers.administer { try await ledger.check($0, books) }
    }

    /// Compares everything that is shown with SQL, while nothing is written.
    private func agree() async throws {
        let start = ContinuousClock.now
        try await gate.close()
        let closed = ContinuousClock.now - start
        if closed > .seconds(5) { print("soak: the last call of before took \(closed)") }
        var isTold = false
        // Differences that were there before are not waited for again.
        let end = ContinuousClock.now + .seconds(books.count(.wrong) == 0 ? 120 : 10)
        var differences: [String] = []
        while true {
            do {
                differences = try await self.differences()
            } catch {
                differences = ["the administrator: \(error)"]
            }
            if differences.isEmpty || ContinuousClock.now > end { break }
            if !isTold, ContinuousClock.now > start + closed + .seconds(5) {
                print("soak: not equal to SQL after five seconds: \(differences)")
                isTold = true
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        if differences.isEmpty { books.agreed() }
        for difference in differences { books.note(.wrong, difference) }
        try await servers.administer { try await ledger.check($0, books) }
        gate.open()
    }

    private func differences() async throws -> [String] {
        var differences: [String] = []
        try await servers.administer { server in
            for list in lists {
                if let difference = try await list.difference(from: server) { differences.append(difference) }
            }
            differences += await program?.differences(from: server) ?? []
            let row = try await server.query(
                """
                SELECT count(*) FILTER (WHERE s.seq IS NULL), count(*) FILTER (WHERE s.times > 1)
                FROM entry AS e LEFT JOIN seen AS s ON s.seq = e.seq
                """)[0]
            let (missing, doubled) = (try row.decode(0, as: Int.self) ?? 0, try row.decode(1, as: Int.self) ?? 0)
            if missing > 0 { differences.append("the consumer was not told of \(missing) entries") }
            if doubled > 0 { differences.append("the consumer was told of \(doubled) entries twice") }
        }
        return differences
    }

    /// Writes and reads again and again: the first good answer after an event is its.
    private func probe() async {
        var last: Int64 = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                if let site = program?.site {
                    let rows = try await site.client.query(
                        "UPDATE probe SET n = n + 1 WHERE id = 1 RETURNING n", timeout: .seconds(10))
                    if case .integer(let number)? = try rows.first?[0] {
                        if number <= last { books.note(.lost, "the probe counted \(last), and then \(number)") }
                        last = number
                        books.answered(callFrom: start)
                    }
                }
            } catch { books.refused(error, "the probe") }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Looks at the memory of the process, and at the connections of the program.
    private func sample() async {
        while !Task.isCancelled {
            var connections: Int?
            try? await servers.administer { server in
                let row = try await server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")[0]
                connections = try row.decode(0, as: Int.self)
            }
            #if os(Linux)
                books.sample(memory: LongTests.residentBytes, heap: HeapMemory.bytesInUse, connections: connections)
            #else
                books.sample(memory: LongTests.residentBytes, heap: nil, connections: connections)
            #endif
            try? await Task.sleep(for: .seconds(1))
        }
    }

    // MARK: Deployments

    /// Starts the program once more; clients go to it one after the other, then the former program ends.
    func deploy() async throws {
        let number = state.withLock { state in
            state.deployments += 1
            return state.deployments
        }
        let new = try await SoakProgram.start(number, self)
        let former = state.withLock { state in
            defer { state.program = new }
            return state.program
        }
        for place in lists.indices {
            if let earlier = followed.first(where: { $0.list === lists[place] }) {
                earlier.task.cancel()
                await earlier.task.value
                try await Task.sleep(for: .milliseconds(50))
            }
            follow(lists[place], in: new)
        }
        await former?.close()
    }

    private func follow(_ list: SoakList, in program: SoakProgram) {
        let database = program.database(of: list)
        let task = Task { [books] in await list.follow(database, books) }
        state.withLock { state in
            state.followed.removeAll { $0.list === list }
            state.followed.append((list, task))
        }
    }

    /// Ends the program; clients keep what they show, and their cursors.
    func stop() async throws {
        for (_, task) in followed { task.cancel() }
        for (_, task) in followed { await task.value }
        let program = state.withLock { state in
            defer { (state.program, state.followed) = (nil, []) }
            return state.program
        }
        await program?.close()
    }

    // MARK: The table

    /// The table of findings.
    func table(seed: UInt64) -> String {
        let time = (ContinuousClock.now - books.start).components.seconds
        let (deployments, limit) = (state.withLock { $0.deployments }, SoakServers.maximumConnections)
        return books.table([
            ("time, and KINDRED_SOAK_SEED", "\(time) s, \(seed)"),
            ("deployments of the program", "\(deployments)"),
            ("lists", "\(lists.count)"),
            ("acknowledged entries, and of unknown outcome", "\(ledger.acknowledged), \(ledger.unknown)"),
            ("connections refused, of \(limit) at most", "\(books.refusedConnections)"),
        ])
    }
}
