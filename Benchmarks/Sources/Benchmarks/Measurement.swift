/// Something to measure in two ways: with libpq in C, and with Kindred.
struct Measurement: Sendable {
    /// Does the work once and returns how much of it was done per second.
    typealias Run = @Sendable () async throws -> Double

    let name: String
    /// What is counted per second.
    let unit: String
    /// What the design asks for, if it does.
    let goal: Goal?
    let floor: Run
    let kindred: Run

    enum Goal {
        /// Of libpq's rate.
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

/// The rates of all rounds of one measurement.
struct Outcome: Sendable {
    let measurement: Measurement
    private(set) var floor: [Double] = []
    private(set) var kindred: [Double] = []

    init(of measurement: Measurement) {
        self.measurement = measurement
    }

    /// Measures both ways once, the one that begins taking turns.
    mutating func measure(round: Int, isAlone: Bool) async throws {
        if isAlone {
            kindred.append(try await measurement.kindred())
        } else if round.isMultiple(of: 2) {
            floor.append(try await measurement.floor())
            kindred.append(try await measurement.kindred())
        } else {
            kindred.append(try await measurement.kindred())
            floor.append(try await measurement.floor())
        }
    }

    var medians: (floor: Double, kindred: Double) { (Self.median(floor), Self.median(kindred)) }

    /// How far apart the rounds lie, as a part of the median: what the machine's noise makes of the same work.
    var noise: Double {
        let sorted = floor.sorted()
        guard let least = sorted.first, let most = sorted.last else { return 0 }
        return (most - least) / Self.median(floor)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
