import Kindred
import KindredLive
import KindredTesting
import Testing

/// Whether the connection's role learns keys of changes: policies that apply to it keep keys from it.
enum KeyNaming: CaseIterable, Sendable {
    /// Contexts have settings, and the connection's role.
    case hidden
    /// The connection's role sees all rows; contexts have a role, to which the policies apply.
    case named
}

/// A database whose rows policies keep apart, with contexts that follow their own.
struct TenantWorld: Sendable {
    let database: Database
    let admin: PostgresClient
    let naming: KeyNaming
    /// The role to which policies apply: of the connections, or of the contexts.
    let role: String

    /// A context of an organization.
    ///
    /// - Parameter role: another role than the world's.
    func context(
        _ organization: Int, role: String? = nil, settings: [String: any PostgresEncodable] = [:],
        tracking: DatabaseContext.Tracking = .none
    ) throws -> DatabaseContext {
        var settings = settings
        settings["app.organization"] = organization
        return try database.makeContext(
            settings: settings, role: role ?? (naming == .named ? self.role : nil), tracking: tracking)
    }

    /// The first column of a query's rows as plain SQL gives them to an organization, on a connection of its own.
    func values(_ sql: SQL, of organization: Int) async throws -> [PostgresValue?] {
        try await admin.withTransaction { _ in
            try await admin.query(
                "SELECT set_config('app.organization', \(String(organization)), true), set_config('role', \(role), true)"
            )
            return try await admin.values(sql)
        }
    }

    /// The statements that live requests and contexts ask because of changes while `body` runs.
    func statements(_ body: () async throws -> Void) async throws -> Int {
        try await database.tracking.catchUp()
        let before = database.tracking.metrics.statements
        try await body()
        try await database.tracking.catchUp()
        return database.tracking.metrics.statements - before
    }
}

/// Lends a database of `organizationSchema` whose changes are recorded; its role is dropped afterwards.
func withTenantWorld(
    _ naming: KeyNaming, requiredSettings: [String] = [], enabling others: [String] = [],
    _ body: (_ world: TenantWorld) async throws -> Void
) async throws {
    try await withDatabase { owner, _, admin in
        let role = "tenants_\(UInt32.random(in: 0..<UInt32.max))"
        try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
        let result: Result<Void, any Error>
        do {
            try await owner.tracking.install(readers: [role])
            try await owner.tracking.enable(["project", "task", "label", "task_label"] + others)
            var configuration = admin.configuration
            if naming == .hidden { configuration.user = role }
            let database = try await Database.connect(configuration, requiredSettings: requiredSettings)
            do {
                try await body(TenantWorld(database: database, admin: admin, naming: naming, role: role))
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try await admin.query("DROP OWNED BY \(identifier: role)")
        try await admin.query("DROP ROLE \(identifier: role)")
        try result.get()
    }
}
