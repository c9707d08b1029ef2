import ArgumentParser
import Kindred
import KindredLive

/// `kindred status`: the state of change tracking.
struct StatusCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what change tracking records, and where changes may be missing.",
        discussion: "Example: kindred status --check")

    @Flag(help: "End with 1 if it is not installed, an upgrade is due, or changes of a table may be missing.")
    var check = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        try await withTracking(connection, ownership, in: terminal) { tracking in
            guard let status = try await tracking.status() else {
                terminal.print("Change tracking is not installed.")
                if check { throw CommandFailure(.failure, "Change tracking is not installed.") }
                return
            }
            print(status, in: terminal)
            if check, status.isUpgradeDue {
                throw CommandFailure(.failure, "Change tracking has version \(Self.versions(status)).")
            }
            if check, let table = status.tables.first(where: { $0.fault != nil }), let fault = table.fault {
                throw CommandFailure(.failure, "\(table.name): \(fault).")
            }
        }
    }

    private func print(_ status: Tracking.Status, in terminal: Terminal) {
        var facts = TextTable()
        facts.add([("version", .faint), (Self.versions(status), status.isUpgradeDue ? .red : nil)])
        facts.add([("retention", .faint), (Self.text(status.retention), nil)])
        facts.add([
            ("records", .faint),
            ("\(status.outboxBytes) bytes" + (status.oldestRecord.map { ", oldest \(Self.text($0))" } ?? ""), nil),
        ])
        facts.add([("readers", .faint), (status.isRecording ? "there" : "none within the retention", nil)])
        facts.add([("wake-up", .faint), (status.notifiesReaders ? "NOTIFY" : "polling", nil)])
        facts.add([("new tables", .faint), (status.hasEventTriggers ? "at once" : "when a reader looks", nil)])
        facts.add([("consumers", .faint), ("\(status.consumers)", nil)])
        if !status.cutConsumers.isEmpty, let longest = status.longestHold {
            let names = status.cutConsumers.joined(separator: ", ")
            facts.add([("waits cut", .faint), ("\(names): \(Self.text(longest)) at most", .yellow)])
        }
        for line in facts.lines(indentation: 0, in: terminal) { terminal.print(line) }
        var tables = TextTable()
        for table in status.tables where !table.isPartition || table.fault != nil {
            tables.add([
                (table.name.description, nil), (table.key.joined(separator: ", "), .faint),
                (table.fault ?? "", table.fault == nil ? nil : .red),
            ])
        }
        for line in tables.lines(indentation: 0, in: terminal) { terminal.print(line) }
    }

    /// The installed version, and this library's where it is another.
    private static func versions(_ status: Tracking.Status) -> String {
        let library = "\(status.version), and this library has version \(Tracking.version)"
        if status.isUpgradeDue { return library + ": run `kindred install`" }
        return status.version == Tracking.version ? "\(status.version)" : library
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        if seconds < 60 { return "\(seconds) s" }
        return seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
}
