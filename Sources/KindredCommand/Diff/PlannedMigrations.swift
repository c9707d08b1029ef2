import KindredAssistant
import KindredMigrations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The steps of a plan as the next files of a folder of migrations, one file for each step.
struct PlannedMigrations {
    let folder: String
    /// The word behind the number in the files' names.
    let name: String

    /// Writes the files, with the numbers that follow the highest one.
    ///
    /// - Returns: The names of the files.
    /// - Throws: `CommandFailure` where the folder or a file of it cannot be read or written.
    func write(_ steps: [SchemaStep]) throws -> [String] {
        guard !steps.isEmpty else { return [] }
        let isNew = !FileManager.default.fileExists(atPath: folder)
        let present: [MigrationFile]
        do {
            present = isNew ? [] : try Migrations(folder: folder).allFiles()
        } catch let error as MigrationError {
            throw CommandFailure(.badInput, error.message, details: error.details)
        }
        let numbers = Self.numbers(after: present.last, count: steps.count)
        var names: [String] = []
        do {
            if isNew { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
            for (index, step) in steps.enumerated() {
                let file = "\(numbers[index])_\(name).sql"
                let text = Self.text(of: step, number: index + 1, of: steps.count)
                // A file that another process has just written stays.
                try Data(text.utf8).write(to: URL(filePath: folder).appending(path: file), options: .withoutOverwriting)
                names.append(file)
            }
        } catch {
            for file in names { try? FileManager.default.removeItem(at: URL(filePath: folder).appending(path: file)) }
            throw CommandFailure(.failure, "\(folder) cannot be written; no file was left there.")
        }
        return names
    }

    private static func text(of step: SchemaStep, number: Int, of count: Int) -> String {
        let start = step.isTransaction ? "SET LOCAL lock_timeout = '5s';\n" : "-- kindred: no transaction\n"
        return "-- Step \(number) of \(count), written by kindred diff.\n\(start)\(step.script)"
    }

    // MARK: Numbers

    /// Numbers with as many digits as the last one, or four; a time stamp of 14 digits is followed by the present time.
    private static func numbers(after last: MigrationFile?, count: Int) -> [String] {
        let name = last?.name ?? "0000"
        let digits = name.prefix { $0.isASCII && $0.isNumber || $0 == "-" }.filter { $0 != "-" }.count
        var next = (last?.number ?? 0) + 1
        if digits == 14 { next = max(next, now) }
        return (0..<Int64(count)).map { offset in
            let number = String(next + offset)
            return String(repeating: "0", count: max(0, digits - number.count)) + number
        }
    }

    /// The time as `20260131120000`, in UTC.
    private static var now: Int64 {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: Date())
        return [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
            .reduce(0) { $0 * 100 + Int64($1 ?? 0) }
    }
}
