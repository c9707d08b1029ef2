import Foundation
import Kindred

/// Loads the demo database, whose script stands beside this package.
func loadDemo(_ uri: String) async throws {
    let script = URL(filePath: #filePath).appending(path: "../../../../../sql/demo.sql").standardized
    let client = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
    do {
        try await client.runScript(try String(contentsOf: script, encoding: .utf8))
    } catch {
        await client.close()
        throw error
    }
    await client.close()
}
