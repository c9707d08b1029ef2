import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c');
    CREATE TABLE stock (store integer, book integer, PRIMARY KEY (store, book));
    INSERT INTO stock VALUES (1, 1), (1, 2);
    """

/// Locks that were announced, and locks that the server names itself.
@Suite(.database(.sql(schema))) struct AnnouncedLockTests {
    private struct Failure: Error {}

    private func person(_ id: Int, _ context: DatabaseContext) async throws -> DatabaseObject {
        try await context.fetch("person").where("id = %@", arguments: [id]).one()
    }

    @Test func whatIsLockedIsToldWhileItIs() async throws {
        try await withDatabase { database, context, _ in
            try await database.tracking.install()
            let (told, continuation) = AsyncStream<AnnouncedLocks.Update>.makeStream()
            let following = Task.detached {
                for try await update in try context.locks(of: "person") { continuation.yield(update) }
            }
            @Sendable func next() async -> AnnouncedLocks.Update? { await told.first { _ in true } }
            #expect(await next()?.held == [])
            let writer = database.makeContext()
            let object = try await person(1, writer)
            try await writer.transaction {
                try await object.lock(announcing: "edited by Ann")
                let update = await next()
                #expect(update?.held.map(\.text) == ["edited by Ann"])
                #expect(update?.announced.first?.object == object.objectID && update?.released == [])
                #expect(update?.held.first?.role.isEmpty == false)
            }
            let last = await next()
            #expect(last?.held == [] && last?.announced == [])
            #expect(last?.released.map(\.text) == ["edited by Ann"])
            following.cancel()
        }
    }

    @Test func theEndOfTheTransactionReleases() async throws {
        try await withDatabase { database, context, _ in
            try await database.tracking.install()
            let writer = database.makeContext()
            let object = try await person(1, writer)
            for isFailing in [false, true] {
                try? await writer.transaction {
                    try await object.lock(.forNoKeyUpdate, announcing: "here")
                    #expect(try await LocksNow.read(context) == ["here"])
                    if isFailing { throw Failure() }
                }
                #expect(try await LocksNow.read(context) == [])
            }
        }
    }

    @Test func aSavepointTakesItsAnnouncementsBack() async throws {
        try await withDatabase { database, context, _ in
            try await database.tracking.install()
            let writer = database.makeContext()
            let (first, second) = (try await person(1, writer), try await person(2, writer))
            try await writer.transaction {
                try await first.lock(announcing: "outside")
                await fail(writer) {
                    try await first.lock(announcing: "inside")
                    try await second.lock(announcing: "inside")
                    #expect(try await LocksNow.read(context) == ["inside", "inside"])
                }
                #expect(try await LocksNow.read(context) == ["inside"])
                try await writer.transaction { try await second.lock(announcing: "kept") }
                #expect(try await LocksNow.read(context) == ["inside", "kept"])
            }
            #expect(try await LocksNow.read(context) == [])
        }
    }

    /// All connections of the pool are in transactions that announce.
    @Test func anExhaustedPoolAnnounces() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.maximumConnections = 1
        let database = try await Database.connect(configuration)
        try await withDatabase { other, context, _ in
            try await other.tracking.install()
            let writer = database.makeContext()
            let object = try await person(1, writer)
            try await writer.transaction {
                try await object.lock(announcing: "alone")
                #expect(try await LocksNow.read(context) == ["alone"])
            }
        }
        await database.close()
    }

    /// The holder cannot say that it is gone: the server knows.
    @Test func aLostConnectionReleases() async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            let writer = database.makeContext()
            let object = try await person(1, writer)
            try? await writer.transaction {
                try await object.lock(announcing: "soon gone")
                let process = try await LocksNow.held(context).first?.process ?? 0
                try await other.query("SELECT pg_terminate_backend(\(process))")
                while try await LocksNow.read(context) != [] { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(try await LocksNow.read(context) == [])
        }
    }

    @Test func whoMayNotReadTheTableIsToldNothing() async throws {
        try await withDatabase { database, context, other in
            let role = "reader_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role)")
            try await database.tracking.install(readers: [role])
            await expectError(.accessDenied) {
                try await database.client.withConnection { connection in
                    _ = try await connection.query("SELECT set_config('role', \(role), false)")
                    var updates = try context.locks(of: "person").makeAsyncIterator()
                    _ = try await updates.next()
                }
            }
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
        }
    }

    @Test func withoutInstallationTheRemedyIsSaid() async throws {
        try await withDatabase { _, context, _ in
            let object = try await person(1, context)
            await expectError(.trackingNotInstalled) {
                try await context.transaction { try await object.lock(announcing: "x") }
            }
            await expectError(.trackingNotInstalled) { _ = try await LocksNow.read(context) }
        }
    }

    @Test func theServerTellsOfEveryLock() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let stocks = try await context.fetch("stock").sorted("book").all()
            #expect(try await context.lockedObjects(among: people + stocks) == [])
            try await other.withConnection { psql in
                _ = try await psql.query("BEGIN")
                _ = try await psql.query("SELECT FROM person WHERE id = 2 FOR UPDATE")
                _ = try await psql.query("SELECT FROM person WHERE id = 3 FOR KEY SHARE")
                _ = try await psql.query("UPDATE stock SET book = 3 WHERE book = 2")
                #expect(try await context.lockedObjects(among: people + stocks) == [people[1], stocks[1]])
                try await expectStatements(["SELECT", "SELECT"]) {
                    _ = try await context.lockedObjects(among: people)
                }
                _ = try await psql.query("COMMIT")
            }
            // A row that is gone is not locked.
            #expect(try await context.lockedObjects(among: people + stocks) == [])
            try await context.transaction {
                try await people[0].lock()
                #expect(try await context.lockedObjects(among: people) == [])
                let twins = database.makeContext()
                let twin = try await Task.detached { try await person(1, twins) }.value
                let locked = try await Task.detached { try await twins.lockedObjects(among: [twin]) }.value
                #expect(locked == [twin])
            }
        }
    }
}

/// The first element of a new sequence, outside of the task's transaction.
private enum LocksNow {
    static func held(_ context: DatabaseContext) async throws -> [AnnouncedLocks.Lock] {
        try await Task.detached {
            var updates = try context.locks(of: "person").makeAsyncIterator()
            return try await updates.next()?.held ?? []
        }.value
    }

    static func read(_ context: DatabaseContext) async throws -> [String] { try await held(context).map(\.text) }
}
