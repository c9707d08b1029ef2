import Hummingbird
import Kindred

/// `/health` and `/metrics`, for what runs the server.
struct OperationsRoutes {
    let database: Database

    func add(to router: Router<ShopRequestContext>) {
        router.get("health", use: health)
        router.get("metrics", use: metrics)
    }

    /// 200 where the database answers, 503 where it does not.
    @Sendable func health(_ request: Request, _ context: ShopRequestContext) async -> HTTPResponse.Status {
        do {
            _ = try await database.query("SELECT 1")
            return .ok
        } catch {
            context.logger.warning("The database does not answer: \(error)")
            return .serviceUnavailable
        }
    }

    /// The pool's figures as Prometheus reads them.
    ///
    /// Durations and counts of requests and statements come from swift-metrics, with the library for your monitoring:
    /// `MetricsMiddleware` and `database.addTelemetry()`.
    @Sendable func metrics(_ request: Request, _ context: ShopRequestContext) -> String {
        let pool = database.client.metrics
        return """
            kindred_connections{state="idle"} \(pool.idle)
            kindred_connections{state="used"} \(pool.inUse)
            kindred_waiting \(pool.waiting)
            kindred_timeouts_total \(pool.timeouts)
            kindred_lost_connections_total \(pool.lost)

            """
    }
}
