import CFloor
import Kindred

/// Where the measurements run.
struct BenchmarkDatabase: Sendable {
    let uri: String
    let name: String

    /// Creates and fills a database on a server; replaces an existing one.
    static func make(_ name: String, on serverURI: String, _ scripts: [String]) throws -> BenchmarkDatabase {
        let database = BenchmarkDatabase(uri: serverURI, name: name)
        try database.drop()
        try BenchmarkDatabase(uri: serverURI, name: "postgres").run("CREATE DATABASE \(name)")
        for script in scripts { try database.run(script) }
        return database
    }

    func drop() throws {
        try BenchmarkDatabase(uri: uri, name: "postgres").run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Removes all rows of a table.
    func empty(_ table: String) throws { try run("TRUNCATE \(table)") }

    /// Makes the shelves, the crates and their contents as they were.
    func fillShelves() throws { try run(Workload.shelfRows) }

    private func run(_ script: String) throws {
        try withTarget { _ = try seconds(floor_script($0, script)) }
    }

    /// Lends the address as C strings.
    func withTarget<T>(_ body: (floor_target) throws -> T) rethrows -> T {
        try uri.withCString { uri in
            try name.withCString { try body(floor_target(uri: uri, database: $0)) }
        }
    }

    /// The address as a configuration.
    func configuration(connections: Int) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.database = name
        configuration.pool.maximumConnections = connections
        return configuration
    }
}

/// Checks the result of a C function, which has printed the cause of a failure.
func seconds(_ seconds: Double) throws -> Double {
    guard seconds >= 0 else { throw FloorError() }
    return seconds
}

struct FloorError: Error, CustomStringConvertible {
    let description = "The libpq side failed, see above"
}
