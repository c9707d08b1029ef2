import Hummingbird
import Kindred

/// `/health` and `/ready`: what an orchestrator asks.
struct HealthRoutes {
    let database: Database

    func add(to router: Router<TrackerRequestContext>) {
        // The process runs: it is not to be started anew because its database is away.
        router.get("health") { _, _ in HTTPResponse.Status.ok }
        router.get("ready", use: ready)
    }

    /// `GET /ready`: whether requests can be answered now; 503 sends them to another process.
    @Sendable func ready(_ request: Request, _ context: TrackerRequestContext) async throws -> HTTPResponse.Status {
        do {
            let settings: [String: any PostgresEncodable] = [Tenant.setting: 0, "statement_timeout": "1s"]
            _ = try await database.withContext(settings: settings, role: Tenant.role) { try await $0.query("SELECT 1") }
            return .ok
        } catch {
            return .serviceUnavailable
        }
    }
}
