/// The results as lines of text.
struct Table {
    let isPinned: Bool
    /// The peers' rates; nil without them.
    let peerVersions: String?
    private var lines: [[String]] = [
        ["what", "libpq in C", "Kindred", "ratio", "goal", "noise", "work, libpq", "Kindred"]
    ]

    init(isPinned: Bool, peerVersions: String?) {
        self.isPinned = isPinned
        self.peerVersions = peerVersions
        if peerVersions != nil { lines[0] += Peer.allCases.map(\.title) }
    }

    mutating func append(_ outcome: Outcome) {
        let (floor, kindred) = outcome.rates
        var goal =
            switch outcome.measurement.goal {
            case .ofFloor(let ratio): Self.number(ratio)
            case .rate(let rate): "\(Self.number(rate))/s"
            case nil: ""
            }
        if outcome.measurement.goal?.isReached(floor: floor, kindred: kindred) == false { goal += " missed" }
        var line = [
            "\(outcome.measurement.name), \(outcome.measurement.unit)/s",
            Self.rate(floor), Self.rate(kindred), Self.number(kindred / floor),
            goal, "\(Int((outcome.noise * 100).rounded())) %",
            Self.time(outcome.work.floor), Self.time(outcome.work.kindred),
        ]
        if peerVersions != nil {
            line += Peer.allCases.map { peer in
                outcome.rate(of: peer).map { "\(Self.rate($0)), \(Self.number($0 / floor))" } ?? "-"
            }
        }
        lines.append(line)
    }

    /// A rate, and for slow work also the time per unit.
    private static func rate(_ rate: Double) -> String {
        rate < 100_000 ? "\(number(rate)) (\(time(1 / rate)))" : number(rate)
    }

    private static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.000_001: "\(number(seconds * 1e9)) ns"
        case ..<0.001: "\(number(seconds * 1e6)) us"
        case ..<1: "\(number(seconds * 1e3)) ms"
        default: "\(number(seconds)) s"
        }
    }

    /// Three significant digits.
    private static func number(_ value: Double) -> String {
        switch value {
        case 1_000_000...: "\((value / 10_000).rounded() / 100) M"
        case 10_000...: "\((value / 100).rounded() / 10) k"
        case 100...: "\(Int(value.rounded()))"
        case 10...: "\((value * 10).rounded() / 10)"
        default: "\((value * 100).rounded() / 100)"
        }
    }

    func write() {
        writeColumns(lines)
        print("Medians of interleaved rounds; noise is how far libpq's own rounds lie apart.")
        print("Work is processor time that one takes in this process, without the server's.")
        if let peerVersions {
            print("\(peerVersions): what was done per second, and its ratio to libpq.")
        }
        if isPinned {
            print("Client and server on one processor: the work of an operation, without waking up another.")
        }
    }
}
