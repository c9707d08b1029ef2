import KindredPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database) struct ListenerTests {
    /// Ends the sessions of the database that listen, and returns how many there were.
    private func killListeners(_ client: PostgresClient) async throws -> Int {
        let rows = try await client.query(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'listener'
            """)
        return try rows[0].decode(0, as: Int.self) ?? 0
    }

    private func withListener(_ body: (PostgresClient, PostgresListener) async throws -> Void) async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.applicationName = "listener"
        let listener = try PostgresListener(configuration)
        defer { listener.close() }
        try await withClient { try await body($0, listener) }
    }

    private func payload(_ event: NotificationEvent?) -> String? {
        if case .notification(let notification)? = event { notification.payload } else { nil }
    }

    @Test func notificationsArriveInOrderAfterTheirCommit() async throws {
        try await withClient { client in
            let events = try await client.listen(to: "orders")
            try await client.withTransaction { _ in
                for number in 0..<100 { try await client.notify("orders", payload: "\(number)") }
                // Equal ones are one.
                try await client.notify("orders", payload: "0")
                try await client.notify("elsewhere", payload: "x")
            }
            _ = try? await client.withTransaction { _ in
                try await client.notify("orders", payload: "undone")
                try await client.query("SELECT 1 / 0")
            }
            try await client.notify("orders")
            var iterator = events.makeAsyncIterator()
            for number in 0..<100 { #expect(payload(await iterator.next()) == "\(number)") }
            let last = await iterator.next()
            #expect(payload(last)?.isEmpty == true)
        }
    }

    @Test(arguments: [
        "Mixed Case", "a\"b'; DROP TABLE x; --", "ä日本", "select", String(repeating: "ä", count: 31) + "a",
    ])
    func everyNameIsAChannel(name: String) async throws {
        try await withClient { client in
            let events = try await client.listen(to: name)
            try await client.notify(name, payload: "it's \"here\" ä")
            var iterator = events.makeAsyncIterator()
            guard case .notification(let notification)? = await iterator.next() else {
                Issue.record("no notification")
                return
            }
            #expect(notification.channel == name)
            #expect(notification.payload == "it's \"here\" ä")
            #expect(notification.processID > 0)
        }
    }

    @Test func twoSpellingsOfANameAreTwoChannels() async throws {
        try await withClient { client in
            let names = ["caf\u{E9}", "cafe\u{301}"]
            let events = [try await client.listen(to: names[0]), try await client.listen(to: names[1])]
            for payload in ["first", "last"] {
                for (number, name) in names.enumerated() {
                    try await client.notify(name, payload: "\(number) \(payload)")
                }
            }
            for (number, channel) in events.enumerated() {
                var iterator = channel.makeAsyncIterator()
                #expect(payload(await iterator.next()) == "\(number) first")
                #expect(payload(await iterator.next()) == "\(number) last")
            }
        }
    }

    @Test func whatTheServerWouldCutOrRefuseIsRefused() async throws {
        try await withClient { client in
            for name in ["", "a\0b", String(repeating: "x", count: 64), String(repeating: "ä", count: 32)] {
                await expectPostgresError(.invalidParameter) { _ = try await client.listen(to: name) }
                await expectPostgresError(.invalidParameter) { try await client.notify(name) }
            }
            let events = try await client.listen(to: "a")
            try await client.notify("a", payload: String(repeating: "x", count: 7_999))
            await expectPostgresError(.invalidParameter) {
                try await client.notify("a", payload: String(repeating: "x", count: 8_000))
            }
            await expectPostgresError(.invalidParameter) { try await client.notify("a", payload: "a\0b") }
            var iterator = events.makeAsyncIterator()
            #expect(payload(await iterator.next())?.utf8.count == 7_999)
        }
    }

    @Test func aLostConnectionIsToldBeforeWhatComesLater() async throws {
        try await withListener { client, listener in
            let first = try await listener.listen(to: "first")
            let second = try await listener.listen(to: "second")
            for round in 0..<3 {
                // The session of the round before may still be ending.
                #expect(try await killListeners(client) >= 1)
                var iterator = first.makeAsyncIterator()
                #expect(await iterator.next() == .missed(.reconnected))
                try await client.notify("first", payload: "\(round)")
                #expect(payload(await iterator.next()) == "\(round)")
            }
            // A sequence that was not read has one gap, and nothing from before it.
            var iterator = second.makeAsyncIterator()
            #expect(await iterator.next() == .missed(.reconnected))
            try await client.notify("second", payload: "last")
            #expect(payload(await iterator.next()) == "last")
        }
    }

    @Test func whoDoesNotTakeThemLosesThemAndIsTold() async throws {
        try await withClient { client in
            let events = try await client.listen(to: "flood")
            var end = try await client.listen(to: "end").makeAsyncIterator()
            try await client.query("SELECT count(pg_notify('flood', i::text)) FROM generate_series(1, 25000) AS i")
            try await client.notify("flood", payload: "last")
            try await client.notify("end")
            // Only now, so that all of them have arrived.
            _ = await end.next()
            var seen: [NotificationEvent] = []
            for await event in events {
                seen.append(event)
                if payload(event) == "last" { break }
            }
            #expect(seen.first == .missed(.overflow))
            #expect(seen.count <= 10_001)
            // The notifications after the loss are complete.
            let numbers = seen.compactMap { payload($0).flatMap { Int($0) } }
            #expect(numbers == Array((numbers.first ?? 0)...25_000))
        }
    }

    @Test func theConnectionEndsWithTheLastWhoListens() async throws {
        try await withListener { client, listener in
            func count() async throws -> Int {
                let rows = try await client.query(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'listener'
                    """)
                return try rows[0].decode(0, as: Int.self) ?? -1
            }
            for _ in 0..<3 {
                let events = try await listener.listen(to: "a")
                let others = try await listener.listen(to: "b")
                #expect(try await count() == 1)
                withExtendedLifetime((events, others)) {}
            }
            try await eventually("the connection is closed") { try await count() == 0 }
        }
    }

    @Test func closingEndsEveryLoop() async throws {
        try await withListener { client, listener in
            let events = try await listener.listen(to: "a")
            let loop = Task {
                var count = 0
                for await _ in events { count += 1 }
                return count
            }
            try await Task.sleep(for: .milliseconds(20))
            listener.close()
            #expect(await loop.value == 0)
            await expectPostgresError(.closed) { _ = try await listener.listen(to: "a") }
        }
    }

    @Test func whoWaitsWhenItIsClosedLearnsIt() async throws {
        let proxy = try FaultProxy()
        let listener = try PostgresListener(proxy.configuration)
        var first: Notifications? = try await listener.listen(to: "first")
        let isBusy = Atomic(false)
        proxy.set { direction, _ in
            if direction == .toServer { isBusy.store(true, ordering: .relaxed) }
            return .forward
        }
        proxy.drip(everyMilliseconds: 100)
        let second = Task { try await listener.listen(to: "second") }
        try await eventually("the listener is busy") { isBusy.load(ordering: .relaxed) }
        withExtendedLifetime(first) {}
        first = nil
        let third = Task { try await listener.listen(to: "third") }
        try await Task.sleep(for: .milliseconds(50))
        listener.close()
        proxy.drip(everyMilliseconds: nil)
        _ = await second.result
        await expectPostgresError(.closed) { _ = try await third.value }
    }

    @Test func refusedListeningIsTriedAgainAfterAPause() async throws {
        let proxy = try FaultProxy()
        let listener = try PostgresListener(proxy.configuration)
        defer { listener.close() }
        var events = try await listener.listen(to: "a").makeAsyncIterator()
        let attempts = Atomic(0)
        proxy.set { direction, bytes in
            guard direction == .toServer, contains(bytes, "LISTEN") else { return .forward }
            attempts.add(1, ordering: .relaxed)
            return .cut
        }
        try await withClient { client in
            try await client.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE '%LISTEN "a"%' AND pid <> pg_backend_pid()
                """)
            let start = ContinuousClock.now
            try await eventually("it tries again and again") { attempts.load(ordering: .relaxed) >= 3 }
            // With pauses: hundreds of attempts would fit into a second.
            let seconds = Int((ContinuousClock.now - start) / .seconds(1))
            #expect(attempts.load(ordering: .relaxed) <= 20 * (seconds + 1))
            proxy.set { _, _ in .forward }
            #expect(await events.next() == .missed(.reconnected))
            try await client.notify("a", payload: "again")
            #expect(payload(await events.next()) == "again")
        }
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        try await withListener { _, listener in
            let events = try await listener.listen(to: "a")
            let loop = Task { for await _ in events {} }
            try await Task.sleep(for: .milliseconds(20))
            loop.cancel()
            await loop.value
        }
    }

    @Test func aServerThatCannotBeReachedIsAnError() async throws {
        let listener = try PostgresListener(PostgresConfiguration(uri: "postgresql://nobody@127.0.0.1:1/nowhere"))
        await expectPostgresError(.connectionFailed) { _ = try await listener.listen(to: "a") }
    }
}
