import Foundation

/// The saved counts, in a file of the repository.
///
/// Instruction counts of another architecture or compiler are not comparable.
struct Baseline: Codable {
    var architecture = Self.architecture
    /// The first line of `swift --version`, of the compiler that made the counted program.
    var compiler = Self.compiler
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

    static let compiler: String? = {
        let swift = Process()
        swift.executableURL = URL(filePath: "/usr/bin/env")
        swift.arguments = ["swift", "--version"]
        let output = Pipe()
        swift.standardOutput = output
        swift.standardError = FileHandle.nullDevice
        guard (try? swift.run()) != nil else { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        swift.waitUntilExit()
        return text.split(separator: "\n").first.map(String.init)
    }()

    /// Whether instructions were counted of a program that the same compiler made for the same processor.
    var isComparable: Bool { architecture == Self.architecture && compiler == Self.compiler }

    /// How much a count may grow before the check fails.
    ///
    /// The same work always sends the same statements. The number of packets of an answer and the timing of threads change
    /// a few allocations of thousands, and somewhat more instructions, because waiting is work too: most where each row takes a
    /// round trip, whose counts were 4 and 6 % higher on another machine.
    enum Tolerance {
        static let statements = 0.0
        static let allocations = 0.08
        static let instructions = 0.05
        static let instructionsOfRoundTrips = 0.15
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
    func growths(to counts: Counts, of work: CountedWork) -> [String] {
        guard let before = self.counts[work.name] else { return ["\(work.name): not in the baseline"] }
        var growths = [Self.growth("statements", before.statements, counts.statements, Tolerance.statements)]
        growths.append(Self.growth("allocations", before.allocations, counts.allocations, Tolerance.allocations))
        if isComparable {
            let takesRoundTrips = counts.statements >= Double(work.count)
            growths.append(
                Self.growth(
                    "instructions", before.instructions, counts.instructions,
                    takesRoundTrips ? Tolerance.instructionsOfRoundTrips : Tolerance.instructions))
        }
        return growths.compactMap { $0.map { "\(work.name): \($0)" } }
    }

    static func growth(_ what: String, _ before: Double?, _ now: Double?, _ tolerance: Double) -> String? {
        // The last saved digit is rounded.
        guard let before, let now, now > before * (1 + tolerance) + 0.000_1 else { return nil }
        return "\(what) grew from \(CountTable.number(before)) to \(CountTable.number(now))"
    }
}
