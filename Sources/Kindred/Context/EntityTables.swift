/// Something for each of the entities that a context has met, which are few of a schema's.
///
/// So it costs a context of a large schema no more than one of a small one.
struct EntityTables<Table> {
    private var entities: [Int] = []
    /// Where the entities' tables stand, once looking through all of them would take longer.
    private var places: [Int: Int] = [:]
    private var tables: [Table] = []

    /// The entities that have a table.
    var known: [Int] { entities }

    /// The place of an entity's table; nil if it has none.
    func place(_ entity: Int) -> Int? {
        if !places.isEmpty { return places[entity] }
        // A span: to search in an array retains it.
        let entities = entities.span
        for place in entities.indices where entities[place] == entity { return place }
        return nil
    }

    /// The place of an entity's table, which is made if there is none.
    mutating func place(_ entity: Int, orMake make: @autoclosure () -> Table) -> Int {
        if let known = place(entity) { return known }
        entities.append(entity)
        tables.append(make())
        if entities.count == 9 {
            for (place, entity) in entities.enumerated() { places[entity] = place }
        } else if entities.count > 9 {
            places[entity] = entities.count - 1
        }
        return entities.count - 1
    }

    /// The table at a place, which is read and changed without being copied.
    subscript(place: Int) -> Table {
        _read { yield tables[place] }
        _modify { yield &tables[place] }
    }
}
