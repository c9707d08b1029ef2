import Kindred
import KindredLive
import Testing

/// A live request of a tenant, with what plain SQL says of its answer.
struct LiveQuestion: Sendable {
    let name: String
    let request: @Sendable (DatabaseContext) throws -> FetchRequest<DatabaseObject>
    /// All that an update shows of an object.
    let text: @Sendable (DatabaseObject) async throws -> String
    /// Gives these texts for a tenant, in the order of the list.
    let sql: @Sendable (_ tenant: Int) -> SQL

    /// The result of an equal request of another context, which is answered by the result that was corrected step by
    /// step.
    func shown(in context: DatabaseContext) async throws -> [PostgresValue?] {
        var updates = try await request(context).live().makeAsyncIterator()
        var shown: [PostgresValue?] = []
        for object in try await updates.update().objects { shown.append(.string(try await text(object))) }
        return shown
    }
}

/// The updates that a live request has shown to a tenant whose rows have its number in `tenant_id`, and in their texts:
/// `<2>`.
struct TenantWatch: Sendable {
    var updates = 0
    /// The texts that belonged to another tenant.
    var foreign: [String] = []

    /// Whether a text is that of another tenant's row.
    static func isForeign(_ text: String, to tenant: Int) -> Bool {
        (1...3).contains { $0 != tenant && text.contains("<\($0)>") }
    }
}

extension LiveRequest<DatabaseObject> {
    /// Follows the request until the task is cancelled.
    ///
    /// - Parameter text: all that an update shows of an object.
    func watch(
        by tenant: Int, _ text: @escaping @Sendable (DatabaseObject) async throws -> String
    ) -> Task<TenantWatch, any Error> {
        let updates = makeAsyncIterator()
        return Task {
            var updates = updates
            var watch = TenantWatch()
            do {
                while let update = try await updates.next() {
                    watch.updates += 1
                    for object in update.objects {
                        let text = try await text(object)
                        let isOwn = object["tenant_id"] == .integer(Int64(tenant))
                        if !isOwn || TenantWatch.isForeign(text, to: tenant) {
                            watch.foreign.append("tenant \(tenant), \(object.entity.name): \(text)")
                        }
                    }
                }
            } catch is CancellationError {}
            return watch
        }
    }
}

extension DatabaseObject {
    func shown(_ key: String) -> String { self[key]?.description ?? "" }

    /// A value of each member in memory, by their keys.
    func members(_ key: String, _ name: String) async throws -> String {
        try await withStatementLimit(0) { try await set(forKey: key).objects }
            .sorted { ($0.number ?? 0) < ($1.number ?? 0) }.map { $0.shown(name) }.joined(separator: ",")
    }

    /// A value of a to-one end in memory; nothing where it is another tenant's.
    func end(_ key: String, _ name: String) async throws -> String {
        do {
            return try await withStatementLimit(0) { try await object(forKey: key) }?.shown(name) ?? ""
        } catch let error as KindredError where error.code == .otherTenant {
            return ""
        }
    }
}
