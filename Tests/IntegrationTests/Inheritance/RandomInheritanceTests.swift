import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random changes of the rows of five tables in a line of inheritance, compared with a plain list after each step.
@Suite struct RandomInheritanceTests {
    private struct Key: Hashable, CustomStringConvertible {
        let table: String
        var id: Int
        var description: String { "\(table) \(id)" }
    }

    private static let tables = ["place", "city", "capital", "port", "seaport"]
    /// The tables whose rows each table shows.
    private static let shown = [
        "place": Set(tables), "city": ["city", "capital", "seaport"], "capital": ["capital"],
        "port": ["port", "seaport"],
        "seaport": ["seaport"],
    ]

    @Test(.database(.sql(inheritanceSchema)), arguments: 1...6 as ClosedRange<UInt64>)
    func memoryAndDatabaseFollowAPlainList(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withDatabase { database, context, other in
            try await other.runScript("DELETE FROM visit; DELETE FROM place_tag; DELETE FROM sign")
            var rows: [Key: String] = [:]
            for row in try await other.query("SELECT tableoid::regclass::text, id, name FROM place") {
                let key = Key(table: try row.decode(0, as: String.self) ?? "", id: try row.decode(1, as: Int.self) ?? 0)
                rows[key] = try row.decode(2, as: String.self)
            }
            var held: [DatabaseObject] = []
            for step in 1...60 {
                let entity = Self.tables[Int.random(in: 0..<5, using: &random)]
                let visible = rows.keys.filter { Self.shown[entity]?.contains($0.table) == true }
                    .sorted { "\($0)" < "\($1)" }
                let chosen = visible.isEmpty ? nil : visible[Int.random(in: 0..<visible.count, using: &random)]
                let name = "step \(step)"
                let id = Int.random(in: 1...9, using: &random)
                let action = Int.random(in: 0..<9, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 { held = [] }
                switch (action, chosen) {
                case (0, _), (_, nil):
                    let key = Key(table: entity, id: id)
                    if rows[key] == nil {
                        held.append(try await context.create(entity, ["id": id, "name": name]))
                    } else {
                        await expectError(.constraintViolation) {
                            _ = try await context.create(entity, ["id": id, "name": name])
                        }
                        continue
                    }
                    rows[key] = name
                case (1, _):
                    held.append(try await context.upsert(entity, ["id": id, "name": name], on: "id"))
                    rows[Key(table: entity, id: id)] = name
                case (2, let key?), (3, let key?):
                    let object = try await Self.object(key, as: entity, context)
                    try await object.setValue(name, forKey: "name")
                    rows[key] = name
                    held.append(object)
                case (4, let key?):
                    let object = try await Self.object(key, as: entity, context)
                    object["name"] = .string(name)
                    let moved = Key(table: key.table, id: id)
                    if moved != key, rows[moved] == nil {
                        object["id"] = .integer(Int64(id))
                        rows[key] = nil
                    }
                    try await context.save()
                    rows[object["id"] == .integer(Int64(id)) ? moved : key] = name
                    held.append(object)
                case (5, let key?):
                    try await context.delete(try await Self.object(key, as: entity, context))
                    rows[key] = nil
                case (6, let key?):
                    let object = try await Self.object(key, as: entity, context)
                    #expect(try await context.fetch(entity).where("SELF = %@", object).update(["name": name]) == 1)
                    rows[key] = name
                default:
                    // Memory may still have a row that went by another of its tables.
                    let found = try await database.makeContext().find(entity, id)
                    let own = rows[Key(table: entity, id: id)]
                    let others = visible.filter { $0.id == id }.compactMap { rows[$0] }
                    if let own {
                        #expect(found?["name"] == .string(own), "seed \(seed), step \(step)")
                    } else {
                        #expect((found == nil) == others.isEmpty, "seed \(seed), step \(step)")
                    }
                    if let known = try await context.find(entity, id) { held.append(known) }
                }
                let stored = try await placeRows(other).map { String($0.dropLast(2)) }.sorted()
                #expect(stored == rows.map { "\($0) \($1)" }.sorted(), "seed \(seed), step \(step)")
                for table in Self.tables {
                    let objects = try await context.fetch(table).all()
                    let expected = rows.filter { Self.shown[table]?.contains($0.key.table) == true }
                    #expect(Set(objects).count == objects.count, "seed \(seed), step \(step)")
                    #expect(
                        objects.map { "\($0["name"] ?? "")" }.sorted() == expected.values.sorted(),
                        "seed \(seed), step \(step), \(table)")
                    for object in objects {
                        let id = try #require(object.objectID)
                        #expect(try await context.get(uri: id.uri) === object)
                    }
                }
            }
        }
    }

    /// The object of a row through an entity, by its ID.
    private static func object(_ key: Key, as entity: String, _ context: DatabaseContext) async throws -> DatabaseObject
    {
        let table = key.table == entity ? "" : "&tableoid=public.\(key.table)"
        return try await context.get(uri: "kindred:/public/\(entity)?id=\(key.id)\(table)")
    }
}
