#if os(Linux)
    import Foundation
    import Kindred
    import Testing

    /// Names that lead to a server which is the primary no more, as a name server tells them until it hears of a failover.
    @Suite(.timeLimit(.minutes(15))) struct StaleNameTests {
        @Test(
            .enabled("Only root can give a process a name server of its own") { await MountNamespace.isAllowed },
            .enabled(if: NameServer.isInstalled, "dnsmasq is not installed: apt-get install dnsmasq-base"))
        func writesGoToThePrimaryWhereverNamesLead() async throws {
            let folder = "/tmp/kindred-names-\(UInt32.random(in: 0..<UInt32.max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            // Other runs have servers, too.
            let network = "127.\(Int.random(in: 1...254)).\(Int.random(in: 0...255))"
            let wrapper = try MountNamespace.seeing(
                ["resolv.conf": "nameserver \(network).53\n", "nsswitch.conf": "hosts: files dns\n"], in: folder)
            try await ChildProcess.run("NamedServerTests", inside: wrapper, argument: "\(folder) \(network)")
        }
    }

    /// The work of the process of `StaleNameTests`.
    @Suite(.enabled(if: ChildProcess.argument != nil, "Part of StaleNameTests"), .timeLimit(.minutes(15)))
    struct NamedServerTests {
        private let main = "primary.example"
        private let other = "other.example"

        @Test func failover() async throws {
            let words = try #require(ChildProcess.argument).split(separator: " ").map(String.init)
            let addresses = (1...2).map { "\(words[1]).\($0)" }
            func settings(_ place: Int) -> [String] { ["listen_addresses = '\(addresses[place])'"] }
            let names = try await NameServer(
                at: words[1] + ".53", folder: words[0], [main: addresses[0], other: addresses[1]])
            try await RestartableServer.with(settings: settings(0)) { former in
                try await lend(former.configuration) { _ = try await $0.query("CREATE TABLE person (name text)") }
                let next = try await RestartableServer(following: former, settings: settings(1))
                do {
                    try await next.start()
                    try await replace(former, by: next) {
                        try await names.lead([main: addresses[1], other: addresses[0]])
                    }
                } catch {
                    try? await next.remove()
                    throw error
                }
                try await next.remove()
            }
        }

        private func configuration(_ name: String) -> PostgresConfiguration {
            var configuration = PostgresConfiguration(
                endpoints: [.tcp(host: name)], user: "postgres", database: "postgres")
            configuration.tls.mode = .disable
            return configuration
        }

        /// - Parameter exchangeNames: has each name lead to the other server.
        private func replace(
            _ former: RestartableServer, by next: RestartableServer, _ exchangeNames: () async throws -> Void
        ) async throws {
            let database = try await Database.connect(primary: configuration(main), replicas: [configuration(other)])
            try await lend(database) { database in
                let client = database.client
                try await client.query("INSERT INTO person VALUES ('first')")
                // It has one name, and goes where that leads.
                try await lend(configuration(main)) { single in
                    try await single.query("INSERT INTO person VALUES ('first')")
                    try await expect(2, "first", on: former)
                    try await former.signal(SIGKILL)
                    try await next.promote()
                    // The name leads to where no server is.
                    try await client.insist("dark")
                    try await former.start()
                    // And now to a server that takes writes, on a lower timeline.
                    for number in 0..<20 {
                        if number % 5 == 0 { client.renewConnections() }
                        try await client.query("INSERT INTO person VALUES ('stale')")
                    }
                    try await exchangeNames()
                    client.renewConnections()
                    try await client.query("INSERT INTO person VALUES ('moved')")
                    single.renewConnections()
                    try await single.query("INSERT INTO person VALUES ('moved')")
                }
            }
            for (name, count) in [("dark", 1), ("stale", 20), ("moved", 2)] as [(String, Int64)] {
                try await expect(count, name, on: next)
                try await expect(0, name, on: former)
            }
        }

        private func expect(_ count: Int64, _ name: String, on server: RestartableServer) async throws {
            try await lend(server.configuration) { client in
                let found = try await client.people(name)
                #expect(found == .integer(count), "\(name)")
            }
        }
    }
#endif
