import KindredAssistant
import KindredPostgres

/// The doctor's report, for people.
struct DoctorPage {
    let terminal: Terminal
    /// Whether each note is printed, and not their number alone.
    var showsNotes = true

    /// Prints every finding with its facts and repair, the most important first, and a summary; unless notes are shown,
    /// only one line for each rule with notes.
    func print(_ report: DoctorReport) {
        for finding in report.ranked where showsNotes || finding.level > .note { print(finding) }
        if !showsNotes { printCounts(of: report.findings.filter { $0.level == .note }) }
        if !report.skipped.isEmpty {
            terminal.print("Not looked at")
            for skip in report.skipped { terminal.print("  \(skip.rule): \(skip.reason)") }
            terminal.print()
        }
        terminal.print(summary(of: report))
        if let advice = advice(on: report) { terminal.print(advice) }
    }

    /// Prints how many notes each rule has.
    private func printCounts(of notes: [DoctorFinding]) {
        guard !notes.isEmpty else { return }
        let rules = Dictionary(grouping: notes, by: \.rule).sorted { $0.key < $1.key }
        terminal.print("Notes, which --all shows one by one")
        var table = TextTable()
        for (rule, notes) in rules {
            table.add([
                ("\(rule) \(notes[0].name)", .bold), ("\(notes.count)", nil),
                (DoctorRule.named(rule)?.summary ?? "", .faint),
            ])
        }
        for line in table.lines(indentation: 2, in: terminal) { terminal.print(line) }
        terminal.print()
    }

    /// Advice to begin with the rule of the most important finding.
    private func advice(on report: DoctorReport) -> TerminalText? {
        // With an annotation that does not fit no program connects.
        let ranked = report.ranked
        guard let first = ranked.first(where: { $0.rule == "K501" && $0.level == .error }) ?? ranked.first else {
            return nil
        }
        guard first.level > .note else { return "Nothing has to be done: these are notes." }
        let count = report.findings.count { $0.rule == first.rule && $0.level == first.level }
        let place = [first.entity, first.object].compactMap { $0 }.joined(separator: ".")
        let others = count > 1 ? " and \(count - 1) more" : ""
        let how = first.repair.isEmpty ? "kindred doctor --explain \(first.rule) says more" : "its SQL is above"
        return "Begin with \(terminal.styled("\(first.rule) \(first.name)", .bold)): \(place)\(others); \(how)."
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

    /// Prints a rule's summary and explanation.
    func print(_ rule: DoctorRule) {
        terminal.print("\(terminal.styled("\(rule.id) \(rule.name)", .bold)) (\(rule.level.rawValue))")
        terminal.print()
        terminal.printLines("\(rule.summary)\n\n\(rule.explanation)\n")
        terminal.print()
        terminal.print("Ignore it for a table by COMMENT ON TABLE t IS '@kindred {\"ignore\": [\"\(rule.id)\"]}',")
        terminal.print("or by a line in .kindred-doctor: \(rule.id), or \(rule.id):schema.table.object.")
    }
}
