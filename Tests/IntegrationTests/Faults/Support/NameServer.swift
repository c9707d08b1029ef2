import Foundation
import Subprocess
import TestSupport
import Testing

/// dnsmasq, for a process whose `resolv.conf` names it: it knows the names that it is told, and asks nobody.
final class NameServer {
    private static let program = ["/usr/sbin/dnsmasq", "/usr/local/sbin/dnsmasq"]
        .first(where: FileManager.default.isExecutableFile(atPath:))

    /// Whether the program is installed.
    static var isInstalled: Bool { program != nil }

    private let file: String
    private let process = Process()

    /// Starts one that tells the addresses of names below `example`; only root may.
    init(at address: String, folder: String, _ names: [String: String]) async throws {
        file = folder + "/names"
        try write(names)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "sh", "-c",
            """
            \(Watchdog.command(for: folder, end: "kill $1"))
            exec \(Self.program ?? "dnsmasq") --keep-in-foreground --user=root --pid-file= --conf-file=/dev/null \
                --no-resolv --no-hosts --addn-hosts=\(file) --local=/example/ \
                --listen-address=\(address) --bind-interfaces
            """,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await expect(names)
    }

    private func write(_ names: [String: String]) throws {
        let lines = names.map { "\($0.value) \($0.key)\n" }
        try lines.sorted().joined().write(toFile: file, atomically: false, encoding: .utf8)
    }

    /// Has names lead to other addresses; returns when they do.
    func lead(_ names: [String: String]) async throws {
        try write(names)
        kill(process.processIdentifier, SIGHUP)
        try await expect(names)
    }

    private func expect(_ names: [String: String]) async throws {
        for (name, address) in names {
            try await eventually("\(name) leads to \(address)") {
                let answer = try await Subprocess.run(
                    .name("getent"), arguments: ["ahostsv4", name], input: .none, output: .string(limit: 1 << 12),
                    error: .discarded)
                return answer.standardOutput.hasPrefix(address + " ")
            }
        }
    }

    deinit { process.terminate() }
}
