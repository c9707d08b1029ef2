import Foundation

/// The counts that were saved last, in a file of the repository.
///
/// Those of another architecture say nothing about this one's instructions.
struct Baseline: Codable {
    var architecture = Self.architecture
    var counts: [String: Counts] = [:]
    /// Bytes of the heap that an object takes beside its row.
    var bytesPerObject: Double?
    /// Bytes of the heap that the model of `CatalogMemory.tables` tables takes.
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
    /// The same work sends the same statements, always. How many parts an answer comes in, and which of two threads is
    /// first, changes some allocations of thousands; and a little more of the instructions, for waiting is work too.
    enum Tolerance {
        static let statements = 0.0
        static let allocations = 0.01
        static let instructions = 0.05
        static let bytes = 0.01
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

    /// What has grown by more than it may, in sentences.
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
        // The last digit that is saved is rounded.
        guard let before, let now, now > before * (1 + tolerance) + 0.000_1 else { return nil }
        return "\(what) grew from \(CountTable.number(before)) to \(CountTable.number(now))"
    }
}
