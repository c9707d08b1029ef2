import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random values of every type through a server: `KINDRED_ROUND_TRIPS=1000000 swift test --filter RoundTrip`.
@Suite(.database)
struct RoundTripTests {
    @Test(arguments: RandomValue.scalars)
    func builtInTypes(type: PostgresDataType) async throws {
        try await withRoundTripClient { client in
            if type == .xml, await !hasXML(client) { return }
            // A cast to character or bit alone cuts.
            let name = type == .bpchar ? "bpchar" : "\(type)"
            let trip = RoundTrip(client: client, name: name, type: type, hasSameText: !isInexactlyPrinted(type)) {
                RandomValue.value(of: type, &$0)
            }
            try await trip.run(seed: UInt64(type.rawValue))
            try await trip.runArrays(seed: UInt64(type.rawValue))
        }
    }

    /// Servers write exponents elsewhere than Swift, the rows of their catalog by name, and the prefix of every `cidr`.
    private func isInexactlyPrinted(_ type: PostgresDataType) -> Bool {
        switch type {
        case .float4, .float8, .point, .line, .lseg, .box, .path, .polygon, .circle, .cidr: true
        default: false
        }
    }

    /// A server may be built without it.
    private func hasXML(_ client: PostgresClient) async -> Bool {
        do {
            try await client.query("SELECT '<a/>'::xml")
            return true
        } catch {
            return false
        }
    }
}

/// Lends a connection to the test's database where money is printed as the library reads it.
func withRoundTripClient(_ body: (PostgresClient) async throws -> Void) async throws {
    var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    configuration.cancellationGrace = .seconds(60)
    let client = try await PostgresClient.connect(configuration)
    do {
        try await client.withConnection { connection in
            try await connection.query("SET lc_monetary = 'C'")
            try await body(client)
        }
    } catch {
        await client.close()
        throw error
    }
    await client.close()
}
