import KindredAssistant
import KindredPostgres

/// The repairs of a report as a script, after their trial.
struct RepairPage {
    let terminal: Terminal

    /// Prints the statements, each under the finding that it repairs, and why repairs are left out; on standard error,
    /// the counts.
    func print(_ trial: RepairTrial) {
        terminal.print(
            "-- Each statement is to be run by itself, in this order: CREATE INDEX CONCURRENTLY refuses a transaction.")
        if trial.repairs.contains(where: { $0.outcome == .works }) {
            terminal.print(
                "-- They were tried together on a copy without rows: what rows can refuse may fail, and then changes nothing."
            )
        }
        if !trial.leftOut.isEmpty {
            terminal.print("-- The copy was made without:")
            for line in trial.leftOut { terminal.print("--   \(line)") }
        }
        for repair in trial.repairs { print(repair) }
        let leftOut = trial.repairs.count { if case .leftOut = $0.outcome { true } else { false } }
        let untried = trial.repairs.count { if case .untried = $0.outcome { true } else { false } }
        printError(leftOut, "left out: a statement fails, or programs could not connect afterwards")
        printError(untried, "not tried")
    }

    private func printError(_ count: Int, _ outcome: String) {
        if count == 0 { return }
        terminal.printError("\(count) \(count == 1 ? "repair" : "repairs") \(outcome); the output says why.")
    }

    private func print(_ repair: RepairTrial.Repair) {
        let finding = "\(repair.finding.rule) \(repair.finding.message)"
        switch repair.outcome {
        case .needless: return
        case .works where repair.statements.isEmpty: return
        case .works:
            terminal.print()
            terminal.print("-- \(finding)")
            for statement in repair.statements { terminal.print("\(statement);") }
        case .untried(let reason):
            if repair.statements.isEmpty { return }
            terminal.print()
            terminal.print("-- \(finding)")
            terminal.print("-- Not tried: \(reason)")
            for statement in repair.statements { terminal.print("\(statement);") }
        case .leftOut(let reason):
            terminal.print()
            terminal.print("-- Left out: \(finding)")
            terminal.print("-- \(reason)")
            for statement in repair.statements { terminal.print("-- \(statement);") }
        }
    }
}
