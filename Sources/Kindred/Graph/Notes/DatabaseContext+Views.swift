import KindredSchema

// Views show the rows of tables as objects of their own. What is written to one of the two is not known of the other, so
// that relationships are asked for again instead of being followed.
extension DatabaseContext {
    /// Notes that the context wrote something, which views may show: answers about their relationships are outdated.
    func noteViewsOutdated() {
        guard runtime.hasViewRelationships else { return }
        note { map, time in map.noteWritten(at: time) }
    }

    /// Notes that a row was written through a view: of the tables below it nothing is known any more.
    func noteWrittenThrough(_ view: EntityRuntime) {
        for table in view.shownEntities where withMap({ $0.knows(table) }) {
            note { map, time in map.forgetNotes(of: table, at: time) }
        }
    }

    /// Whether an object in memory stands for what a foreign key leads to: a view need not show its row any more.
    func mayTrustObject(of relationship: RelationshipRuntime) -> Bool {
        guard relationship.model.isByView, runtime.entities[relationship.destination].entity.isView else { return true }
        return withMap { $0.writtenAt } == 0
    }

    /// Gives objects in memory the rows that a relationship was answered with, where others than theirs are written too.
    func refreshShared(_ batch: LoadedBatch, of entity: EntityRuntime) throws {
        guard entity.sharesRows, runtime.hasViewRelationships, !entity.key.isEmpty else { return }
        for member in batch.rows {
            guard let object = liveObject(entity, member.key) else { continue }
            try apply(member.row, to: object, askedAt: batch.askedAt)
        }
    }
}
