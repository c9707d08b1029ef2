public import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Numbered SQL files that run once each, in their order: of a folder, of a bundle, or in the program itself.
///
/// ```swift
/// let client = try await PostgresClient.connect(configuration)
/// try await Migrations(folder: "Migrations").apply(to: client)
/// ```
///
/// Files that have run are recorded in the table `kindred.migration`, which is no entity. While files run, an advisory
/// lock of the session keeps other processes from doing the same; it ends with the session. Behind a pooler in
/// transaction mode there are no sessions: connect to the server itself.
public struct Migrations: Sendable {
    /// The folder's path; nil for files in the program.
    public var folder: String? { if case .folder(let path) = source { path } else { nil } }
    private let source: FolderReader.Source
    /// The longest time to wait while another process applies migrations.
    public var lockTimeout: Duration = .seconds(600)
    /// Whether a file may run although one with a higher number has; by default that is an error.
    public var allowsOutOfOrder = false
    /// A role that is trusted and has made the table of the files that have run, besides the caller's own and superusers.
    ///
    /// Triggers and other code of a table that another role has made run with the caller's rights: such a table is
    /// refused (`.otherOwner`) before it is used, and so is the schema `kindred` of another role. A superuser uses only
    /// objects that superusers have made.
    public var owner: String?
    /// The files, once they were read for several calls.
    private var kept: [MigrationFile]?

    /// Names a folder; its files are read when they are needed.
    public init(folder: String) { source = .folder(folder) }

    /// Takes files that stand in the program, by their names, such as `0001_people.sql`; the plugin `KindredMigrationsPlugin` writes
    /// them into it, as `Migrations.embedded`.
    public init(files: some Sequence<(key: String, value: String)>) {
        source = .program(Dictionary(files.map { (ServerText($0.key), Data($0.value.utf8)) }) { _, last in last })
    }

    /// Reads the files, in their order.
    ///
    /// Throws ``MigrationError`` `.invalidFolder` and `.invalidFile`, the first problem with all other problems in its
    /// `further`.
    public func files() throws -> [MigrationFile] {
        let files = try allFiles()
        if let error = MigrationError(files.flatMap(\.problems)) { throw error }
        return files
    }

    /// All files; files that have run need not be valid, since another tool may have run them.
    package func allFiles() throws -> [MigrationFile] { try kept ?? FolderReader.files(in: source) }

    /// The folder with its files read: the calls that follow use the files as they are now.
    package func read() throws -> Migrations {
        var migrations = self
        migrations.kept = try allFiles()
        return migrations
    }

    /// The state of each file: run, or still to run.
    ///
    /// Two statements, or one if nothing has ever run, however many files there are; takes no lock and changes nothing. The
    /// second one sends the files' texts, since the server makes the checksums. Throws ``MigrationError`` `.invalidFolder` and
    /// `.invalidFile`.
    public func status(of client: PostgresClient) async throws -> [MigrationStatus] {
        let files = try allFiles()
        let records = try await MigrationRecords(client, owner: owner).readIfThere(comparing: files)
        if let error = MigrationError(Self.unrecorded(files, records).flatMap(\.problems)) { throw error }
        return MigrationStatus.all(files, records)
    }

    /// Runs the files that have not run yet.
    ///
    /// A file is one transaction, in which it is recorded, too; with a line `-- kindred: no transaction` each of its
    /// statements is one. If a statement fails, its file is rolled back, files before it stay, and files after it do
    /// not run.
    ///
    /// Statements, one round trip each: four where nothing is to run; three more the first time, which make the table; for each
    /// file that runs five, BEGIN and COMMIT, and its own, or six and its own without a transaction. While another process
    /// applies migrations, one for each look at the lock. The client's statement timeout does not hold for the files'
    /// statements.
    ///
    /// - Returns: The files that ran now.
    /// - Throws: ``MigrationError``, before anything runs: `.invalidFolder`, `.invalidFile`, `.changed`, `.missing`,
    ///   `.outOfOrder`, `.unfinished`, the first problem with all other problems in its `further`, and `.locked`;
    ///   `.failed` with file and line, and with the server's message, if a statement fails, or without a line if the
    ///   server refuses COMMIT. `PostgresError` if the records cannot be read or written.
    @discardableResult
    public func apply(to client: PostgresClient) async throws -> [MigrationFile] {
        var applied: [MigrationFile] = []
        try await apply(to: client) { applied.append($0) }
        return applied
    }

    /// Runs the files that have not run yet, and calls a closure with each file when it has run.
    package func apply(to client: PostgresClient, _ didRun: (MigrationFile) -> Void) async throws {
        try await apply(to: MigrationRecords(client, owner: owner), didRun)
    }

    /// Runs the files that have not run yet, by the records of the database or a tenant, and tells of each.
    func apply(to records: MigrationRecords, _ didRun: (MigrationFile) -> Void) async throws {
        let files = try allFiles()
        guard !records.client.isInTransaction else {
            throw PostgresError(
                .invalidParameter, "Migrations make transactions of their own; apply them outside of one")
        }
        try await records.client.withConnection { _ in
            let lock = MigrationLock(records.client, ofTenant: records.tenant)
            try await lock.hold(within: lockTimeout) {
                if files.contains(where: { !$0.problems.isEmpty }) {
                    // Where one of them is to run, not even the table is made.
                    _ = try pending(files, try await records.readIfThere(comparing: files))
                }
                try await records.makeTable()
                for file in try pending(files, try await records.read(comparing: files)) {
                    try await MigrationRun(records: records, lock: lock).run(file)
                    didRun(file)
                }
            }
        }
    }

    /// The files that `apply` would run; sends as ``status(of:)`` does, and changes nothing.
    ///
    /// Throws as ``apply(to:)`` does before anything runs.
    public func pending(for client: PostgresClient) async throws -> [MigrationFile] {
        try await pending(by: MigrationRecords(client, owner: owner))
    }

    func pending(by records: MigrationRecords) async throws -> [MigrationFile] {
        let files = try allFiles()
        return try pending(files, try await records.readIfThere(comparing: files))
    }

    /// Records the outcome of a file that ran without a transaction and failed, once its traces were looked at by hand.
    ///
    /// Four statements: two of its own, and one each to take and to give back the lock.
    ///
    /// - Parameters:
    ///   - number: The file's number.
    ///   - isDone: Whether everything that it does is done; otherwise it runs again.
    ///   - client: The database's client.
    ///   - tenant: The schema of the tenant in which it ran; nil for the database's own files.
    /// - Throws: ``MigrationError`` `.missing` if there is no unfinished file of that number.
    public func resolve(
        _ number: Int64, isDone: Bool, in client: PostgresClient, ofTenant tenant: String? = nil
    ) async throws {
        try await client.withConnection { _ in
            try await MigrationLock(client, ofTenant: tenant).hold(within: lockTimeout) {
                let records = MigrationRecords(client, ofTenant: tenant, owner: owner)
                guard try await records.resolve(number, isDone: isDone) == 1 else {
                    throw MigrationError(.missing, "No file of the number \(number) is unfinished.")
                }
            }
        }
    }

    func pending(_ files: [MigrationFile], _ records: [MigrationRecord]) throws -> [MigrationFile] {
        let pending = Self.unrecorded(files, records)
        var problems = pending.flatMap(\.problems) + MigrationStatus.all(files, records).compactMap(\.error)
        if !allowsOutOfOrder, let last = records.last {
            problems += pending.prefix { $0.number < last.number }.map { file in
                MigrationError(
                    .outOfOrder,
                    "\(last.name) has run already, which has a higher number. Give the file a new number, or allow the order.",
                    file: file.name)
            }
        }
        if let error = MigrationError(problems) { throw error }
        return pending
    }

    /// The files that have neither run nor begun to.
    static func unrecorded(_ files: [MigrationFile], _ records: [MigrationRecord]) -> [MigrationFile] {
        let recorded = Set(records.map(\.number))
        return files.filter { !recorded.contains($0.number) }
    }
}

/// The state of one file.
public struct MigrationStatus: Sendable, Hashable {
    /// The state of a file.
    public enum State: String, Sendable {
        /// It has run.
        case applied
        /// It has not run.
        case pending
        /// It has run, and is another now.
        case changed
        /// It has run, and is not in the folder.
        case missing
        /// It began without a transaction, and did not come to its end.
        case unfinished
    }

    /// The file's number.
    public let number: Int64
    /// The file's name; the record's name if the file is missing.
    public let name: String
    /// The file's state.
    public let state: State
    /// When it ran, as the server writes the time.
    public let appliedAt: String?

    static func all(_ files: [MigrationFile], _ records: [MigrationRecord]) -> [MigrationStatus] {
        let byNumber = Dictionary(files.map { ($0.number, $0) }) { first, _ in first }
        var result = records.map { record in
            let file = byNumber[record.number]
            let state: State =
                !record.isFinished
                ? .unfinished : file == nil ? .missing : record.isSame == true ? .applied : .changed
            return MigrationStatus(
                number: record.number, name: file?.name ?? record.name, state: state, appliedAt: record.appliedAt)
        }
        let recorded = Set(records.map(\.number))
        for file in files where !recorded.contains(file.number) {
            result.append(MigrationStatus(number: file.number, name: file.name, state: .pending, appliedAt: nil))
        }
        return result.sorted { $0.number < $1.number }
    }

    /// The error that keeps all files from running in this state; nil if none does.
    var error: MigrationError? {
        switch state {
        case .applied, .pending: nil
        case .changed:
            MigrationError(
                .changed,
                "The file was changed after it ran. Put it back as it was, and write what is new into a new file.",
                file: name)
        case .missing:
            MigrationError(.missing, "The file has run and is not in the folder. Put it back.", file: name)
        case .unfinished:
            MigrationError(
                .unfinished,
                "The file runs without a transaction and failed before its end. Look at what it did, and resolve it: as "
                    + "done, or to run again.", file: name)
        }
    }
}
