import EmbeddedPostgres
import Foundation
import Testing

@Suite struct EmbeddedPostgresTests {
    @Test(.timeLimit(.minutes(15)))
    func listensOnASocketOfItsOwnAndLeavesNothing() async throws {
        let server = try await EmbeddedPostgres.start()
        #expect(server.isRunning)
        #expect(FileManager.default.fileExists(atPath: "\(server.folder)/.s.PGSQL.5432"))
        let mode = try FileManager.default.attributesOfItem(atPath: server.folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        await server.stop()
        #expect(!server.isRunning)
        #expect(!FileManager.default.fileExists(atPath: server.folder))
        await server.stop()
    }

    @Test(.timeLimit(.minutes(15)))
    func serversOfOneProcessAreIndependent() async throws {
        try await EmbeddedPostgres.withServer { first in
            try await EmbeddedPostgres.withServer { second in
                #expect(first.folder != second.folder)
                await first.stop()
                #expect(second.isRunning)
            }
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func aClosureThatThrowsStopsTheServer() async throws {
        struct Stop: Error {}
        var folder = ""
        await #expect(throws: Stop.self) {
            try await EmbeddedPostgres.withServer { server in
                folder = server.folder
                throw Stop()
            }
        }
        #expect(!folder.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test(.timeLimit(.minutes(15)))
    func theLastReferenceStopsTheServer() async throws {
        var server: EmbeddedPostgres? = try await EmbeddedPostgres.start()
        let folder = try #require(server?.folder)
        server = nil
        while FileManager.default.fileExists(atPath: folder) { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test(.timeLimit(.minutes(15)))
    func aCrashIsNoticedAndCleanedUp() async throws {
        let server = try await EmbeddedPostgres.start()
        let pidFile = try String(contentsOfFile: server.dataFolder + "/postmaster.pid", encoding: .utf8)
        let pid = try #require(pidFile.split(separator: "\n").first.flatMap { Int32($0) })
        kill(pid, SIGKILL)
        while server.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(!FileManager.default.fileExists(atPath: server.folder))
    }

    @Test(.timeLimit(.minutes(15)))
    func aCancelledStartEndsAtOnce() async throws {
        let task = Task { try await EmbeddedPostgres.start() }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.timeLimit(.minutes(15)))
    func theSharedServerIsOne() async throws {
        async let first = EmbeddedPostgres.shared()
        async let second = EmbeddedPostgres.shared()
        #expect(try await first === second)
    }

    @Test func theAddressNamesTheSocketsFolder() async throws {
        let server = try await EmbeddedPostgres.shared()
        #expect(server.uri == "postgresql://postgres@/postgres?host=\(server.folder)")
        #expect(server.uri(database: "a b/ü") == "postgresql://postgres@/a%20b%2F%C3%BC?host=\(server.folder)")
        #expect(server.connectionParameters["host"] == server.folder)
    }
}
