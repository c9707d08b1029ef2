import Foundation

/// The saved counts, in a file of the repository.
///
/// Instruction counts of another architecture are not comparable.
struct Baseline: Codable {
    var architecture = Self.architecture
    var counts: [String: Counts] = [:]
    /// Heap bytes of an object, without its row.
    var bytesPerObject: Double?
    /// Heap bytes of the model of `CatalogMemory.tables` tables.
    var bytesOfModel: Double?

    static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "another"
        #endif
    }

    /// How much a count may grow before the check fails.
    ///
    /// The same work always sends the same statements. The number of packets of an answer and the timing of threads change
    /// a few allocations of thousands, and somewhat more instructions, because waiting is work too.
    enum Tolerance {
        static let statements = 0.0
        static let allocations = 0.08
        static let instructions = 0.05
        static let bytes = 0.02
    }

    static var file: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../baseline.json").standardized
    }

    static func load() throws -> Baseline {
        guard FileManager.default.fileExists(atPath: file.path()) else { return Baseline() }
        return try JSONDecoder().decode(Baseline.self, from: Data(contentsOf: file))
    }

    func save() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: Self.file)
    }

    /// The counts that grew beyond their tolerance, in sentences.
    func growths(to counts: Counts, of name: String) -> [String] {
        guard let before = self.counts[name] else { return ["\(name): not in the baseline"] }
        var growths = [Self.growth("statements", before.statements, counts.statements, Tolerance.statements)]
        growths.append(Self.growth("allocations", before.allocations, counts.allocations, Tolerance.allocations))
        if architecture == Self.architecture {
            growths.append(
                Self.growth("instructions", before.instructions, counts.instructions, Tolerance.instructions))
        }
        return growths.compactMap { $0.map { "\(name): \($0)" } }
    }

    static func growth(_ what: String, _ before: Double?, _ now: Double?, _ tolerance: Double) -> String? {
        // The last saved digit is rounded.
        guard let before, let now, now > before * (1 + tolerance) + 0.000_1 else { return nil }
        return "\(what) grew from \(CountTable.number(before)) to \(CountTable.number(now))"
    }
}
