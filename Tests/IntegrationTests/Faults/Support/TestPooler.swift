import Foundation
import KindredPostgres
import KindredTesting

/// PgBouncer before the test's server, which lends its sessions by transaction unless told otherwise.
final class TestPooler: Sendable {
    struct Failure: Error {}

    /// `KINDRED_TEST_PGBOUNCER` names another version.
    private static let program = [
        ProcessInfo.processInfo.environment["KINDRED_TEST_PGBOUNCER"] ?? "", "/usr/sbin/pgbouncer",
        "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer",
    ]
    .first(where: FileManager.default.isExecutableFile(atPath:))

    /// Whether it tracks prepared statements, as versions from 1.21 on do.
    static let tracksPrepared: Bool = {
        guard let program, let version = try? output(of: [program, "--version"]) else { return false }
        // PgBouncer 1.25.1
        let parts = version.split(whereSeparator: { $0 == " " || $0 == "." || $0.isNewline }).compactMap { Int($0) }
        return parts.count > 1 && (parts[0], parts[1]) >= (1, 21)
    }()

    private static func output(of words: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = pipe
        try process.run()
        defer { process.waitUntilExit() }
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// Whether the program is installed.
    static var isInstalled: Bool { program != nil }

    let configuration: PostgresConfiguration
    private let folder: String
    private let process: Process
    /// The beginning of the line of the user in the file of users.
    private let users: String

    /// How it lends sessions where nothing else is set.
    enum Mode: String, CaseIterable {
        case session, transaction, statement

        /// The modes that can be used.
        static let usable: [Mode] = [.session, .transaction]
    }

    /// A pooler that accepts parameters that it does not understand, with so many sessions.
    ///
    /// - Parameters:
    ///   - parameters: parameters to add to the URI over which it is used.
    ///   - kept: the number of prepared statements that it keeps for each connection; nil leaves that to it.
    ///   - resetsAlways: whether it sends DISCARD ALL after each transaction.
    convenience init(
        sessions: Int, _ parameters: String = "statementCacheCapacity=0", keeping kept: Int? = nil,
        resetsAlways: Bool = false
    ) async throws {
        // Its own limits are too short for a machine on which all tests run at once.
        try await self.init(
            settings: """
                pool_mode = transaction
                default_pool_size = \(sessions)
                ignore_startup_parameters = options,extra_float_digits
                server_connect_timeout = 300
                server_login_retry = 1
                client_login_timeout = 300
                query_wait_timeout = 0
                \(kept.map { "max_prepared_statements = \($0)" } ?? "")
                server_reset_query_always = \(resetsAlways ? 1 : 0)
                """, parameters)
    }

    /// A pooler with its package's settings, except the place, the users and the mode.
    convenience init(mode: Mode) async throws {
        try await self.init(
            settings: "pool_mode = \(mode.rawValue)", includes: "/etc/pgbouncer/pgbouncer.ini",
            mode == .transaction ? "statementCacheCapacity=0" : "application_name=kindred")
    }

    /// A pooler of transactions before another address, which logs in by a password.
    convenience init(sessions: Int, before configuration: PostgresConfiguration, password: String) async throws {
        try await self.init(
            settings: """
                pool_mode = transaction
                default_pool_size = \(sessions)
                ignore_startup_parameters = options,extra_float_digits
                server_login_retry = 1
                query_wait_timeout = 30
                """, before: configuration, password: password)
    }

    private convenience init(settings: String, includes file: String? = nil, _ parameters: String) async throws {
        let uri = try TestDatabase.current.uri
        let configuration = try PostgresConfiguration(uri: uri + (uri.contains("?") ? "&" : "?") + parameters)
        try await self.init(settings: settings, includes: file, before: configuration, password: "")
    }

    private init(
        settings: String, includes file: String? = nil, before server: PostgresConfiguration, password: String
    ) async throws {
        var configuration = server
        guard let program = Self.program, let endpoint = configuration.endpoints.first else { throw Failure() }
        let (host, port) =
            switch endpoint {
            case .socket(let folder, let port): (folder, port)
            case .tcp(_, let port, _): ("127.0.0.1", port)
            }
        let listener = try TestSocket.listening()
        listener.socket.close()
        folder = "/tmp/kindred-pooler-\(UInt32.random(in: 0..<UInt32.max))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let include = file.flatMap { FileManager.default.isReadableFile(atPath: $0) ? "%include \($0)\n" : nil } ?? ""
        try """
        \(include)[databases]
        * = host=\(host) port=\(port)
        [pgbouncer]
        logfile =
        pidfile =
        listen_addr = 127.0.0.1
        listen_port = \(listener.port)
        unix_socket_dir =
        auth_type = trust
        auth_file = \(folder)/users
        admin_users = \(configuration.user ?? "postgres")
        \(settings)
        """.write(toFile: folder + "/ini", atomically: true, encoding: .utf8)
        let user = configuration.user ?? "postgres"
        users = "\"\(user)\" "
        try (users + "\"\(password)\"\n").write(toFile: folder + "/users", atomically: true, encoding: .utf8)
        process = Process()
        // It refuses to run as root; the folder is not its own to remove then.
        let prefix = getuid() == 0 ? "runuser -u postgres --" : ""
        let script = """
            \(Watchdog.command(for: folder, end: "kill $1"))
            exec \(prefix) \(program) -q \(folder)/ini
            """
        let words = ["sh", "-c", script]
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        configuration.endpoints = [.tcp(host: "127.0.0.1", port: listener.port)]
        configuration.tls.mode = .disable
        configuration.pool.acquireTimeout = .seconds(120)
        self.configuration = configuration
    }

    /// Connects as soon as the pooler answers.
    func connect() async throws -> PostgresClient {
        for _ in 0..<100 {
            if let client = try? await PostgresClient.connect(configuration) { return client }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await PostgresClient.connect(configuration)
    }

    /// Gives the pooler a command, such as PAUSE, and waits until it is done.
    func command(_ command: String) async throws {
        var configuration = configuration
        configuration.database = "pgbouncer"
        let console = try await PostgresClient.connect(configuration)
        defer { Task { await console.close(timeout: .zero) } }
        // The console speaks the simple protocol only.
        try await console.runScript(command)
    }

    /// Logs in to the server by another password from now on.
    func change(password: String) async throws {
        try (users + "\"\(password)\"\n").write(toFile: folder + "/users", atomically: true, encoding: .utf8)
        try await command("RELOAD")
    }

    deinit {
        process.terminate()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
