#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The initial contents of a test's database: a list of SQL scripts.
///
/// Equal fixtures run their scripts once; each test gets a copy of the result.
///
/// ```swift
/// @Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL)"))
/// @Test(.database(.file("Fixtures/shop.sql") + "INSERT INTO customer VALUES (1, 'Ada')"))
/// ```
public struct DatabaseFixture: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case text(String)
        case file(String)
    }

    let sources: [Source]

    /// An empty database.
    public static let empty = DatabaseFixture(sources: [])

    /// A script.
    ///
    /// - Parameter text: SQL statements, which run in one transaction.
    /// - Returns: The fixture.
    public static func sql(_ text: String) -> DatabaseFixture {
        DatabaseFixture(sources: [.text(text)])
    }

    /// A script in a file, read for the first test that needs it.
    ///
    /// - Parameters:
    ///   - path: The file's path, absolute or relative to the folder of the source file that calls this.
    ///   - source: The source file, by default the caller's.
    /// - Returns: The fixture.
    public static func file(_ path: String, relativeTo source: String = #filePath) -> DatabaseFixture {
        guard !path.hasPrefix("/") else { return DatabaseFixture(sources: [.file(path)]) }
        let folder = URL(filePath: source).deletingLastPathComponent()
        return DatabaseFixture(sources: [.file(folder.appending(path: path).standardizedFileURL.path)])
    }

    /// Joins two fixtures: the second's scripts run after the first's.
    public static func + (first: DatabaseFixture, second: DatabaseFixture) -> DatabaseFixture {
        DatabaseFixture(sources: first.sources + second.sources)
    }

    /// The scripts' text, in order.
    func scripts() throws -> [String] {
        try sources.map { source in
            switch source {
            case .text(let text): text
            case .file(let path): try String(contentsOfFile: path, encoding: .utf8)
            }
        }
    }
}

extension DatabaseFixture: ExpressibleByStringLiteral {
    /// Creates a fixture of one script.
    public init(stringLiteral value: String) {
        self = .sql(value)
    }
}
