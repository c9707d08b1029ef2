import KindredMigrations
import KindredTerminal

/// The findings in migration files, for people.
struct MigrationLintPage {
    let terminal: Terminal

    /// Prints the findings by file and line, the parts that were not looked at, and the counts.
    ///
    /// A rule's remedy stands below its first finding only.
    func print(_ lint: MigrationLint) {
        var explained: Set<String> = []
        for finding in lint.findings {
            let level = terminal.styled(finding.rule.level.rawValue, style(of: finding.rule.level))
            let rule = terminal.styled("\(finding.rule.id) \(finding.rule.name)", .bold)
            terminal.print("\(finding.file):\(finding.line): \(level): \(finding.message) [\(rule)]")
            if explained.insert(finding.rule.id).inserted { terminal.print("    \(finding.rule.remedy)") }
        }
        if !lint.findings.isEmpty { terminal.print() }
        printSkipped(lint.skipped)
        terminal.print(summary(of: lint))
    }

    /// Prints the parts that were not looked at, one line for all parts of a file that have the same reason.
    private func printSkipped(_ skipped: [MigrationLint.Skip]) {
        if skipped.isEmpty { return }
        terminal.print("Not looked at")
        var rest = skipped[...]
        while let first = rest.first {
            let same = rest.filter { $0.file == first.file && $0.reason == first.reason }
            rest = rest.filter { $0.file != first.file || $0.reason != first.reason }[...]
            let lines = same.map { "\($0.line)" }.joined(separator: ", ")
            terminal.print("  \(first.file):\(lines): \(first.reason)")
        }
        terminal.print()
    }

    private func style(of level: MigrationRule.Level) -> Terminal.Style {
        switch level {
        case .note: .blue
        case .warning: .yellow
        case .error: .red
        }
    }

    private func summary(of lint: MigrationLint) -> TerminalText {
        let counts = MigrationRule.Level.allCases.reversed().map { level in
            let count = lint.findings.count { $0.rule.level == level }
            return "\(count) \(level)\(count == 1 ? "" : "s")"
        }
        var text = lint.findings.isEmpty ? "No findings" : counts.joined(separator: ", ")
        text += " in \(lint.files.count) file\(lint.files.count == 1 ? "" : "s")"
        if lint.ignoredCount > 0 { text += "; \(lint.ignoredCount) ignored" }
        return TerminalText(text + ".")
    }

    /// Prints the reason for a rule, and the way to do without it.
    func print(_ rule: MigrationRule) {
        terminal.print("\(terminal.styled("\(rule.id) \(rule.name)", .bold)) (\(rule.level.rawValue))")
        terminal.print()
        terminal.printLines("\(rule.summary)\n\n\(rule.remedy)\n")
        terminal.print()
        terminal.print("Ignore it by --ignore \(rule.id), or in a file by the line -- kindred: ignore \(rule.id)")
    }
}
