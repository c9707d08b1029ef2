public import KindredPostgres

// A database that another tool has migrated.
extension Migrations {
    /// Counts files as run that another tool has run, and runs none.
    ///
    /// ```swift
    /// let migrations = Migrations(folder: "prisma/migrations")
    /// try await migrations.baseline(20260131120000, in: client)
    /// try await migrations.apply(to: client)
    /// ```
    ///
    /// Records all files up to the file with the number, with the present time, in one statement. Nothing tells whether
    /// they have run: compare the database with them, as by `kindred diff`. They may hold statements that Kindred would
    /// not run. A repeated call changes nothing.
    ///
    /// Eight statements, which make the table, too; six if the table exists; four if nothing is left to record.
    ///
    /// - Parameters:
    ///   - number: The number of the last file that has run.
    ///   - client: The database's client. Not in a transaction.
    /// - Returns: The files that this call recorded; none if all were recorded before.
    /// - Throws: ``MigrationError`` `.missing` if no file has the number, `.alreadyMigrated` if files are recorded, but
    ///   not all files up to the number, `.invalidFolder`, `.locked`; `PostgresError` if the records cannot be read or
    ///   written.
    @discardableResult
    public func baseline(_ number: Int64, in client: PostgresClient) async throws -> [MigrationFile] {
        let files = try allFiles()
        guard !client.isInTransaction else {
            throw PostgresError(
                .invalidParameter, "A baseline is set in a transaction of its own; do it outside of one")
        }
        return try await client.withConnection { _ in
            try await MigrationLock(client).hold(within: lockTimeout) {
                let records = MigrationRecords(client, owner: owner)
                // Before the table is made, which a wrong number should not leave behind.
                let adopted = try Self.files(files, upTo: number, besides: try await records.readIfThere(comparing: []))
                guard !adopted.isEmpty else { return [] }
                try await records.makeTable()
                try await records.add(adopted)
                return adopted
            }
        }
    }

    /// The files that `baseline` would record, and the files that `apply` would run then; sends as ``status(of:)``
    /// does, and changes nothing.
    package func pending(
        afterBaseline number: Int64, in client: PostgresClient
    ) async throws -> (counted: [MigrationFile], pending: [MigrationFile]) {
        let files = try allFiles()
        let records = try await MigrationRecords(client, owner: owner).readIfThere(comparing: files)
        let counted = try Self.files(files, upTo: number, besides: records)
        return (counted, try pending(files.filter { counted.isEmpty || $0.number > number }, records))
    }

    private static func files(
        _ files: [MigrationFile], upTo number: Int64, besides records: [MigrationRecord]
    ) throws -> [MigrationFile] {
        guard files.contains(where: { $0.number == number }) else {
            throw MigrationError(.missing, "No file of the folder has the number \(number).")
        }
        let open = unrecorded(files, records).filter { $0.number <= number }
        guard records.isEmpty || open.isEmpty else {
            throw MigrationError(
                .alreadyMigrated,
                "Files are recorded here already, and this one is not among them. A baseline is set where nothing is recorded: leave "
                    + "it out, and run the file.", file: open.first?.name)
        }
        return open
    }
}
