import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the files of a folder, or files that stand in the program, in the order of their numbers, and finds all problems with
/// their names at once.
///
/// A name is a number of up to 18 digits, or a time stamp such as `2026-01-31-120000`, then `_`, `-` or a dot, anything
/// and `.sql`; numbers may have gaps, so that they can be dates. A folder with such a name holds one file,
/// `migration.sql` as Prisma writes it, or `up.sql`. Files that undo a migration, `.down.sql` beside `.up.sql`, are
/// left alone; so are files that do not end with `.sql`, in capitals or not, or begin with a dot. A folder that has one
/// of the two files and no number is an error: it would not run.
struct FolderReader {
    /// The place of the files.
    enum Source: Sendable {
        case folder(String)
        /// Files in the program, by their names.
        case program([ServerText: Data])

        /// The names in the folder, or in a folder of it.
        func names(in folder: String? = nil) throws -> [String] {
            switch self {
            case .folder(let path):
                return try FileManager.default.contentsOfDirectory(atPath: folder.map { "\(path)/\($0)" } ?? path)
            case .program(let files):
                let start = folder.map { "\($0)/" } ?? ""
                let names = files.keys.filter { $0.text.hasPrefix(start) }.map { name in
                    String(name.text.dropFirst(start.count).prefix { $0 != "/" })
                }
                return Array(Set(texts: names)).texts
            }
        }

        func content(of name: String) -> Data? {
            switch self {
            case .folder(let path): FileManager.default.contents(atPath: "\(path)/\(name)")
            case .program(let files): files[ServerText(name)]
            }
        }
    }

    private let source: Source
    private var files: [MigrationFile] = []
    private var problems: [MigrationError] = []

    /// Reads the files of a folder; throws the first problem with a name, together with all other problems, including
    /// problems of the files' statements.
    static func files(in source: Source) throws -> [MigrationFile] {
        var reader = FolderReader(source: source)
        try reader.read()
        if !reader.problems.isEmpty, let error = MigrationError(reader.problems + reader.files.flatMap(\.problems)) {
            throw error
        }
        return reader.files
    }

    private init(source: Source) {
        self.source = source
    }

    private mutating func read() throws {
        let names: [String]
        do {
            names = try source.names()
        } catch {
            let folder = if case .folder(let path) = source { path } else { "" }
            throw MigrationError(.invalidFolder, "The folder \(folder) cannot be read.")
        }
        let all = Set(names.map { $0.lowercased() })
        for name in names.sorted() where !name.hasPrefix(".") {
            let folded = name.lowercased()
            if folded.hasSuffix(".down.sql"), all.contains("\(folded.dropLast(9)).up.sql") { continue }
            if folded.hasSuffix(".sql") {
                read(name, number: Self.number(of: name))
            } else if let inner = inner(name) {
                read("\(name)/\(inner)", number: Self.number(of: name + "/"))
            }
        }
        files.sort { $0.number < $1.number }
        for (first, second) in zip(files, files.dropFirst()) where first.number == second.number {
            note("\(first.name) has the same number.", second.name)
        }
    }

    /// The file in a folder of its own, if it is one.
    private func inner(_ name: String) -> String? {
        let names = (try? source.names(in: name)) ?? []
        return ["migration.sql", "up.sql"].lazy.compactMap { wanted in
            names.sorted().first { $0.lowercased() == wanted }
        }.first
    }

    private mutating func read(_ name: String, number: Int64?) {
        guard let number else {
            return note(
                "The name does not begin with a number of up to 18 digits and _, as in 0001_people.sql.", name)
        }
        // A link may lead nowhere.
        guard let content = source.content(of: name) else {
            return note("The file cannot be read.", name)
        }
        guard String(validating: content, as: UTF8.self) != nil else {
            return note("The file cannot be read as text in UTF-8.", name)
        }
        files.append(MigrationFile(number: number, name: name, content: content))
    }

    private mutating func note(_ problem: String, _ name: String) {
        problems.append(MigrationError(.invalidFolder, problem, file: name))
    }

    /// The number that a name begins with; the parts of a time stamp make one number.
    static func number(of name: String) -> Int64? {
        let stamp = name.prefix { $0.isASCII && $0.isNumber || $0 == "-" }
        let parts = stamp.split(separator: "-", omittingEmptySubsequences: false)
        let separator = stamp.hasSuffix("-") ? "-" : name.dropFirst(stamp.count).first
        let numbers = parts.last?.isEmpty == true ? parts.dropLast() : parts[...]
        let digits = numbers.joined()
        guard let separator, "_-./".contains(separator), digits.count <= 18 else { return nil }
        // The year, month and day, and maybe the time.
        guard numbers.count == 1 || isStamp(numbers.map(\.count)) else { return nil }
        return Int64(digits)
    }

    private static func isStamp(_ lengths: [Int]) -> Bool {
        lengths.starts(with: [4, 2, 2]) && lengths.dropFirst(3).allSatisfy { $0 == 2 || $0 == 4 || $0 == 6 }
            && lengths.reduce(0, +) <= 14
    }
}
