import CFloor
import EmbeddedPostgres
import KindredPostgres

/// Where the measurements run.
struct BenchmarkDatabase: Sendable {
    let uri: String
    let name: String

    /// Makes a database on the server and fills it.
    static func make(_ name: String, on server: EmbeddedPostgres, _ script: String) throws -> BenchmarkDatabase {
        try BenchmarkDatabase(uri: server.uri, name: "postgres").run("CREATE DATABASE \(name)")
        let database = BenchmarkDatabase(uri: server.uri, name: name)
        for statement in script.split(separator: ";\n") where !script.hasPrefix("DO") {
            try database.run(String(statement))
        }
        if script.hasPrefix("DO") { try database.run(script) }
        return database
    }

    private func run(_ script: String) throws {
        try withTarget { _ = try seconds(floor_script($0, script)) }
    }

    /// Lends the address in C's terms.
    func withTarget<T>(_ body: (floor_target) throws -> T) rethrows -> T {
        try uri.withCString { uri in
            try name.withCString { try body(floor_target(uri: uri, database: $0)) }
        }
    }

    /// The address in Kindred's terms.
    func configuration(connections: Int) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.database = name
        configuration.pool.maximumConnections = connections
        return configuration
    }
}

/// What a function of the floor returned; it has printed why if that stands for failure.
func seconds(_ seconds: Double) throws -> Double {
    guard seconds >= 0 else { throw FloorError() }
    return seconds
}

struct FloorError: Error, CustomStringConvertible {
    let description = "The libpq side failed, see above"
}
