#if os(Linux)
    import Foundation
    import Glibc
    import KindredPostgres
    import KindredTesting
    import Synchronization
    import Testing

    /// Rows C5, C18 and L14 of the fault catalogue, which concern a whole process: each in one of its own.
    @Suite(.database(.empty, timeLimit: .seconds(900))) struct ProcessFaultTests {
        @Test(
            "C5: a name server that says nothing costs its own callers no more than their time, and new addresses count",
            .enabled("Only root can give a process a name server of its own") { await MountNamespace.isAllowed })
        func deadNameServer() async throws {
            let folder = "/tmp/kindred-names-\(UInt32.random(in: 0..<UInt32.max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let files = [
                "resolv.conf": "nameserver 127.0.0.77\noptions timeout:30 attempts:5\n",
                "hosts": "127.0.0.1 localhost\n127.0.0.2 moving.example\n", "nsswitch.conf": "hosts: files dns\n",
            ]
            try await ChildProcess.run(
                "ChildProcessTests/names", inside: try MountNamespace.seeing(files, in: folder),
                argument: "\(folder) \(TestDatabase.current.uri)")
        }

        // Dispatch looks each second how busy its threads are, in a file of /proc, and traps if it cannot open that: on a
        // busy machine the process may be ended before the test is over. So this is not for every run.
        @Test(
            "C18: a process without descriptors for another connection says so and goes on with those it has",
            .enabled(if: LongTests.areOn))
        func tooManyFiles() async throws {
            try await ChildProcess.run(
                "ChildProcessTests/files", inside: ["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"],
                argument: TestDatabase.current.uri, attempts: 5)
        }

        @Test("L14: after a process stood still its deadlines pass in order, and it goes on")
        func suspension() async throws {
            try await ChildProcess.run("ChildProcessTests/suspension", argument: TestDatabase.current.uri)
        }
    }

    /// The work of the processes of `ProcessFaultTests`.
    @Suite(.enabled(if: ChildProcess.argument != nil, "Part of ProcessFaultTests"), .timeLimit(.minutes(15)))
    struct ChildProcessTests {
        private func client(
            _ uri: String, configure: (inout PostgresConfiguration) -> Void = { _ in }
        ) async throws -> PostgresClient {
            var configuration = try PostgresConfiguration(uri: uri)
            configuration.pool.acquireTimeout = .seconds(120)
            configure(&configuration)
            return try await PostgresClient.connect(configuration)
        }

        @Test func names() async throws {
            let words = try #require(ChildProcess.argument).split(separator: " ").map(String.init)
            // Questions to the name server end in this socket.
            let server = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = UInt16(53).bigEndian
            place.sin_addr.s_addr = UInt32(0x7f00_004d).bigEndian
            let isBound = withUnsafePointer(to: &place) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            try #require(isBound)
            let start = ContinuousClock.now
            let failures = await withTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "silent.example")], user: "u")
                        configuration.connectTimeout = .milliseconds(300)
                        do {
                            _ = try await PostgresClient.connect(configuration)
                            return nil
                        } catch { return error as? PostgresError }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.allSatisfy { $0?.code == .connectionFailed })
            // While their threads still wait for the name server, all other tasks go on.
            let client = try await client(words[1])
            try await expectUsable(client)
            await client.close()
            #expect(ContinuousClock.now - start < .seconds(60))
            try await newAddress(folder: words[0])
        }

        /// A name that comes to mean another address is looked up again by the next attempt.
        private func newAddress(folder: String) async throws {
            let server = try ScriptedServer { session in
                session.welcome()
                while session.readMessage() != nil {}
            }
            var configuration = server.configuration
            configuration.endpoints = [.tcp(host: "moving.example", port: server.port)]
            configuration.connectTimeout = .seconds(60)
            let error = await expectPostgresError(.connectionFailed) { [configuration] in
                _ = try await PostgresClient.connect(configuration)
            }
            #expect(error?.message.contains("127.0.0.2") == true, "\(String(describing: error))")
            try "127.0.0.1 localhost moving.example\n".write(
                toFile: "\(folder)/hosts", atomically: false, encoding: .utf8)
            let client = try await PostgresClient.connect(configuration)
            #expect(client.metrics.opened == 1)
            await client.close(timeout: .zero)
        }

        @Test func files() async throws {
            let uri = try #require(ChildProcess.argument)
            // Not even what waits for sockets can be opened: that is no end for the rest of the process's life.
            try await Task.sleep(for: .milliseconds(1))
            var first: [Int32] = []
            while case let file = open("/dev/null", O_RDONLY), file >= 0 { first.append(file) }
            await expectPostgresError(.tooManyOpenFiles) {
                _ = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
            }
            for file in first { close(file) }
            let client = try await client(uri) { $0.pool.maximumConnections = 2 }
            try await client.withTransaction { _ in
                try await client.query("SELECT 1")
                // The runtime opens files of its own for the first timer of each clock, the time limit of tests included.
                try await Task.sleep(for: .milliseconds(1), clock: .suspending)
                try await Task.sleep(for: .milliseconds(1), clock: .continuous)
                var files: [Int32] = []
                while case let file = open("/dev/null", O_RDONLY), file >= 0 { files.append(file) }
                #expect(errno == EMFILE)
                // A second connection would need one more.
                let waiting = Task.detached { try await client.query("SELECT 2") }
                try await eventually("an attempt fails") { client.metrics.failedAttempts >= 2 }
                let error = await expectPostgresError(.tooManyOpenFiles) {
                    _ = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
                }
                #expect(error?.message.contains("ulimit") == true, "\(String(describing: error))")
                try await client.query("SELECT 3")
                for file in files { close(file) }
                #expect(try await waiting.value.count == 1)
            }
            #expect(client.metrics.opened == 2 && client.metrics.lost == 0)
            try await cancellation(client)
            await client.close()
        }

        /// A request to stop a statement needs a connection of its own, and is made again until there is one.
        private func cancellation(_ client: PostgresClient) async throws {
            let opened = client.metrics.opened
            var files: [Int32] = []
            let slow = Task { try await client.query("SELECT pg_sleep(600)", timeout: .milliseconds(300)) }
            try await eventually("it runs") { client.metrics.inUse == 1 }
            while case let file = open("/dev/null", O_RDONLY), file >= 0 { files.append(file) }
            // Longer than the statement may take, and shorter than the connection is waited for.
            usleep(1_000_000)
            for file in files { close(file) }
            await expectPostgresError(.timeout) { _ = try await slow.value }
            try await expectUsable(client)
            #expect(client.metrics.opened == opened && client.metrics.lost == 0)
        }

        @Test func suspension() async throws {
            let client = try await client(try #require(ChildProcess.argument)) { configuration in
                configuration.pool.maximumConnections = 4
                configuration.pool.idleTestThreshold = .milliseconds(500)
            }
            try await expectUsable(client)
            let slow = (0..<3).map { number in
                Task {
                    try await client.query(
                        "SELECT pg_sleep(600), \(number)", timeout: .milliseconds(600 + 50 * number))
                }
            }
            let answered = Task { try await client.query("SELECT pg_sleep(0.1)", timeout: .seconds(120)) }
            try await eventually("all run") { client.metrics.inUse >= 1 && client.metrics.waiting == 0 }
            let helper = Process()
            helper.executableURL = URL(fileURLWithPath: "/bin/sh")
            helper.arguments = ["-c", "sleep 1; kill -CONT \(getpid())"]
            try helper.run()
            let stopped = ContinuousClock.now
            kill(getpid(), SIGSTOP)
            // The signal may come a moment later.
            usleep(100_000)
            #expect(ContinuousClock.now - stopped > .milliseconds(500))
            for task in slow { await expectPostgresError(.timeout) { _ = try await task.value } }
            #expect(try await answered.value.count == 1)
            for _ in 0..<20 { try await expectUsable(client) }
            #expect(client.metrics.opened <= 4 && client.metrics.waiting == 0)
            await client.close()
        }
    }
#endif
