import Synchronization

/// A private PostgreSQL server that lives as long as the process that started it.
///
/// The server is a new, empty cluster in a folder of its own, with a unix socket that only its user can open.
/// It is meant for tests, demonstrations and tools: writes are fast because they are not durable (`fsync` and
/// its relatives are off), and the data is deleted at the end.
///
/// ```swift
/// let server = try await EmbeddedPostgres.start()
/// print(server.uri)          // postgresql://postgres@/postgres?host=/tmp/kindred-pg-…
/// await server.stop()
/// ```
///
/// The server stops, and its folder is removed, on ``stop()``, with the last reference to this object, or
/// with the process, however it ends: a supervising shell holds the other end of a pipe and cleans up when
/// the pipe closes. No signal handler is installed in the host process. If the supervisor was killed, the
/// next start cleans up.
///
/// PostgreSQL refuses to run as root; started by root, it runs as `postgres` or `nobody` instead.
public final class EmbeddedPostgres: Sendable {
    /// The server's programs.
    public let installation: PostgresInstallation

    /// The folder that holds everything of this server: its data, its socket and its log.
    public let folder: String

    private let supervisor: Supervisor
    private let superuser: Superuser?

    private init(
        installation: PostgresInstallation, folder: String, supervisor: Supervisor, superuser: Superuser?
    ) {
        self.installation = installation
        self.folder = folder
        self.supervisor = supervisor
        self.superuser = superuser
    }

    deinit {
        supervisor.requestStop()
    }

    /// Creates and starts a new server, ready for connections.
    ///
    /// - Parameter options: Settings, folders and the start's timeout.
    /// - Returns: The running server.
    /// - Throws: ``EmbeddedPostgresError``, which names the remedy. Nothing is left behind.
    ///   `CancellationError` if the task is cancelled; the half-started server is stopped.
    public static func start(options: Options = Options()) async throws -> EmbeddedPostgres {
        let installation = try await PostgresInstallation.find(binFolder: options.binFolder)
        let user = try await ServerUser.find(named: options.user)
        let folder = try ServerFolder.path(in: options.parentFolder, asOtherUser: user != nil)
        let supervisor = Supervisor(
            installation: installation, folder: folder, user: user, settings: try options.settingsFile(),
            primary: options.following?.folder, superuser: options.superuser)
        try await supervisor.waitUntilReady(timeout: options.startTimeout)
        return EmbeddedPostgres(
            installation: installation, folder: folder, supervisor: supervisor, superuser: options.superuser)
    }

    /// Starts a server, lends it to a closure, and stops it, even if the closure throws.
    ///
    /// - Parameters:
    ///   - options: As for ``start(options:)``.
    ///   - body: The work to do while the server runs.
    /// - Returns: The closure's result.
    /// - Throws: As ``start(options:)``, or the closure's own error, unchanged.
    public static func withServer<Result>(
        options: Options = Options(),
        _ body: (EmbeddedPostgres) async throws -> Result
    ) async throws -> Result {
        let server = try await start(options: options)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Stops the server at once and removes its folder.
    ///
    /// Open connections are closed. Returns when server and folder are gone. Idempotent.
    public func stop() async {
        supervisor.requestStop()
        await supervisor.waitUntilEnded()
    }

    /// Whether the server is running: false after ``stop()`` and after a crash.
    public var isRunning: Bool {
        supervisor.isRunning
    }
}

extension EmbeddedPostgres {
    /// The superuser of every embedded server that a program starts.
    public static let user = "postgres"

    /// The port in the socket's name; the server does not listen on TCP.
    public static let port = 5432

    /// The address of the server's `postgres` database.
    public var uri: String {
        uri(database: "postgres")
    }

    /// Returns the address of a database on this server.
    ///
    /// - Parameter database: The name of the database, which need not exist yet.
    /// - Returns: A connection URI for libpq and Kindred.
    public func uri(database: String) -> String {
        uri(database: database, user: superuser.map { "\($0.name):\($0.password)" } ?? Self.user)
    }

    /// Returns the address of a database for another role that may log in, whose name needs no quotes.
    package func uri(database: String, role: String) -> String {
        uri(database: database, user: percentEncoded(role))
    }

    private func uri(database: String, user: String) -> String {
        "postgresql://\(user)@/\(percentEncoded(database))?host=\(percentEncoded(folder, keepingSlash: true))"
    }

    /// The end of CREATE DATABASE … TEMPLATE … on this server: as nothing is durable, copied files cost half as much as a copy
    /// through the log, which is the default of PostgreSQL 15 and later.
    package var copyStrategy: String { installation.majorVersion < 15 ? "" : " STRATEGY file_copy" }

    /// The same address as libpq's keywords: `host` (the socket's folder), `port`, `user` and `dbname`.
    public var connectionParameters: [String: String] {
        ["host": folder, "port": String(Self.port), "user": superuser?.name ?? Self.user, "dbname": "postgres"]
    }

    /// The server's data directory.
    public var dataFolder: String { folder + "/data" }

    /// The server's log file.
    public var logFile: String { folder + "/log" }
}

private func percentEncoded(_ text: String, keepingSlash: Bool = false) -> String {
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        case UInt8(ascii: "/") where keepingSlash:
            result.append("/")
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
    }
    return result
}

extension EmbeddedPostgres {
    /// The server shared by the whole process, started by the first call.
    ///
    /// It runs until the process ends. The next call replaces a shared server that was stopped or has crashed,
    /// and retries a failed start.
    ///
    /// - Returns: The running server.
    /// - Throws: As ``start(options:)``.
    public static func shared() async throws -> EmbeddedPostgres { try await server.get() }

    private static let server = SharedServer(Options.init)
}

/// A server of the whole process, which is started when it is first asked for.
package final class SharedServer: Sendable {
    private let options: @Sendable () -> EmbeddedPostgres.Options
    private let lastStart = Mutex<Task<EmbeddedPostgres, any Error>?>(nil)

    /// - Parameter options: Makes the options of each start.
    package init(_ options: @escaping @Sendable () -> EmbeddedPostgres.Options) { self.options = options }

    /// The running server.
    ///
    /// A server that was stopped or has crashed is replaced, and a failed start is tried again.
    package func get() async throws -> EmbeddedPostgres {
        while true {
            let options = options
            let start = lastStart.withLock { start in
                if let start { return start }
                // Not a child task: the server outlives the first caller's task, whose cancellation must not stop it.
                let new = Task { try await EmbeddedPostgres.start(options: options()) }
                start = new
                return new
            }
            do {
                let server = try await start.value
                if server.isRunning { return server }
                forget(start)
            } catch {
                forget(start)
                throw error
            }
        }
    }

    private func forget(_ start: Task<EmbeddedPostgres, any Error>) {
        lastStart.withLock { if $0 == start { $0 = nil } }
    }
}
