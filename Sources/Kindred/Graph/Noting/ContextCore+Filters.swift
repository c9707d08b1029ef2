import KindredPostgres

// Notes rows that the filters of entities begin to show or to hide.
extension ContextCore {
    /// Marks sets as stale that rows of an entity may have joined or left, unknown which, because columns were written that
    /// its filter reads.
    func noteShownOrHidden(of entity: EntityRuntime) {
        for relationship in entity.foreignKeys { noteAllStale(relationship.inverse) }
        for relationship in entity.helperEnds { noteAllStale(relationship) }
        notePairsStale(with: entity)
    }

    /// Marks many-to-many sets as stale that have rows of an entity: which owners a row is paired with is not known.
    func notePairsStale(with entity: EntityRuntime) {
        for relationship in entity.relationships where relationship.helper != nil { noteAllStale(relationship.inverse) }
    }
}
