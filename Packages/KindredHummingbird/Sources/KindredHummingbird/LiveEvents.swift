import AsyncAlgorithms
import HTTPTypes
public import Hummingbird
public import Kindred
public import KindredLive
import ServiceLifecycle

/// The updates of a live request as server-sent events, for an `EventSource` in a browser.
///
/// ```swift
/// router.get("books/live") { request, context in
///     let books = try context.database.fetch(Book.self).sorted { $0.title }.limit(50)
///     return try await LiveEvents(books, for: request) { update in try json(update.objects) }.response
/// }
/// ```
///
/// Each event has the update's cursor as its `id`. A browser that lost the connection sends the last one back by itself, as the
/// header `Last-Event-ID`, and is told in its first event what it lacks:
///
/// | event | when | the client has |
/// |---|---|---|
/// | `list` | first, or where it cannot be known what a client lacks | nothing of use: the update is the whole list |
/// | `change` | a change, or the difference to what a client has kept | the last list |
/// | `unchanged` | a client came back, and nothing has changed | this list: the event has no data |
///
/// A slow client gets fewer events, and delays no other. Comments between the events keep proxies from closing the connection.
public struct LiveEvents<Object: DatabaseObject>: Sendable {
    private let updates: LiveRequest<Object>
    private let client: Request
    private let heartbeat: Duration
    private let text: @Sendable (LiveUpdate<Object>) throws -> String

    /// Begins to follow a request for a client.
    ///
    /// One statement; throws as ``FetchRequest/live(since:atMostEvery:fileID:line:)`` does.
    ///
    /// - Parameters:
    ///   - request: the request. Its context may end with the handler: updates have contexts of their own.
    ///   - client: the client's request, which may have the header `Last-Event-ID`.
    ///   - interval: the least time between two updates.
    ///   - heartbeat: the time between two comments.
    ///   - text: an update as text, such as JSON. Called before the objects change again; what it throws ends the events.
    public init(
        _ request: FetchRequest<Object>, for client: Request, atMostEvery interval: Duration? = nil,
        heartbeat: Duration = .seconds(15), _ text: @escaping @Sendable (LiveUpdate<Object>) throws -> String
    ) async throws {
        let cursor = HTTPField.Name("Last-Event-ID").flatMap { client.headers[$0] }.flatMap { LiveCursor($0) }
        updates = try await request.live(since: cursor, atMostEvery: interval)
        (self.client, self.heartbeat, self.text) = (client, heartbeat, text)
    }

    /// The response, whose body ends with the client's connection, or with the server's graceful shutdown.
    public var response: Response {
        let beats = AsyncTimerSequence(interval: heartbeat, clock: ContinuousClock()).map { _ in ":\n\n" }
        let events = merge(updates.map { [text] in try Self.event($0, text) }, beats).cancelOnGracefulShutdown()
        let body = ResponseBody { [client] writer in
            // A client that goes ends it at once; a write would notice that at the next event only.
            try await client.body.consumeWithCancellationOnInboundClose { _ in
                for try await event in events { try await writer.write(ByteBuffer(string: event)) }
            }
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-cache"]
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func event(
        _ update: LiveUpdate<Object>, _ text: (LiveUpdate<Object>) throws -> String
    ) throws -> String {
        let name: String, data: String
        switch update.cause {
        case .unchanged: (name, data) = ("unchanged", "")
        case .first: (name, data) = ("list", try text(update))
        case .change: (name, data) = ("change", try text(update))
        case .everything:
            // Later updates have their difference, whatever has caused them.
            let hasDifference = !update.insertions.isEmpty || !update.removals.isEmpty || !update.updates.isEmpty
            (name, data) = (hasDifference ? "change" : "list", try text(update))
        }
        let lines = data.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { "data: \($0)\n" }
        return "event: \(name)\nid: \(update.cursor)\n\(lines.joined())\n"
    }
}
