import Foundation
import Hummingbird
import HummingbirdTesting
import Kindred
import KindredTesting
import ShopModels
import ShopServer
import Testing

/// Runs requests against the router, over a fresh copy of the demo database.
func withShop(_ body: @Sendable (any TestClientProtocol, PostgresClient) async throws -> Void) async throws {
    let database = try await TestDatabase.current.connect(classes: KindredModels.all)
    let shop = makeShop(database: database)
    // Another connection: what the database says, past Kindred's objects.
    let other = try await PostgresClient.connect(try PostgresConfiguration(uri: TestDatabase.current.uri))
    do {
        try await shop.test(.router) { try await body($0, other) }
    } catch {
        await other.close()
        await database.close()
        throw error
    }
    await other.close()
    await database.close()
}

extension TestResponse {
    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: Data(buffer: body)) as? [String: Any] ?? [:] }
    }
}

extension PostgresClient {
    func number(_ sql: SQL) async throws -> Int {
        try await query(sql).first?.decode(0, as: Int.self) ?? -1
    }
}

/// Expects the number of statements that a request takes, without transaction control.
func expectStatements<T>(
    _ count: Int, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> T
) async throws -> T {
    let (result, sent) = try await recordingStatements(body)
    #expect(sent.statements.count == count, "\(sent.statements)", sourceLocation: sourceLocation)
    return result
}
