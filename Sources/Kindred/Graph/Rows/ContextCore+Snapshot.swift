import KindredPostgres

/// Rows of one snapshot of the database, as a context that changes with snapshots shows them: a list, or the other end of a
/// relationship of such rows.
package struct SnapshotRows {
    /// The members of some owners at the other end of a relationship, by the key by which an owner finds them.
    package struct Branch {
        let relationship: RelationshipRuntime
        /// The part of it; nil for all of it.
        let part: PartQuery?
        /// The owners' keys, each with the positions of its members in `rows`.
        let places: [(owner: ObjectKey, members: [Int])]
        let rows: SnapshotRows

        package init(
            relationship: RelationshipRuntime, part: PartQuery?, places: [(owner: ObjectKey, members: [Int])],
            rows: SnapshotRows
        ) {
            (self.relationship, self.part, self.places, self.rows) = (relationship, part, places, rows)
        }
    }

    let entity: EntityRuntime
    /// Each row once.
    let members: [Member]
    let branches: [Branch]

    package init(entity: EntityRuntime, members: [Member], branches: [Branch]) {
        (self.entity, self.members, self.branches) = (entity, members, branches)
    }
}

// The door for a snapshot: objects in memory show it, and nothing that was read before is used again.
extension ContextCore {
    /// Shows the rows of a snapshot, and their relationships as far as they are given; returns the objects of the rows.
    package func take(_ snapshot: SnapshotRows) throws -> [DatabaseObject] {
        // Rows first: their changes are then older than the relationships' answers.
        var held: [DatabaseObject] = []
        try showRows(snapshot, at: tick(), &held)
        // Everything else that was read before is read again at its next access; rows that released objects have left
        // are older.
        takeUnknownChanges()
        let entity = snapshot.entity
        let askedAt = tick()
        let group = FetchGroup(.keys(snapshot.members.map(\.key)), askedAt: askedAt)
        var made: [DatabaseObject] = []
        let objects = withMap { map in
            snapshot.members.enumerated().map { position, member in
                let found = map.object(entity, member.key) {
                    make(entity, member.row, in: group, at: Int32(clamping: position))
                }
                if found.isNew { made.append(found.object) }
                return found.object
            }
        }
        attach(snapshot, group, askedAt: askedAt)
        if let first = made.first, awakes(entity, first) { awake(made, of: entity) }
        return objects
    }

    /// Gives objects in memory their rows, and drops the relationships that they have loaded.
    ///
    /// - Parameter held: the objects, held until their relationships are attached.
    private func showRows(_ snapshot: SnapshotRows, at time: ContextTime, _ held: inout [DatabaseObject]) throws {
        for member in snapshot.members {
            guard let object = liveObject(snapshot.entity, member.key) else { continue }
            try take(member.row, for: object, readAt: time)
            object.withState {
                $0.relationships = LoadedRelationships()
                $0.group = nil
            }
            held.append(object)
        }
        for branch in snapshot.branches { try showRows(branch.rows, at: time, &held) }
    }

    /// Makes answers of the relationships, for the group of the rows and for rows with objects.
    private func attach(_ snapshot: SnapshotRows, _ group: FetchGroup, askedAt: ContextTime) {
        var batches: [Answer] = []
        let slots = snapshot.branches.map { branch in
            branch.part.map { willAsk($0).slot } ?? branch.relationship.slot
        }
        for branch in snapshot.branches {
            willAsk(branch.relationship)
            let rows = branch.rows.members
            var found = Answer.Builder(owners: KeyNumbers(branch.places.map(\.owner)), count: rows.count)
            var known: [Int: Int] = [:]
            for (owner, members) in branch.places {
                for place in members {
                    if let place = known[place] {
                        found.share(place, with: owner)
                    } else {
                        known[place] = found.count
                        found.append(rows[place].key, rows[place].row, to: owner)
                    }
                }
            }
            let batch = found.build(askedAt: askedAt, in: nil)
            group.keep(batch, slots[batches.count])
            batches.append(batch)
        }
        // The list comes last: an object at several places of the snapshot has its group.
        for (branch, batch) in zip(snapshot.branches, batches) { attach(branch.rows, batch, askedAt: askedAt) }
        for (position, member) in snapshot.members.enumerated() {
            guard let object = liveObject(snapshot.entity, member.key) else { continue }
            object.withState { state in
                state.group = group
                state.position = Int32(clamping: position)
                for (place, branch) in snapshot.branches.enumerated() {
                    let relationship = branch.relationship
                    guard let key = try? relationship.ownKey(member.row),
                        let loaded = batches[place].loaded(relationship, of: key)
                    else { continue }
                    state.relationships[slots[place]] = loaded
                }
            }
        }
    }

    /// Attaches the relationships of a branch's rows, in the order of its answer.
    private func attach(_ rows: SnapshotRows, _ batch: Answer, askedAt: ContextTime) {
        attach(
            SnapshotRows(entity: rows.entity, members: batch.rows, branches: rows.branches), batch.group,
            askedAt: askedAt)
    }
}

extension ContextCore {
    /// Throws if the context only shows the database's rows, as the context of a live request does.
    func requireWritable() throws {
        guard isReadOnly else { return }
        throw KindredError(
            .readOnly,
            """
            The objects of a live request are read-only: take the object with context.get(id) from another context, \
            and change it there
            """)
    }
}
