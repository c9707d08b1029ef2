import KindredPostgres

extension DatabaseContext {
    /// One-to-one partners change hands in a save: who has to leave does so before somebody else comes, so that the
    /// unique key holds after each statement.
    ///
    /// One UPDATE to NULL for each such relationship, and none if nobody changes places.
    func release(_ objects: [DatabaseObject], _ run: SaveRun) async throws {
        struct Claim: Hashable {
            let entity: Int
            let slot: Int
            let key: ObjectKey
        }
        var claims: [Claim: DatabaseObject] = [:]
        var holders: [(object: DatabaseObject, relationship: RelationshipRuntime, key: ObjectKey)] = []
        for object in objects {
            let entity = object.runtime
            for relationship in entity.foreignKeys where relationship.model.kind == .oneToOne {
                let columns = relationship.ownColumns
                let (row, stored) = object.withState { ($0.row, $0.storedRow) }
                let (old, new) = (try ObjectKey(stored, columns), try ObjectKey(row, columns))
                guard old != new else { continue }
                if let new { claims[Claim(entity: entity.index, slot: relationship.slot, key: new)] = object }
                if let old { holders.append((object, relationship, old)) }
            }
        }
        var leaving: [SavedObject] = []
        for (object, relationship, key) in holders {
            let claim = Claim(entity: object.runtime.index, slot: relationship.slot, key: key)
            guard let other = claims[claim], other !== object,
                let columns = object.runtime.leavingColumns(of: relationship.ownColumns)
            else { continue }
            leaving.append(SavedObject(object, leaving: columns))
        }
        var isVersioned = false
        for group in SavedGroup.groups(leaving, columns: \.columns) {
            if group.entity.version != nil { isVersioned = true }
            run.add(try group.update(), group.entity, group.objects.map(\.object)) { [self] result in
                // The objects' own changes follow, and tell whether a row is gone.
                if group.entity.version != nil { try group.applyUpdate(result, in: self, isRelease: true) }
            }
        }
        // Those changes expect the version that this one makes.
        if isVersioned { try await run.flush() }
    }
}
