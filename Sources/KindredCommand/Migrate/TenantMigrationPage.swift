import HarmlessText
import KindredMigrations
import KindredTerminal

/// Shows the outcome of each tenant, for people and for programs.
struct TenantMigrationPage {
    let outcomes: [TenantMigration]
    let terminal: Terminal

    /// Prints a line for each tenant that was not done already, and a line with the counts.
    func print() {
        var table = TextTable()
        for outcome in outcomes where outcome.state != .skipped {
            let names = outcome.files.map(\.name).joined(separator: " ")
            let text = [names, failure(of: outcome) ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
            table.add([(outcome.state.rawValue, style(of: outcome.state)), (outcome.schema, nil), (text, nil)])
        }
        for line in table.lines(indentation: 0, in: terminal) { terminal.print(line) }
        let states: [TenantMigration.State] = [.applied, .pending, .skipped, .failed]
        let counts = states.compactMap { state -> String? in
            let count = outcomes.count { $0.state == state }
            return count == 0 ? nil : "\(count) \(state.rawValue)"
        }
        let noun = outcomes.count == 1 ? "tenant" : "tenants"
        terminal.print("\(outcomes.count) \(noun)\(counts.isEmpty ? "" : ": \(counts.joined(separator: ", "))")")
    }

    /// The error with the server's message, on one line.
    private func failure(of outcome: TenantMigration) -> String? {
        outcome.error.map { error in
            let lines = error.debugDescription.split(separator: "\n").map { $0.drop { $0 == " " } }
            return lines.joined(separator: " ")
        }
    }

    private func style(of state: TenantMigration.State) -> Terminal.Style {
        switch state {
        case .applied, .skipped: .green
        case .pending: .yellow
        case .failed: .red
        }
    }

    /// The outcomes as JSON, in a stable format that only grows.
    var json: String {
        let tenants = outcomes.map { outcome in
            JSONText.object([
                ("schema", .string(outcome.schema)), ("state", .string(outcome.state.rawValue)),
                ("files", .strings(outcome.files.map(\.name))), ("error", .optional(failure(of: outcome))),
            ])
        }
        return "{\"format\": 1, \"tenants\": \(JSONText.lines(of: tenants, end: "\n"))}\n"
    }
}
