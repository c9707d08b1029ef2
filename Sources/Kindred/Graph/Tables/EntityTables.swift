import KindredPostgres

/// A table for each entity that a context has used.
///
/// A context uses few of a schema's entities, so that a large schema costs it no more than a small one.
struct EntityTables<Table> {
    private var tables: [(entity: Int, table: Table)] = []
    /// The positions of the entities' tables, once a linear search would take longer.
    private var places: [Int: Int] = [:]
    /// The table last made or changed: usually the next one read.
    private var latest: (entity: Int, place: Int)?

    /// The position of an entity's table; nil if it has none.
    func place(_ entity: Int) -> Int? {
        if let latest, latest.entity == entity { return latest.place }
        if !places.isEmpty { return places[entity] }
        // A span: searching an array retains it.
        let tables = tables.span
        for place in tables.indices where tables[place].entity == entity { return place }
        return nil
    }

    /// The position of an entity's table, made if needed.
    mutating func place(_ entity: Int, orMake make: @autoclosure () -> Table) -> Int {
        if let known = place(entity) {
            latest = (entity, known)
            return known
        }
        // Usually there is one, and an array literal takes 200 instructions less than an array that grows.
        if tables.isEmpty { tables = [(entity, make())] } else { tables.append((entity, make())) }
        if tables.count == 9 {
            for place in tables.indices { places[tables[place].entity] = place }
        } else if tables.count > 9 {
            places[entity] = tables.count - 1
        }
        latest = (entity, tables.count - 1)
        return tables.count - 1
    }

    /// The table at a position, read and changed in place.
    subscript(place: Int) -> Table {
        _read { yield tables[place].table }
        _modify { yield &tables[place].table }
    }
}
