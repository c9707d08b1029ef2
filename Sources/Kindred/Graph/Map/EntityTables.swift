/// Something for each of the entities that a context has met, which are few of a schema's.
///
/// So it costs a context of a large schema no more than one of a small one.
struct EntityTables<Table> {
    private var tables: [(entity: Int, table: Table)] = []
    /// Where the entities' tables stand, once looking through all of them would take longer.
    private var places: [Int: Int] = [:]
    /// Which was last made or given something: mostly it is asked for next.
    private var latest: (entity: Int, place: Int)?

    /// The place of an entity's table; nil if it has none.
    func place(_ entity: Int) -> Int? {
        if let latest, latest.entity == entity { return latest.place }
        if !places.isEmpty { return places[entity] }
        // A span: to search in an array retains it.
        let tables = tables.span
        for place in tables.indices where tables[place].entity == entity { return place }
        return nil
    }

    /// The place of an entity's table, which is made if there is none.
    mutating func place(_ entity: Int, orMake make: @autoclosure () -> Table) -> Int {
        if let known = place(entity) {
            latest = (entity, known)
            return known
        }
        // Mostly there is one, and an array made for it takes 200 instructions less than one that grows.
        if tables.isEmpty { tables = [(entity, make())] } else { tables.append((entity, make())) }
        if tables.count == 9 {
            for place in tables.indices { places[tables[place].entity] = place }
        } else if tables.count > 9 {
            places[entity] = tables.count - 1
        }
        latest = (entity, tables.count - 1)
        return tables.count - 1
    }

    /// The table at a place, which is read and changed without being copied.
    subscript(place: Int) -> Table {
        _read { yield tables[place].table }
        _modify { yield &tables[place].table }
    }
}
