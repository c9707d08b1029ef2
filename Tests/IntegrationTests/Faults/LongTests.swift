import Foundation
import TestSupport

/// Tests that take longer than a few seconds run only with `KINDRED_LONG_TESTS=1` in the environment.
enum LongTests {
    static let areOn = TestAmount.isLong

    /// The memory that the process has in RAM, in bytes; nil where the system does not tell.
    static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kilobytes << 10
    }

    /// How many files and sockets the process has open; nil where the system does not tell.
    static var openFileCount: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
