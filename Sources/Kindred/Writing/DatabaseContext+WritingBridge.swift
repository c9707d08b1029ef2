import KindredPostgres
import KindredSchema

// Goes when Saving and Deleting call the types of Writing themselves.
extension DatabaseContext {
    func placeNewMembers(among objects: [DatabaseObject]) async throws -> [DatabaseObject] {
        try await Stager(core).placeNewMembers(among: objects)
    }

    func formerOwners(of keys: [ObjectKey], _ entity: EntityRuntime, writing columns: [Int]) throws -> FormerOwners? {
        try CountCheck(core).formerOwners(of: keys, entity, writing: columns)
    }

    func count(_ former: FormerOwners, _ result: QueryResult) throws { try CountCheck(core).note(former, result) }

    func keptAway(_ entity: EntityRuntime) -> KindredError { entity.keptAway }

    func applyReturned(_ result: QueryResult, _ entity: EntityRuntime) throws {
        try RowWriter(core).applyReturned(result, of: entity)
    }
}
