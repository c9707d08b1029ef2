import Kindred
import KindredLive
import Synchronization

/// One deployment of the soak's program, with its workers.
///
/// Its databases lead to the servers in three ways: by the address, by the names of all servers, and by a pooler.
final class SoakProgram: Sendable {
    /// How an entry is written.
    private enum Way: Int, CaseIterable {
        /// By statements over the address.
        case statements
        /// By objects over the address.
        case objects
        /// By a context that reads replicas, over the servers' names.
        case replicas
        /// By statements over the pooler.
        case pooler
    }

    let number: Int
    /// Over the address alone.
    let site: Database
    /// Over the names of all servers; it reads from replicas.
    private let spread: Database
    private let pooled: Database?
    private let soak: Soak
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let follower: SoakFollower

    /// The connections of one deployment to the primary, without those of the pooler.
    static let connections = 6 + 1 + 4 + 1 + 1

    private init(_ number: Int, _ soak: Soak, site: Database, spread: Database, pooled: Database?) {
        (self.number, self.soak, self.site, self.spread, self.pooled) = (number, soak, site, spread, pooled)
        follower = SoakFollower(site)
    }

    /// Connects, and starts all workers but the lists.
    static func start(_ number: Int, _ soak: Soak) async throws -> SoakProgram {
        let servers = soak.servers
        let site = try await Database.connect(servers.configuration(connections: 6))
        let spread = try await Database.connect(
            primary: servers.configuration(of: servers.primary, connections: 4),
            replicas: servers.replicas.map { servers.configuration(of: $0, connections: 4) })
        var pooled: Database?
        if let configuration = servers.pooled(connections: 4) {
            pooled = try await Database.connect(
                configuration, tracking: Tracking.Options(wakeUp: .notify(over: servers.configuration(connections: 1))))
        }
        let program = SoakProgram(number, soak, site: site, spread: spread, pooled: pooled)
        try await program.follower.load()
        // From the first time on it is told of all entries.
        _ = try await site.makeContext().changes(of: ["entry"], consumer: "index")
        program.startWorkers()
        return program
    }

    /// Ends all workers, and closes the databases.
    func close() async {
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await site.close(timeout: .seconds(5))
        await spread.close(timeout: .seconds(5))
        await pooled?.close(timeout: .seconds(5))
    }

    /// The database of a list.
    func database(of list: SoakList) -> Database { list.way == .pooler ? pooled ?? site : site }

    /// The differences between contexts that follow and SQL.
    func differences(from server: PostgresClient) async -> [String] {
        do { return try await follower.differences(from: server) } catch { return ["a context that follows: \(error)"] }
    }

    // MARK: Workers

    private func start(_ work: @escaping @Sendable () async -> Void) {
        let task = Task { await work() }
        tasks.withLock { $0.append(task) }
    }

    /// Repeats some work, each time through the gate.
    private func repeating(
        _ place: String, every pause: Duration, _ work: @escaping @Sendable () async throws -> Void
    ) {
        start { [soak] in
            while !Task.isCancelled {
                await soak.gate.pass {
                    do { try await work() } catch { soak.books.refused(error, place) }
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func startWorkers() {
        for way in Way.allCases where way != .pooler || pooled != nil {
            for place in 0..<2 {
                let writer = number * 10 + way.rawValue * 2 + place
                repeating("an entry by \(way)", every: .milliseconds(40)) { [self] in
                    try await makeEntry(way, writer)
                }
            }
        }
        repeating("an item by the address", every: .milliseconds(30)) { [self] in try await changeItem(site.client) }
        if let pooled {
            repeating("an item by the pooler", every: .milliseconds(60)) { [self] in
                try await changeItem(pooled.client)
            }
        }
        let notes = SoakNotes(tenant: 100 + number, site, soak.books)
        repeating("a tenant's note", every: .milliseconds(40)) { try await notes.work() }
        repeating("the sum of balances", every: .milliseconds(50)) { [self] in try await readSums() }
        start { [self] in await consume() }
        for database in [site, pooled].compactMap(\.self) {
            start { [soak] in
                while !Task.isCancelled {
                    do {
                        for try await _ in database.schemaChanges {}
                    } catch { soak.books.refused(error, "changes of the schema") }
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
        }
    }

    /// A transfer between two accounts, with an entry, which the next request reads.
    private func makeEntry(_ way: Way, _ writer: Int) async throws {
        let source = Int.random(in: 1...SoakSchema.accounts)
        let target = source % SoakSchema.accounts + 1
        let amount = Int.random(in: 1...10)
        // In one order, so that transfers do not wait for each other in a circle.
        let steps = [(source, -amount), (target, amount)].sorted { $0.0 < $1.0 }
        var written = 0
        var position: DatabasePosition?
        try await soak.ledger.record(writer) { token in
            written = token
            switch way {
            case .statements, .pooler:
                let client = way == .pooler ? pooled?.client ?? site.client : site.client
                try await client.withTransaction(tracksCommit: true, retry: .attempts(4)) { _ in
                    for (account, change) in steps {
                        try await client.query("UPDATE account SET balance = balance + \(change) WHERE id = \(account)")
                    }
                    try await client.query(
                        """
                        INSERT INTO entry (token, source, target, amount)
                        VALUES (\(token), \(source), \(target), \(amount))
                        """)
                }
            case .objects, .replicas:
                let context = way == .objects ? site.makeContext() : spread.makeContext(reading: .automatic)
                try await context.transaction(retry: .attempts(4)) {
                    for (id, change) in steps {
                        let account = try await context.get("account", id)
                        try await account.lock()
                        guard case .integer(let balance)? = account["balance"] else { continue }
                        try await account.setValue(balance + Int64(change), forKey: "balance")
                    }
                    _ = try await context.create(
                        "entry", ["token": token, "source": source, "target": target, "amount": amount])
                }
                position = context.position
            }
        }
        let token = written
        // The next request of the same user.
        let found: Int
        switch way {
        case .statements, .pooler:
            let client = way == .pooler ? pooled?.client ?? site.client : site.client
            found =
                try await client.query("SELECT count(*) FROM entry WHERE token = \(token)")[0]
                .decode(0, as: Int.self) ?? 0
        case .objects: found = try await site.makeContext().fetch("entry").where("token == %@", token).count()
        case .replicas:
            let after = position.flatMap { DatabasePosition($0.description) }
            found = try await spread.makeContext(reading: .automatic, after: after)
                .fetch("entry").where("token == %@", token).count()
        }
        if found != 1 { soak.books.note(.wrong, "\(found) of the entry \(token), by \(way), directly after its write") }
    }

    private func changeItem(_ client: PostgresClient) async throws {
        let id = Int.random(in: 1...SoakSchema.items)
        switch Int.random(in: 0..<20) {
        case 0:
            try await client.query(
                """
                INSERT INTO item (id, value, shelf_id) VALUES (\(id), \(id), \(1 + id % 10)) ON CONFLICT DO NOTHING
                """)
        case 1: try await client.query("DELETE FROM item WHERE id = \(id)")
        case 2: try await client.query("UPDATE shelf SET rank = \(id % 9) WHERE id = \(1 + id % 10)")
        case 3: try await client.query("UPDATE item SET shelf_id = \(1 + (id + 5) % 10) WHERE id = \(id)")
        case 4: try await client.query("UPDATE item SET value = (value + 1) % 1000 WHERE id % 7 = \(id % 7)")
        case 5: try await client.query("INSERT INTO note (tenant_id, text) VALUES (\(1 + id % 2), \("item \(id)"))")
        case 6:
            try await client.query(
                "DELETE FROM note WHERE id = (SELECT min(id) FROM note WHERE tenant_id = \(1 + id % 2))")
        default:
            try await client.query("UPDATE item SET value = \(Int.random(in: 0..<1000)) WHERE id = \(id)")
        }
    }

    /// In each committed state the balances have the same sum, whichever server is asked.
    private func readSums() async throws {
        let sum = Int64(SoakSchema.accounts) * 1000
        let question = "SELECT sum(balance)::bigint FROM account" as SQL
        var answers = [("the address", try await site.query(question)[0][0])]
        do {
            let accounts = try await spread.makeContext(reading: .automatic).fetch("account").all()
            let total = accounts.reduce(Int64(0)) { total, account in
                if case .integer(let balance)? = account["balance"] { total + balance } else { total }
            }
            answers.append(("a replica", .integer(total)))
        } catch let error as KindredError where error.code == .schemaChanged {
            try await spread.refreshSchema()
        }
        for (place, answer) in answers where answer != .integer(sum) {
            soak.books.note(.wrong, "the sum of balances from \(place): \(String(describing: answer))")
        }
    }

    /// Notes each entry once, in the transaction that acknowledges it.
    private func consume() async {
        while !Task.isCancelled {
            do {
                let context = site.makeContext()
                for try await batch in try await context.changes(of: ["entry"], consumer: "index") {
                    try await context.transaction {
                        if !batch.everything.isEmpty {
                            _ = try await context.query(
                                """
                                INSERT INTO seen (seq, from_all) SELECT seq, true FROM entry ON CONFLICT DO NOTHING
                                """)
                        }
                        let keys = batch.changes.inserted.compactMap { id in
                            if case .integer(let key)? = id.values.first { key } else { nil }
                        }
                        if !keys.isEmpty {
                            _ = try await context.query(
                                """
                                INSERT INTO seen (seq, from_all) SELECT k, false FROM unnest(\(keys)::int8[]) AS k
                                ON CONFLICT (seq) DO UPDATE SET times = seen.times + 1 WHERE NOT seen.from_all
                                """)
                        }
                        try await batch.acknowledge()
                    }
                }
            } catch { soak.books.refused(error, "the consumer") }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
