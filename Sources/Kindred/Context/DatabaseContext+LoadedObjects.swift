import KindredPostgres

extension DatabaseContext {
    /// The objects of loaded members, made from their rows where nobody holds them.
    func objects(_ members: LoadedMembers, of entity: EntityRuntime) -> [DatabaseObject] {
        if members.count == 0 { return [] }
        var objects: [DatabaseObject] = []
        objects.reserveCapacity(members.count)
        var finder = MemberFinder(self, entity, members.group)
        withMap { map in
            finder.hasNotes = map.hasNotes(entity.index)
            members.forEach { objects.append(finder.object($0, &map)) }
        }
        finish(finder)
        return objects
    }

    /// The object of a loaded member, made from its row if nobody holds it.
    func object(_ member: Member, of entity: EntityRuntime, _ group: LoadGroup?) -> DatabaseObject {
        var finder = MemberFinder(self, entity, group)
        let object = withMap { map in
            finder.hasNotes = map.hasNotes(entity.index)
            return finder.object(member, &map)
        }
        finish(finder)
        return object
    }

    private func finish(_ finder: MemberFinder) {
        if !finder.newer.isEmpty { TransactionJournal.current?.recordFetched(finder.newer) }
        if !finder.awaking.isEmpty { awake(finder.awaking, of: finder.entity) }
    }
}

/// Finds the objects of loaded members, and makes those that nobody holds.
private struct MemberFinder {
    let context: DatabaseContext
    let entity: EntityRuntime
    let group: LoadGroup?
    let isAwaking: Bool
    var hasNotes = false
    /// Those that were made and have something to be called.
    var awaking: [DatabaseObject] = []
    /// Those that got a row that another object has left, which may be undone.
    var newer: [DatabaseObject] = []

    init(_ context: DatabaseContext, _ entity: EntityRuntime, _ group: LoadGroup?) {
        self.context = context
        self.entity = entity
        self.group = group
        isAwaking = context.mayAwake(entity)
    }

    mutating func object(_ member: Member, _ map: inout IdentityMap) -> DatabaseObject {
        func make() -> DatabaseObject {
            context.make(
                ObjectSeed(
                    context: context, runtime: entity, row: member.row, group: group, position: member.position))
        }
        if entity.key.isEmpty { return make() }
        let (object, isNew) = map.object(entity.index, member.key, orMake: make)
        guard isNew else { return object }
        if isAwaking { awaking.append(object) }
        guard hasNotes else { return object }
        if let row = map.takeLatestRow(entity.index, member.key) {
            object.withState { $0.row = row }
            newer.append(object)
        }
        if map.isDeleting(entity.index, member.key) { object.withState { $0.status = .deleting } }
        return object
    }
}
