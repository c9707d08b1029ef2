import EmbeddedPostgres
import Foundation
import Hummingbird
import Kindred
import KindredLive
import KindredMigrations
import Logging
import TrackerModels
import TrackerServer

// `tracker --demo` starts a private server; `tracker` takes `DATABASE_URL`. `Migrations` fills an empty database.
if CommandLine.arguments.contains("--demo") {
    try await EmbeddedPostgres.withServer { server in
        try await serve(server.uri)
    }
} else {
    try await serve(nil)
}

/// Applies the new files of `Migrations`, which are part of the program, and serves until the process is told to end.
func serve(_ uri: String?) async throws {
    let client = try await PostgresClient.connect(
        try uri.map { try PostgresConfiguration(uri: $0) } ?? PostgresConfiguration.fromEnvironment())
    try await Migrations.embedded.apply(to: client)
    await client.close()

    let logger = Logger(label: "tracker")
    let database = try await connectTracker(uri, logger: logger)
    // Jobs are those of all organizations: their database requires no settings.
    let workers = try await Database.connect(uri, classes: KindredModels.all, logger: logger)
    try await workers.tracking.enable("job")
    let jobs = JobQueue(database: workers, handlers: ["log": { job, _ in logger.info("\(job.input)") }], logger: logger)
    let port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) } ?? 8080
    // In a container: HOST=0.0.0.0.
    let host = ProcessInfo.processInfo.environment["HOST"] ?? "127.0.0.1"
    let address = ApplicationConfiguration(address: .hostname(host, port: port))
    let tokens = ["acme": 1, "globex": 2]
    try await makeTracker(database: database, tokens: tokens, jobs: jobs, configuration: address).runService()
}
