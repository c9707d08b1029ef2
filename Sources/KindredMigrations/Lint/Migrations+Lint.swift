public import KindredPostgres

// A look at files that have not run.
extension Migrations {
    /// Looks at the files for statements that block, break or fail.
    ///
    /// Sends nothing. A file that cannot be run is a finding. A line `-- kindred: ignore M101`, of one or more rules, leaves out their
    /// findings in its file.
    ///
    /// - Parameters:
    ///   - number: Only files with a higher number are looked at; nil for all.
    ///   - ignored: The numbers of rules to leave out, or ``MigrationFinding/ignoreKey`` of findings.
    /// - Throws: ``MigrationError`` `.invalidFolder`.
    public func lint(after number: Int64? = nil, ignoring ignored: Set<String> = []) throws -> MigrationLint {
        let files = try allFiles()
        let pending = files.filter { file in number.map { file.number > $0 } ?? true }
        return Self.lint(files, pending: Set(pending.map(\.number)), ignored)
    }

    /// Looks at the files that have not run in a database, as ``lint(after:ignoring:)`` does.
    ///
    /// Two statements, or one if nothing has ever run; changes nothing.
    ///
    /// - Parameters:
    ///   - client: The database's client.
    ///   - ignored: The numbers of rules to leave out, or ``MigrationFinding/ignoreKey`` of findings.
    /// - Throws: ``MigrationError`` `.invalidFolder`; `PostgresError` if the records cannot be read.
    public func lint(
        pendingFor client: PostgresClient, ignoring ignored: Set<String> = []
    ) async throws -> MigrationLint {
        let files = try allFiles()
        let records = try await MigrationRecords(client, owner: owner).readIfThere(comparing: [])
        return Self.lint(files, pending: Set(Self.unrecorded(files, records).map(\.number)), ignored)
    }

    private static func lint(
        _ files: [MigrationFile], pending: Set<Int64>, _ ignored: Set<String>
    ) -> MigrationLint {
        var (lint, history) = (MigrationLint(), LintHistory())
        for file in files {
            var look = FileLint(file, history)
            look.run()
            history = look.history
            guard pending.contains(file.number) else { continue }
            lint.files.append(file.name)
            lint.skipped += look.skipped + file.unknownIgnored
            let left = look.findings.filter { finding in
                !file.ignoredRules.contains(finding.rule.id) && !ignored.contains(finding.rule.id)
                    && !ignored.contains(finding.ignoreKey)
            }
            lint.ignoredCount += look.findings.count - left.count
            lint.findings += left.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
                .map(\.element)
        }
        return lint
    }
}

extension MigrationFile {
    /// The numbers of the rules that lines `-- kindred: ignore` name.
    fileprivate var ignoredRules: Set<String> { Set(ignoreMarks.compactMap { MigrationRule.named($0.rule)?.id }) }

    fileprivate var unknownIgnored: [MigrationLint.Skip] {
        ignoreMarks.filter { MigrationRule.named($0.rule) == nil }.map { mark in
            MigrationLint.Skip(file: name, line: mark.line, reason: "There is no rule \"\(mark.rule)\" to ignore.")
        }
    }
}
