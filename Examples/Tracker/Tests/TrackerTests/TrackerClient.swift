import Foundation
import Hummingbird
import HummingbirdTesting
import Kindred
import KindredTesting
import Testing
import TrackerServer

/// Runs requests against the router, over a database of the test's own.
func withTracker(_ body: @Sendable (TrackerClient) async throws -> Void) async throws {
    let uri = try TestDatabase.current.uri
    let database = try await connectTracker(uri)
    let tracker = makeTracker(database: database, tokens: ["acme": 1, "globex": 2])
    // Another connection, for which no policies hold: what the database says, past Kindred's objects.
    let other = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
    do {
        try await tracker.test(.router) { try await body(TrackerClient(client: $0, other: other)) }
    } catch {
        await other.close()
        await database.close()
        throw error
    }
    await other.close()
    await database.close()
}

/// Sends requests of one organization, and counts what they cost.
struct TrackerClient {
    let client: any TestClientProtocol
    let other: PostgresClient
    var token: String? = "acme"

    /// The same client with the token of another organization, or with none.
    func with(_ token: String?) -> TrackerClient { TrackerClient(client: client, other: other, token: token) }

    /// Sends a request, and returns the JSON of its answer.
    ///
    /// - Parameters:
    ///   - statements: the exact number of statements that the request sends; nil where it does not matter.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ uri: String, body: String? = nil, status: HTTPResponse.Status = .ok,
        statements: Int?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let headers: HTTPFields = token.map { [.authorization: "Bearer \($0)"] } ?? [:]
        let (response, recorder) = try await recordingStatements {
            try await client.execute(
                uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
            ) { $0 }
        }
        let text = String(buffer: response.body)
        #expect(response.status == status, "\(text)", sourceLocation: sourceLocation)
        let sent = recorder.statements
        if let statements {
            let list = sent.joined(separator: "\n")
            #expect(sent.count == statements, "\(list)", sourceLocation: sourceLocation)
        }
        return text.isEmpty ? .null : try JSONDecoder().decode(JSON.self, from: Data(buffer: response.body))
    }

    /// The number that a query gives.
    func number(_ sql: SQL) async throws -> Int {
        try await other.query(sql).first?.decode(0, as: Int.self) ?? -1
    }
}

/// An answer.
enum JSON: Decodable, Equatable {
    case null
    case number(Int)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// The value of a key.
    subscript(key: String) -> JSON {
        if case .object(let object) = self { object[key] ?? .null } else { .null }
    }

    /// The elements of a list.
    var elements: [JSON] { if case .list(let list) = self { list } else { [] } }

    var number: Int? { if case .number(let number) = self { number } else { nil } }

    var text: String? { if case .text(let text) = self { text } else { nil } }
}
