import Foundation
import Subprocess
import TestSupport
import Testing

/// dnsmasq, for a process whose `resolv.conf` names it: it knows the names that it is told, and asks no other server.
final class NameServer {
    private static let program = ["/usr/sbin/dnsmasq", "/usr/local/sbin/dnsmasq"]
        .first(where: FileManager.default.isExecutableFile(atPath:))

    /// Whether the program is installed.
    static var isInstalled: Bool { program != nil }

    private let address: String
    private let folder: String
    private var process: Process?

    private var file: String { folder + "/names" }

    /// Starts a server that tells the addresses of names below `example`; only root may.
    init(at address: String, folder: String, _ names: [String: String]) async throws {
        (self.address, self.folder) = (address, folder)
        try await lead(names)
    }

    /// Has names lead to other addresses; returns when they do.
    ///
    /// Starts the program anew: a process of these tests blocks the signal that would have it read its file again.
    func lead(_ names: [String: String]) async throws {
        if let process {
            kill(process.processIdentifier, SIGKILL)
            // `isRunning` waits for the watchdog, too, which has inherited the pipe that it looks at.
            let program = "/proc/\(process.processIdentifier)/exe"
            try await eventually("the name server ends") { !FileManager.default.fileExists(atPath: program) }
        }
        let lines = names.map { "\($0.value) \($0.key)\n" }
        try lines.sorted().joined().write(toFile: file, atomically: false, encoding: .utf8)
        try start()
        try await expect(names)
    }

    private func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "sh", "-c",
            """
            \(Watchdog.command(for: folder, end: "kill -KILL $1"))
            exec \(Self.program ?? "dnsmasq") --keep-in-foreground --user=root --pid-file= --conf-file=/dev/null \
                --no-resolv --no-hosts --addn-hosts=\(file) --local=/example/ \
                --listen-address=\(address) --bind-interfaces
            """,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
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

    deinit {
        if let process { kill(process.processIdentifier, SIGKILL) }
    }
}
