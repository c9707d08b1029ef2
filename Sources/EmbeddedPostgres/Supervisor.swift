import Subprocess
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs the supervising shell of one server and reads its reports.
final class Supervisor: Sendable {
    /// The shell's reports so far.
    private struct Report {
        var isReady = false
        var isEnding = false
        var isLate = false
        /// The step that failed, and the last lines of the log.
        var failedStep: String?
        var log: [String] = []
        var launchError: String?
    }

    private let report = Mutex(Report())
    private let installation: PostgresInstallation
    private let folder: String
    private let user: ServerUser?
    /// Finished when the shell reported `ready`, has ended, or has timed out.
    private let readiness = AsyncStream<Void>.makeStream()
    /// Finished when the server has to stop, or has stopped.
    private let stopping = AsyncStream<Void>.makeStream()
    /// The task that runs the shell; it keeps this object until it ends.
    private let life = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter primary: the folder of the server to follow; nil for a new cluster.
    init(
        installation: PostgresInstallation, folder: String, user: ServerUser?, settings: String, primary: String?,
        superuser: EmbeddedPostgres.Superuser?
    ) {
        self.installation = installation
        self.folder = folder
        self.user = user
        let environment = environment(settings: settings, primary: primary, superuser: superuser)
        life.withLock { $0 = Task { await run(in: environment) } }
    }

    var isRunning: Bool {
        report.withLock { $0.isReady && !$0.isEnding }
    }

    func requestStop() {
        report.withLock { $0.isEnding = true }
        stopping.continuation.finish()
    }

    func waitUntilEnded() async {
        await life.withLock { $0 }?.value
    }

    /// Returns when the server accepts connections.
    func waitUntilReady(timeout: Duration) async throws {
        let timer = Task {
            try await Task.sleep(for: timeout)
            report.withLock { $0.isLate = !$0.isReady }
            readiness.continuation.finish()
        }
        for await _ in readiness.stream {}
        timer.cancel()
        if isRunning, !Task.isCancelled { return }
        // The shell cleans up by itself after its current step; waiting for it is not needed.
        requestStop()
        try Task.checkCancellation()
        throw report.withLock { failure(in: $0, timeout: timeout) }
    }

    private func run(in environment: Environment) async {
        var options = PlatformOptions()
        options.createSession = true
        let host = String(ProcessInfo.processInfo.processIdentifier)
        let words =
            (user?.command ?? []) + ["sh", "-c", SupervisorScript.command, "kindred-postgres", installation.binFolder]
            + [folder, host]
        do {
            _ = try await Subprocess.run(
                .name(words[0]),
                arguments: Arguments(Array(words.dropFirst())),
                environment: environment,
                platformOptions: options,
                input: .inputWriter,
                output: .sequence,
                error: .discarded
            ) { shell in
                let pid = shell.processIdentifier.value
                ExitWatch.add(pid, folder: folder)
                defer { ExitWatch.remove(pid) }
                async let stopped: Void = {
                    for await _ in stopping.stream {}
                    try? await shell.standardInputWriter.finish()
                }()
                try? await follow(shell.standardOutput)
                stopping.continuation.finish()
                await stopped
            }
        } catch {
            report.withLock { $0.launchError = "\(error)" }
        }
        report.withLock { $0.isEnding = true }
        readiness.continuation.finish()
    }

    private func follow(_ output: SubprocessOutputSequence) async throws {
        for try await line in output.strings() {
            let line = line.filter { !$0.isNewline }
            let isReady = report.withLock { report in
                if report.failedStep != nil {
                    report.log.append(line)
                } else if line.hasPrefix("failed ") {
                    report.failedStep = String(line.dropFirst("failed ".count))
                } else if line == "ready" {
                    report.isReady = true
                }
                return report.isReady
            }
            if isReady { readiness.continuation.finish() }
        }
    }

    /// The server's environment: of the host's only the library paths.
    private func environment(
        settings: String, primary: String?, superuser: EmbeddedPostgres.Superuser?
    ) -> Environment {
        let host = ProcessInfo.processInfo.environment
        var variables: [Environment.Key: String] = [
            "PATH": SearchPath.current,
            "LC_ALL": "C",
            "KINDRED_SUPERVISOR": SupervisorScript.text,
            "KINDRED_SETTINGS": settings,
            "KINDRED_LOCALE": localeOptions,
            "KINDRED_PRIMARY": primary ?? "",
            "KINDRED_SUPERUSER": superuser?.name ?? EmbeddedPostgres.user,
            "KINDRED_PASSWORD": superuser?.password ?? "",
        ]
        for name in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
            if let value = host[name], let key = Environment.Key(rawValue: name) { variables[key] = value }
        }
        return .custom(variables)
    }

    /// Text sorts by code point, and case mapping works beyond ASCII, the same on every machine.
    private var localeOptions: String {
        if installation.majorVersion >= 17 {
            return "--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
        }
        #if os(macOS)
            return "--locale=C --lc-ctype=UTF-8"
        #else
            return "--locale=C.UTF-8"
        #endif
    }

    private func failure(in report: Report, timeout: Duration) -> EmbeddedPostgresError {
        let who = user.map { "The user \($0.name)" } ?? "This process"
        let log = report.log.joined(separator: "\n")
        if report.isLate {
            return EmbeddedPostgresError(
                .timeout,
                "The server was not ready after \(timeout): allow a longer startTimeout, or reduce the machine's load.")
        }
        switch report.failedStep {
        case "access":
            return EmbeddedPostgresError(
                .invalidBinFolder,
                "\(who) may not run the programs in \(installation.binFolder): "
                    + "open it and the folders above it with `chmod a+rx`.")
        case "folder":
            return EmbeddedPostgresError(
                .folderFailed, "\(who) cannot write \(folder): choose another parentFolder, or make room on the disk.")
        case "initdb":
            return EmbeddedPostgresError(
                .initializationFailed, "\(installation.binFolder)/initdb could not create a cluster in \(folder):",
                log: log)
        case "copy":
            return EmbeddedPostgresError(
                .initializationFailed,
                "\(installation.binFolder)/pg_basebackup could not copy the server to follow into \(folder):", log: log)
        case "start":
            return EmbeddedPostgresError(
                .startFailed, "PostgreSQL \(installation.version) ended while starting:", log: log)
        default:
            let reason = report.launchError ?? "the supervising shell ended unexpectedly"
            return EmbeddedPostgresError(.launchFailed, "\(who) could not run a shell for the server: \(reason).")
        }
    }
}
