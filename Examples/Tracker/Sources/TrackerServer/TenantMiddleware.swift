import Hummingbird
public import Kindred
public import Logging
import TrackerModels

/// What the policies in `Migrations/0002_policies.sql` ask for.
enum Tenant {
    /// The setting that has the number of the organization.
    static let setting = "app.organization"
    /// The role for which the policies hold.
    static let role = "tracker_request"
}

/// Connects to the tracker's database, in which no statement of a context is sent without an organization and the role.
///
/// - Parameters:
///   - uri: the address; nil takes it from the environment.
///   - logger: receives statements and mistakes of the program.
public func connectTracker(_ uri: String?, logger: Logger? = nil) async throws -> Database {
    try await Database.connect(
        uri, classes: KindredModels.all, requiredSettings: [Tenant.setting, "role"], logger: logger)
}

/// Finds out for whom a request is, and gives it a unit of work of that organization.
///
/// Tokens in a dictionary stand for what a server of yours has in their place: sessions, or signed claims.
struct TenantMiddleware: RouterMiddleware {
    let database: Database
    let tokens: [String: Int]

    func handle(
        _ request: Request, context: TrackerRequestContext,
        next: (Request, TrackerRequestContext) async throws -> Response
    ) async throws -> Response {
        let scheme = "Bearer "
        guard let header = request.headers[.authorization], header.hasPrefix(scheme),
            let organization = tokens[String(header.dropFirst(scheme.count))]
        else { throw HTTPError(.unauthorized) }
        return try await database.withContext(settings: [Tenant.setting: organization], role: Tenant.role) {
            try await next(request, context.with($0, of: organization))
        }
    }
}
