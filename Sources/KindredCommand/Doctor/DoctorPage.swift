import KindredAssistant

/// The doctor's report, for people.
struct DoctorPage {
    let terminal: Terminal

    /// Prints every finding with its facts and repair, what matters most first, and a summary.
    func print(_ report: DoctorReport) {
        for finding in report.ranked { print(finding) }
        if !report.skipped.isEmpty {
            terminal.print("Not looked at")
            for skip in report.skipped { terminal.print("  \(skip.rule): \(skip.reason)") }
            terminal.print()
        }
        terminal.print(summary(of: report))
    }

    private func print(_ finding: DoctorFinding) {
        let level = terminal.styled(finding.level.rawValue, style(of: finding.level))
        let rule = terminal.styled("\(finding.rule) \(finding.name)", .bold)
        terminal.print("\(level): \(finding.message) [\(rule)]")
        for fact in finding.facts { terminal.print("    \(fact.name): \(fact.value)") }
        for statement in finding.repair { terminal.print("    \(terminal.styled(statement + ";", .green))") }
        terminal.print(terminal.styled("    ignore by \(finding.ignoreKey)", .faint))
        terminal.print()
    }

    private func style(of level: DoctorLevel) -> Terminal.Style {
        switch level {
        case .note: .blue
        case .warning: .yellow
        case .error: .red
        }
    }

    private func summary(of report: DoctorReport) -> TerminalText {
        let counts = DoctorLevel.allCases.reversed().map { level in
            let count = report.findings.count { $0.level == level }
            return "\(count) \(level)\(count == 1 ? "" : "s")"
        }
        var text = report.findings.isEmpty ? "No findings" : counts.joined(separator: ", ")
        if report.ignoredCount > 0 { text += "; \(report.ignoredCount) ignored" }
        if report.smallTableCount > 0 {
            text += "; \(report.smallTableCount) about small tables left out, --all shows them"
        }
        return TerminalText(text + ".")
    }

    /// Prints what a rule is about.
    func print(_ rule: DoctorRule) {
        terminal.print("\(terminal.styled("\(rule.id) \(rule.name)", .bold)) (\(rule.level.rawValue))")
        terminal.print()
        terminal.printLines("\(rule.summary)\n\n\(rule.explanation)\n")
        terminal.print()
        terminal.print("Ignore it for a table by COMMENT ON TABLE t IS '@kindred {\"ignore\": [\"\(rule.id)\"]}',")
        terminal.print("or by a line in .kindred-doctor: \(rule.id), or \(rule.id):schema.table.object.")
    }
}
