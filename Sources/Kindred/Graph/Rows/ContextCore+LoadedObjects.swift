import KindredPostgres

extension ContextCore {
    /// The objects of loaded members, made from their rows where needed; nil if newer rows were forgotten
    /// meanwhile: the members must be read again.
    ///
    /// - Parameter isFresh: whether the members were just read, so that no row can be newer.
    func objects(
        _ members: __shared LoadedMembers, of entity: EntityRuntime, isFresh: Bool = false
    ) -> [DatabaseObject]? {
        if members.count == 0 { return [] }
        var objects: [DatabaseObject] = []
        objects.reserveCapacity(members.count)
        var made = MadeObjects(mayBeUndone: writing != nil)
        let (isAwaking, group) = (mayAwake(entity), members.group)
        let isCurrent = withMap { map in
            guard isFresh || map.log.staleSince(rowsOf: entity) <= members.seenAt ?? members.askedAt
            else { return false }
            let mayBeOlder = map.log.hasEntries(of: entity) || map.isDeletingAny(of: entity)
            members.forEach { member in
                let (object, isNew) = self.object(member, of: entity, group: group, in: &map)
                if isNew, isAwaking || mayBeOlder || made.mayBeUndone {
                    made.add(
                        object, key: member.key, in: &map, isAwaking: isAwaking, askedAt: group?.askedAt ?? .never)
                }
                objects.append(object)
            }
            return true
        }
        if isAwaking || !made.undoable.isEmpty { finish(made, entity) }
        return isCurrent ? objects : nil
    }

    /// The object of one member, made from its row if needed; nil as for `objects`.
    func object(
        _ member: Member, of entity: EntityRuntime, _ group: FetchGroup?, askedAt: ContextTime
    ) -> DatabaseObject? {
        var made = MadeObjects(mayBeUndone: writing != nil)
        let isAwaking = mayAwake(entity)
        let object = withMap { map -> DatabaseObject? in
            guard map.log.staleSince(rowsOf: entity) <= askedAt else { return nil }
            let (object, isNew) = self.object(member, of: entity, group: group, in: &map)
            if isNew {
                made.add(
                    object, key: member.key, in: &map, isAwaking: isAwaking, askedAt: group?.askedAt ?? .never)
            }
            return object
        }
        if isAwaking || !made.undoable.isEmpty { finish(made, entity) }
        return object
    }

    private func object(
        _ member: Member,
        of entity: EntityRuntime,
        group: FetchGroup?,
        in map: inout IdentityMap
    ) -> (object: DatabaseObject, isNew: Bool) {
        if entity.key.isEmpty { return (make(entity, member.row, in: group, at: member.position), false) }
        if let known = map.object(entity, member.key) { return (known, false) }
        let made = make(entity, member.row, in: group, at: member.position)
        map.insert(made, of: entity, key: member.key)
        return (made, true)
    }

    private func finish(_ made: MadeObjects, _ entity: EntityRuntime) {
        if !made.undoable.isEmpty { writing?.recordFetched(made.undoable) }
        if !made.awaking.isEmpty { awake(made.awaking, of: entity) }
    }
}

/// Objects made for members that need more work.
private struct MadeObjects {
    /// Objects with `awakeFromFetch` to call.
    var awaking: [DatabaseObject] = []
    /// Objects first read after a write of the transaction, whose rollback may undo their rows.
    var undoable: [DatabaseObject] = []
    let mayBeUndone: Bool

    init(mayBeUndone: Bool) {
        self.mayBeUndone = mayBeUndone
    }

    /// - Parameter askedAt: the time of the question that the object's row was read by.
    mutating func add(
        _ object: DatabaseObject, key: ObjectKey, in map: inout IdentityMap, isAwaking: Bool, askedAt: ContextTime
    ) {
        if isAwaking { awaking.append(object) }
        if mayBeUndone { undoable.append(object) }
        let entity = object.runtime
        if map.isDeletingAny(of: entity), map.isDeleting(entity, key) { object.markDeleting() }
        guard map.log.hasEntries(of: entity), let newer = map.log.row(entity, key), newer.changedAt > askedAt else {
            return
        }
        object.withState { $0.show(newer) }
    }
}
