import Kindred
import KindredTesting
import Logging
import Synchronization
import Testing

/// Every statement says where in the program it was asked for.
@Suite struct PlaceTests {
    @Test(.database(.sql(librarySchema))) func eventsNameTheLineOfTheCall() async throws {
        try await withDatabase { database, context, other in
            let (lines, recorder) = try await recordingStatements {
                var lines: [Int] = []
                let authors = try await context.fetch("author").where("id <= 3").prefetch("books").all()
                lines += [#line - 1, #line - 1]
                _ = try await context.fetch("author").count(); lines.append(#line)
                _ = try await context.fetch("author").first(); lines.append(#line)
                try await authors[0].setValue("New", forKey: "name"); lines.append(#line)
                let book = try await context.create("book", ["id": 9_000, "title": "B"]); lines.append(#line)
                try await authors[0].set(forKey: "books").insert(book); lines.append(#line)
                try await context.fetch("book").where("id = 1").update(["pages": 1]); lines.append(#line)
                try await database.query("SELECT 1"); lines.append(#line)
                try await context.transaction {
                    try await context.query("SELECT 2"); lines.append(#line)
                }
                let one = try await context.fetch("book").where("id = 100").one(); lines.append(#line)
                _ = try await one.object(forKey: "author"); lines.append(#line)
                let tags = try await one.set(forKey: "tags"); lines.append(#line)
                for try await _ in tags {}
                for try await _ in try context.fetch("tag").limit(1).stream() {}; lines.append(#line)
                authors[1]["name"] = "Staged"
                try await context.save(); lines.append(#line)
                try await context.delete(book); lines.append(#line)
                return lines
            }
            let events = recorder.all.filter { $0.kind == .statement }
            let shown = events.map { "\($0.place.map(\.description) ?? "-") \($0.sql)" }.joined(separator: "\n")
            let places = events.map { $0.place?.line }
            // A deletion and a stream may take several statements, all of the same line.
            var distinct: [Int?] = []
            for place in places where distinct.last != .some(place) { distinct.append(place) }
            var expected: [Int?] = []
            for line in lines where expected.last != .some(line) { expected.append(line) }
            #expect(distinct == expected, "\(shown)")
            #expect(events.allSatisfy { $0.place?.fileID == "IntegrationTests/PlaceTests.swift" })
        }
    }

    @Test(.database(.sql(librarySchema))) func forbiddenFaultsNameThePlace() async throws {
        try await withDatabase { database, context, other in
            let strict = database.makeContext(loading: .forbidden)
            let book = try await strict.fetch("book").where("id = 1").one()
            let toOne = await expectError(.loadingForbidden) { _ = try await book.object(forKey: "author") }
            #expect(toOne?.message.contains("IntegrationTests/PlaceTests.swift:\(#line - 1)") == true)
            let tags = try await book.set(forKey: "tags")
            let line = #line - 1
            let toMany = await expectError(.loadingForbidden) { for try await _ in tags {} }
            #expect(toMany?.message.contains("IntegrationTests/PlaceTests.swift:\(line)") == true)
            let path = await expectError(.loadingForbidden) { _ = try await book.value(forKeyPath: "author.name") }
            #expect(path?.message.contains("IntegrationTests/PlaceTests.swift:\(#line - 1)") == true)
        }
    }

    @Test(.database(.empty)) func theLogShowsTextDurationRowsAndPlace() async throws {
        let lines = Mutex<[Logger.Metadata]>([])
        struct Handler: LogHandler {
            let line: @Sendable (Logger.Metadata) -> Void
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.trace
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) {
                line(["sql": "\(event.message)"].merging(event.metadata ?? [:]) { $1 })
            }
        }
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        let logger = Logger(label: "test") { _ in Handler { line in lines.withLock { $0.append(line) } } }
        let client = try await PostgresClient.connect(configuration, logger: logger)
        try await client.query("SELECT \(1), \("secret")")
        let line = #line - 1
        await client.close()
        let logged = lines.withLock { $0 }.filter { $0["sql"] == "SELECT $1, $2" }
        #expect(logged.count == 1)
        #expect(logged.first?["rows"] == "1" && logged.first?["duration"] != nil)
        #expect(logged.first?["place"] == "IntegrationTests/PlaceTests.swift:\(line)")
        #expect(!"\(logged)".contains("secret"))
    }
}
