import EmbeddedPostgres
import Foundation
import Hummingbird
import Kindred
import KindredMigrations
import Logging
import ShopModels
import ShopServer

// `shop --demo` starts a private server; `shop` takes `DATABASE_URL`. `Migrations` fills an empty database.
if CommandLine.arguments.contains("--demo") {
    try await EmbeddedPostgres.withServer { server in
        try await serve(server.uri)
    }
} else {
    try await serve(nil)
}

/// Applies the new files of `Migrations`, which are part of the program, and serves until the process is told to end.
func serve(_ uri: String?) async throws {
    let logger = Logger(label: "shop")
    var configuration = try uri.map { try PostgresConfiguration(uri: $0) } ?? PostgresConfiguration.fromEnvironment()
    configuration.targetSession = .primary
    let client = try await PostgresClient.connect(configuration)
    try await Migrations.embedded.apply(to: client)
    await client.close()

    // Of several hosts one takes the writes, and the others are read.
    let database = try await Database.connect(primary: configuration, classes: KindredModels.all, logger: logger)
    try await prepareLiveRoutes(database)
    let port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) } ?? 8080
    let address = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
    try await makeShop(database: database, configuration: address).runService()
}
