import HarmlessText
import KindredPostgres
import KindredTerminal

/// Shows which features a server has.
struct CapabilitiesPage {
    private let capabilities: ServerCapabilities
    private let terminal: Terminal

    init(_ capabilities: ServerCapabilities, terminal: Terminal) {
        self.capabilities = capabilities
        self.terminal = terminal
    }

    /// One line for each feature, and below it why it is missing and what to do.
    func print() {
        var table = TextTable()
        for capability in ServerCapability.allCases {
            let answer = capabilities[capability]
            table.add([(capability.description, nil), (answer.name, style(of: answer))])
        }
        for (capability, line) in zip(ServerCapability.allCases, table.lines(indentation: 0, in: terminal)) {
            terminal.print(line)
            guard let reason = capabilities[capability].reason else { continue }
            terminal.print("    \(reason)")
            terminal.print("    \(terminal.styled(capability.advice, .faint))")
        }
    }

    private func style(of answer: ServerCapabilities.Answer) -> Terminal.Style {
        switch answer {
        case .yes: .green
        case .no: .red
        case .unknown: .yellow
        }
    }

    /// The features as JSON, in a stable format that only grows.
    var json: String {
        let answers = ServerCapability.allCases.map { capability in
            let answer = capabilities[capability]
            return JSONText.object([
                ("name", .string(capability.rawValue)), ("answer", .string(answer.name)),
                ("reason", .optional(answer.reason)),
            ])
        }
        return "{\"format\": 1, \"capabilities\": \(JSONText.lines(of: answers, end: "\n"))}\n"
    }
}
