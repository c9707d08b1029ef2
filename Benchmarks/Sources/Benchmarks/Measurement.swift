import CFloor

/// A measurement of libpq in C and of Kindred, and of the peers if requested.
struct Measurement: Sendable {
    /// Does the work once and returns its rate per second.
    typealias Run = @Sendable () async throws -> Double

    let name: String
    /// The unit that is counted per second.
    let unit: String
    /// The design's target, if there is one.
    let goal: Goal?
    /// The same work in the peers, if they support it.
    var peerWork: Peer.Work?
    /// Runs before each run of either side, unmeasured.
    var prepare: @Sendable () async throws -> Void = {}
    let floor: Run
    let kindred: Run

    enum Goal {
        /// Relative to libpq's rate.
        case ofFloor(Double)
        /// Per second.
        case rate(Double)

        func isReached(floor: Double, kindred: Double) -> Bool {
            switch self {
            case .ofFloor(let ratio): kindred >= ratio * floor
            case .rate(let rate): kindred >= rate
            }
        }
    }
}

/// The result of one round.
struct Sample: Sendable {
    /// The rate per second.
    let rate: Double
    /// Processor seconds of this process, without the server, per unit.
    let work: Double

    init(_ run: Measurement.Run) async throws {
        let (before, start) = (floor_processor_seconds(), ContinuousClock.now)
        rate = try await run()
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        work = (floor_processor_seconds() - before) / (rate * elapsed)
    }
}

/// The results of all rounds of one measurement.
struct Outcome: Sendable {
    let measurement: Measurement
    private(set) var floor: [Sample] = []
    private(set) var kindred: [Sample] = []
    private var peers: [Peer: [Double]] = [:]

    init(of measurement: Measurement) {
        self.measurement = measurement
    }

    /// Measures both once, in alternating order, and then the peers.
    mutating func measure(round: Int, isAlone: Bool, peers process: PeerProcess?) async throws {
        if isAlone {
            kindred.append(try await sample(measurement.kindred))
        } else if round.isMultiple(of: 2) {
            floor.append(try await sample(measurement.floor))
            kindred.append(try await sample(measurement.kindred))
        } else {
            kindred.append(try await sample(measurement.kindred))
            floor.append(try await sample(measurement.floor))
        }
        guard let process, let work = measurement.peerWork else { return }
        for peer in Peer.allCases {
            guard let rate = try await process.rate(peer, work) else { continue }
            peers[peer, default: []].append(rate)
        }
    }

    private func sample(_ run: Measurement.Run) async throws -> Sample {
        try await measurement.prepare()
        return try await Sample(run)
    }

    var rates: (floor: Double, kindred: Double) { (Self.median(floor.map(\.rate)), Self.median(kindred.map(\.rate))) }

    /// A peer's rate per second; nil if it does not support the work.
    func rate(of peer: Peer) -> Double? { peers[peer].map(Self.median) }

    var work: (floor: Double, kindred: Double) { (Self.median(floor.map(\.work)), Self.median(kindred.map(\.work))) }

    /// The spread of the rounds, relative to the median: the machine's noise.
    var noise: Double {
        let sorted = floor.map(\.rate).sorted()
        guard let least = sorted.first, let most = sorted.last else { return 0 }
        return (most - least) / Self.median(sorted)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
