import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Kindred
import KindredHummingbird
import KindredTesting
import Testing

/// A request context of a server with one counter.
struct CounterRequestContext: DatabaseRequestContext {
    var coreContext: CoreRequestContextStorage
    var unitOfWork: DatabaseContext?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

private let table = """
    CREATE TABLE counter (id integer PRIMARY KEY, value integer NOT NULL);
    INSERT INTO counter VALUES (1, 0);
    """

/// A server that reads its counter, counts, counts and fails, and leaves a change unsaved.
private func counterServer(_ middleware: DatabaseMiddleware<CounterRequestContext>) -> some ApplicationProtocol {
    let router = Router(context: CounterRequestContext.self)
    router.get("outside") { _, context in try context.database.position?.description ?? "" }
    let routes = router.group().add(middleware: middleware)
    @Sendable func count(_ context: CounterRequestContext) async throws {
        try await context.database.query("UPDATE counter SET value = value + 1")
    }
    routes.get("counter") { _, context in
        let counter = try await context.database.fetch("counter").one()
        return "\(try counter.value(forKey: "value", as: Int.self) ?? -1)"
    }
    routes.post("counter") { _, context in
        try await count(context)
        return HTTPResponse.Status.noContent
    }
    routes.post("failure") { _, context -> HTTPResponse.Status in
        try await count(context)
        throw HTTPError(.conflict, message: "counted")
    }
    routes.post("unsaved") { _, context in
        _ = try context.database.add("counter", ["id": 2, "value": 0])
        return HTTPResponse.Status.noContent
    }
    routes.get("nothing") { _, _ in HTTPResponse.Status.noContent }
    return Application(router: router)
}

extension TestResponse {
    /// The token in its cookie, and the cookie's attributes.
    fileprivate var cookie: (token: String, attributes: Set<String>)? {
        guard let text = headers[values: .setCookie].first(where: { $0.hasPrefix("database-position=") }) else {
            return nil
        }
        let parts = text.split(separator: "; ").map(String.init)
        return (String(parts[0].dropFirst("database-position=".count)), Set(parts.dropFirst()))
    }

    fileprivate var text: String { String(buffer: body) }
}

extension TestClientProtocol {
    fileprivate func ask(_ uri: String, _ method: HTTPRequest.Method = .get) async throws -> TestResponse {
        try await execute(uri: uri, method: method)
    }

    /// Asks for the counter, with a cookie.
    fileprivate func counter(token: String? = nil) async throws -> TestResponse {
        let headers: HTTPFields = token.map { [.cookie: "other=1; database-position=\($0)"] } ?? [:]
        return try await execute(uri: "/counter", method: .get, headers: headers)
    }
}

@Suite struct DatabaseMiddlewareTests {
    private func withServer(
        carrier: PositionCarrier = .cookie, _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.current.connect()
        do {
            try await counterServer(DatabaseMiddleware(database, carrier: carrier)).test(.router) { try await body($0) }
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test(.database(.sql(table))) func aWriteGivesAToken() async throws {
        try await withServer { client in
            let answer = try await client.ask("/counter", .post)
            #expect(answer.status == .noContent)
            let cookie = try #require(answer.cookie)
            #expect(DatabasePosition(cookie.token) != nil)
            #expect(cookie.attributes == ["HttpOnly", "Max-Age=600", "Path=/", "SameSite=Lax"])
            #expect(try await client.counter(token: cookie.token).text == "1")
            // Nothing has changed for the client.
            #expect(try await client.ask("/nothing").cookie == nil)
        }
    }

    @Test(.database(.sql(table))) func aRequestThatFailsAfterItHasWrittenGivesOneToo() async throws {
        try await withServer { client in
            let answer = try await client.ask("/failure", .post)
            #expect(answer.status == .conflict && answer.text.contains("counted"))
            #expect(answer.cookie.flatMap { DatabasePosition($0.token) } != nil)
        }
    }

    @Test(.database(.sql(table))) func noTokenFailsARequest() async throws {
        try await withServer { client in
            let known = try #require(try await client.ask("/counter", .post).cookie?.token)
            let position = try #require(DatabasePosition(known))
            let others = [
                DatabasePosition(system: position.system ^ 1, timeline: position.timeline, location: 0),
                DatabasePosition(system: position.system, timeline: .max, location: .max),
                DatabasePosition(system: position.system, timeline: position.timeline, location: .max),
                DatabasePosition(system: 0, timeline: 0, location: .max),
            ]
            let malformed = [
                "", "x", "1-2", "1-2-3-4", "'; DROP TABLE counter", "ffffffffffffffffff-1-1", "=", "%00", "-1-1-1",
                String(repeating: "f", count: 4_000),
            ]
            for token in others.map(\.description) + malformed {
                let answer = try await client.counter(token: token)
                #expect(answer.status == .ok && answer.text == "1", "\(token)")
            }
        }
    }

    @Test(.database(.sql(table))) func aHeaderCarriesTheTokenToo() async throws {
        let name = try #require(HTTPField.Name("Database-Position"))
        for carrier in [PositionCarrier.header, .header(named: name)] {
            try await withServer(carrier: carrier) { client in
                let answer = try await client.ask("/counter", .post)
                let token = try #require(answer.headers[name])
                #expect(DatabasePosition(token) != nil && answer.cookie == nil)
                let next = try await client.execute(uri: "/counter", method: .get, headers: [name: token])
                #expect(next.status == .ok)
            }
        }
    }

    @Test func aCookieHasANameThatCookiesCanHave() throws {
        #expect(throws: (any Error).self) { try PositionCarrier.cookie(named: "a b") }
        _ = try PositionCarrier.cookie(named: "place", path: "/shop", isSecure: true)
    }

    @Test(.database(.sql(table))) func whatIsNotSavedIsTakenBackAndOtherRoutesHaveNoUnitOfWork() async throws {
        try await withServer { (client) async throws in
            #expect(try await client.ask("/unsaved", .post).status == .noContent)
            #expect(try await client.counter().text == "0")
            #expect(try await client.ask("/outside").status == .internalServerError)
        }
    }

    @Test(.database(.sql(table))) func theProgramMakesContextsOfItsOwn() async throws {
        let database = try await TestDatabase.current.connect()
        let middleware = DatabaseMiddleware<CounterRequestContext> { request, _, position in
            guard let name = request.uri.queryParameters.get("name") else { throw HTTPError(.unauthorized) }
            return try database.makeContext(settings: ["app.name": name], reading: .automatic, after: position)
        }
        try await counterServer(middleware).test(.router) { (client) async throws in
            #expect(try await client.ask("/counter").status == .unauthorized)
            #expect(try await client.ask("/counter?name=ann").text == "0")
        }
        await database.close()
    }

    /// The replica is far behind: without the token it shows the former value.
    @Test(.timeLimit(.minutes(10))) func theNextRequestSeesWhatThisOneHasWritten() async throws {
        try await ReplicatedServers.with(.sql(table), lag: .seconds(100)) { servers in
            let database = try await servers.connect()
            let middleware = DatabaseMiddleware<CounterRequestContext>(
                database, reading: .replica(maximumLag: .seconds(250)))
            try await counterServer(middleware).test(.router) { client in
                // A busy machine may have to wait until the servers have said their roles.
                for _ in 0..<12_000 where database.readMetrics?.replica == 0 {
                    #expect(try await client.counter().text == "0")
                    try await Task.sleep(for: .milliseconds(5))
                }
                let written = try await client.ask("/counter", .post)
                let token = try #require(written.cookie?.token)
                #expect(try await client.counter(token: token).text == "1")
                var former = ""
                for _ in 0..<12_000 where former != "0" {
                    former = try await client.counter().text
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(former == "0")
                // A position that the primary has not reached.
                let position = try #require(DatabasePosition(token))
                let future = DatabasePosition(
                    system: position.system, timeline: position.timeline, location: .max)
                let ignored = database.readMetrics?.ignoredPositions ?? 0
                for _ in 0..<12_000 where database.readMetrics?.ignoredPositions == ignored {
                    #expect(try await client.counter(token: future.description).status == .ok)
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect((database.readMetrics?.ignoredPositions ?? 0) > ignored)
            }
        }
    }
}
