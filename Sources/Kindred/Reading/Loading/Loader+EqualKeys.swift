import KindredPostgres
import Synchronization

// Staged foreign keys that only the server can compare with an owner's key: texts that ignore case or trailing spaces.
extension Loader {
    /// Asks the server which staged foreign keys are equal to an owner's key, where only it can compare them: one SELECT
    /// if some are unknown.
    func compareStagedKeys(_ relationship: RelationshipRuntime, of owner: DatabaseObject) async throws {
        guard core.hasStagedChanges, let key = owner.keyToCompare(relationship) else { return }
        let keys = core.staged.withLock { $0.uncomparedKeys(relationship, key) }
        guard !keys.isEmpty else { return }
        let query = RelationshipQuery(relationship)
        let result = try await core.client.execute(try query.comparison(of: keys, with: key))
        var equal: Set<ObjectKey> = []
        for row in 0..<result.count {
            guard case .integer(let place) = try result.value(row: row, column: 0),
                let index = Int(exactly: place).map({ $0 - 1 }), keys.indices.contains(index)
            else { continue }
            equal.insert(keys[index])
        }
        core.staged.withLock { $0.noteCompared(keys, with: key, in: relationship, equal: equal) }
    }
}
