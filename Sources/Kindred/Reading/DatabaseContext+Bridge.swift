import KindredPostgres
import KindredSchema

// Goes when Writing calls the types of Reading itself.
extension DatabaseContext {
    func send(
        _ statements: [Statement], _ entity: EntityRuntime, key: String? = nil, for objects: [DatabaseObject] = []
    ) async throws -> [QueryResult] {
        try await core.client.send(statements, entity, key: key, for: objects)
    }

    func identified(_ id: ObjectID) async throws -> DatabaseObject { try await Fetcher(core).identified(id) }

    func fetch(_ entity: EntityRuntime, _ key: ObjectKey) async throws -> DatabaseObject? {
        try await Fetcher(core).fetch(entity, key)
    }

    func readStale(_ objects: some Collection<DatabaseObject>) async throws {
        try await Refresher(core).readStale(objects)
    }

    func refreshAndLock(_ objects: [DatabaseObject]) async throws { try await Refresher(core).refreshAndLock(objects) }

    func unwritten(_ objects: [DatabaseObject]) async throws -> KindredError {
        try await Refresher(core).unwritten(objects)
    }

    func refusedAtEnd(_ error: PostgresError, among objects: [DatabaseObject]) -> any Error {
        core.runtime.refusedAtEnd(error, among: objects)
    }

    func destination(
        of relationship: RelationshipRuntime, from object: DatabaseObject
    ) async throws -> DatabaseObject? {
        try await Loader(core).destination(of: relationship, from: object)
    }

    func members(
        of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace? = nil
    ) async throws -> [DatabaseObject] {
        try await Loader(core).members(of: relationship, owner: owner, at: place)
    }

    func load(_ relationship: RelationshipRuntime, forAll objects: [DatabaseObject]) async throws {
        try await Loader(core).load(relationship, forAll: objects)
    }
}
