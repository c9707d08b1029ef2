import Kindred
import KindredMigrations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The content of a test's database before the test begins: a list of SQL scripts and folders of migrations.
///
/// Equal fixtures run their scripts once; each test gets a copy of the result.
///
/// ```swift
/// @Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL)"))
/// @Test(.database(.file("Fixtures/shop.sql") + "INSERT INTO customer VALUES (1, 'Ada')"))
/// @Test(.database(.migrations("../../Migrations")))
/// ```
public struct DatabaseFixture: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case text(String)
        case file(String)
        case migrations(String)
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
        DatabaseFixture(sources: [.file(absolute(path, relativeTo: source))])
    }

    /// The numbered files of a folder, applied by `Migrations` and recorded as in any database.
    ///
    /// - Parameters:
    ///   - folder: The folder's path, absolute or relative to the folder of the source file that calls this.
    ///   - source: The source file, by default the caller's.
    /// - Returns: The fixture.
    public static func migrations(_ folder: String, relativeTo source: String = #filePath) -> DatabaseFixture {
        DatabaseFixture(sources: [.migrations(absolute(folder, relativeTo: source))])
    }

    private static func absolute(_ path: String, relativeTo source: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = URL(filePath: source).deletingLastPathComponent()
        return folder.appending(path: path).standardizedFileURL.path
    }

    /// Joins two fixtures: the second's scripts run after the first's.
    public static func + (first: DatabaseFixture, second: DatabaseFixture) -> DatabaseFixture {
        DatabaseFixture(sources: first.sources + second.sources)
    }

    /// Fills a database, one source after the other.
    func fill(over client: PostgresClient) async throws {
        for source in sources {
            switch source {
            // A script without transaction control of its own is one transaction.
            case .text(let text): try await client.runScript(text)
            case .file(let path): try await client.runScript(try String(contentsOfFile: path, encoding: .utf8))
            case .migrations(let folder): try await Migrations(folder: folder).apply(to: client)
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
