import EmbeddedPostgres
import Foundation
import KindredPostgres
import Subprocess
import Synchronization

/// A server of a test's own, which it may stop, kill and start again.
final class RestartableServer: Sendable {
    struct Failure: Error {
        let script: String
        /// The end of what the server has written to its log.
        let log: String
    }

    enum StopMode: String {
        case fast, immediate
    }

    let folder = "/tmp/kindred-restart-\(UInt32.random(in: 0..<UInt32.max))"
    /// The folder of the server's programs.
    let programs: String
    /// A folder for a tablespace.
    let smallDisk: String
    private let hasSmallDisk: Bool
    private let hasSmallLog: Bool

    /// Makes a cluster; a watchdog removes it when this process is gone.
    ///
    /// - Parameters:
    ///   - primary: a running server that the new one copies and then follows.
    ///   - settings: lines of the server's configuration.
    ///   - accessRules: lines of its `pg_hba.conf`; without any, every client is let in.
    ///   - hasSmallDisk: whether `smallDisk` is a disk of 16 MiB, which only root can make.
    ///   - hasSmallLog: whether the write-ahead log is there.
    ///   - disk: the path of the small disk, the same for a server and its replicas, each of which sees a disk of its own there.
    ///   - others: the folder of the server's programs; by default those of the primary, or of the tests' server, whose clusters
    ///     are copies of one.
    ///   - hasCertificate: whether to make a certificate, for which `openssl` has to be installed.
    init(
        following primary: RestartableServer? = nil, settings: [String] = [], accessRules: [String] = [],
        hasCertificate: Bool = false, hasSmallDisk: Bool = false, hasSmallLog: Bool = false,
        smallDiskAt disk: String? = nil, programs others: String? = nil
    ) async throws {
        self.hasSmallDisk = hasSmallDisk || hasSmallLog
        self.hasSmallLog = hasSmallLog
        smallDisk = disk ?? folder + "/small"
        if let known = others ?? primary?.programs {
            programs = known
        } else {
            programs = try await EmbeddedPostgres.shared().installation.binFolder
        }
        let make =
            if let primary {
                "\(programs)/pg_basebackup -D \(folder)/data -h \(primary.folder) -U postgres -R -X stream -c fast --no-sync"
            } else if hasSmallLog {
                "\(programs)/\(Self.initdb) -D \(folder)/data --wal-segsize=1"
            } else if others != nil {
                "\(programs)/\(Self.initdb) -D \(folder)/data"
            } else {
                "cp -a \(try await Self.emptyCluster(programs)) \(folder)/data"
            }
        let certificate = """
            cd \(folder)/data && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
                -keyout server.key -out server.crt && chmod 600 server.key || exit 1
            """
        let lines = ["listen_addresses = ''", "fsync = off", "unix_socket_directories = '\(folder)'"] + settings
        let rules = """
            cat >\(folder)/data/pg_hba.conf <<'END'
            \(accessRules.joined(separator: "\n"))
            END
            """
        try await run(
            """
            mkdir -m 700 \(folder) || exit 1
            \(Watchdog.command(for: folder, end: "\(programs)/pg_ctl -D \(folder)/data -m immediate stop"))
            \(make) || exit 1
            \(hasCertificate ? certificate : "")
            \(accessRules.isEmpty ? "" : rules)
            cat >>\(folder)/data/postgresql.conf <<'END'
            \(lines.joined(separator: "\n"))
            END
            mkdir -p -m 700 \(smallDisk)
            \(hasSmallLog ? "cd \(folder)/data && mv pg_wal ../wal && ln -s \(smallDisk)/wal pg_wal" : "")
            """)
    }

    private static let initdb =
        "initdb -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync --no-instructions"

    /// An empty cluster of this process, of which each server gets a copy: making a cluster keeps a processor busy for a
    /// second.
    private static let madeCluster = Mutex<Task<String, any Error>?>(nil)

    private static func emptyCluster(_ programs: String) async throws -> String {
        let task = madeCluster.withLock { made in
            if let made { return made }
            let new = Task {
                let folder = "/tmp/kindred-cluster-\(UInt32.random(in: 0..<UInt32.max))"
                try await run(
                    """
                    mkdir -m 700 \(folder) || exit 1
                    \(Watchdog.command(for: folder, end: ":"))
                    \(programs)/\(initdb) -D \(folder)/data || exit 1
                    """)
                return folder + "/data"
            }
            made = new
            return new
        }
        return try await task.value
    }

    /// A port for a server, below the ports that the kernel gives to clients: a connection of another test may use any
    /// of those.
    static var freePort: UInt16 {
        while true {
            let port = UInt16.random(in: 20_000..<32_768)
            if let listener = try? TestSocket.listening(on: port) {
                listener.socket.close()
                return port
            }
        }
    }

    var configuration: PostgresConfiguration {
        var configuration = PostgresConfiguration(
            endpoints: [.socket(folder: folder)], user: "postgres", database: "postgres")
        configuration.pool.acquireTimeout = .seconds(120)
        configuration.statementTimeout = .seconds(120)
        return configuration
    }

    /// Whether the server's programs were built with TLS.
    var hasTLS: Bool {
        get async {
            let question = #"test -n "$("$0/postgres" -C ssl_library -D "$1")""#
            return (try? await run("sh -c '\(question)' \(programs) \(folder)/data")) != nil
        }
    }

    /// Starts the server, again and again while processes of the earlier server still live.
    func start() async throws {
        // Mounted for the server alone: it goes with its processes.
        let copy = hasSmallLog ? "cp -a \(folder)/wal \(smallDisk)/ || exit 1" : ""
        let mount =
            "mount -t tmpfs -o size=16m,mode=700,uid=$(id -u postgres) small \(smallDisk) || exit 1\n\(copy)"
        try await run(
            inside: hasSmallDisk ? ["unshare", "-m", "sh", "-c", mount + "\nexec \"$@\"", "sh"] : [],
            """
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                \(programs)/pg_ctl -D \(folder)/data -l \(folder)/log -w -t 120 start && exit 0
                sleep 0.2
            done
            exit 1
            """)
    }

    func stop(_ mode: StopMode) async throws {
        try await run("\(programs)/pg_ctl -D \(folder)/data -m \(mode) -w -t 120 stop")
    }

    /// Makes a standby take writes.
    func promote() async throws {
        try await run("\(programs)/pg_ctl -D \(folder)/data -w -t 120 promote")
    }

    /// Sends a signal to the process that all others come from.
    func signal(_ signal: Int32) async throws {
        try await run("kill -\(signal) $(head -n 1 \(folder)/data/postmaster.pid)")
    }

    /// Sends a signal to one process of the server.
    func signal(_ signal: Int32, process: Int32) async throws {
        try await run("kill -\(signal) \(process)")
    }

    /// Stops the server and removes everything.
    func remove() async throws {
        try await run("\(programs)/pg_ctl -D \(folder)/data -m immediate -w stop; rm -rf \(folder)")
    }

    /// Runs a server for a test, and removes it however the test ends.
    static func with(
        settings: [String] = [], accessRules: [String] = [], hasSmallDisk: Bool = false, hasSmallLog: Bool = false,
        _ body: (RestartableServer) async throws -> Void
    ) async throws {
        let server = try await RestartableServer(
            settings: settings, accessRules: accessRules, hasSmallDisk: hasSmallDisk, hasSmallLog: hasSmallLog)
        do {
            try await server.start()
            try await body(server)
        } catch {
            try? await server.remove()
            throw error
        }
        try await server.remove()
    }

    func run(inside wrapper: [String] = [], _ script: String) async throws {
        try await Self.run(inside: wrapper, script, log: folder + "/log")
    }

    private static func run(inside wrapper: [String] = [], _ script: String, log: String? = nil) async throws {
        // The server refuses to run as root.
        let user = getuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments(wrapper + user + ["sh", "-c", "cd /\n" + script]), input: .none,
            output: .discarded, error: .discarded)
        guard !result.terminationStatus.isSuccess else { return }
        let log = log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        throw Failure(script: script, log: String(log.suffix(2_000)))
    }
}
