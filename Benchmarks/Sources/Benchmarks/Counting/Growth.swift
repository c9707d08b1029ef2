import Kindred

/// The same works at several sizes of something that should not affect their cost.
struct Growth: Sendable {
    let title: String
    let sizes: [Int]
    /// The works at one size, always in the same number and order.
    let works: @Sendable (_ size: Int) -> [CountedWork]

    static func all(_ database: Database) -> [Growth] {
        [heldObjects(database), referringObjects(database), relationships(database), nesting(database)]
    }

    private static func heldObjects(_ database: Database) -> Growth {
        let held = HeldItems(database)
        return Growth(title: "objects in the identity map", sizes: [1_000, 10_000, 100_000, 1_000_000]) { size in
            let prepare: @Sendable () async throws -> Void = { _ = try await held.context(holding: size) }
            return [
                CountedWork(name: "object by key, others held", unit: "object", count: 1_000, prepare: prepare) {
                    count in
                    let context = try await held.context(holding: size)
                    for step in 1...count {
                        guard try await context.find("item", Workload.items - step) != nil else {
                            throw UnexpectedResult()
                        }
                    }
                },
                CountedWork(name: "object by key, held", unit: "object", count: 1_000, prepare: prepare) { count in
                    let context = try await held.context(holding: size)
                    for step in 0..<count {
                        // Spread over the table.
                        guard try await context.find("item", step &* 7_919 % size + 1) != nil else {
                            throw UnexpectedResult()
                        }
                    }
                },
                CountedWork(name: "1,000 changed in one save", unit: "object", count: 1_000, prepare: prepare) {
                    count in
                    try await Self.change(held.items(count))
                },
                CountedWork(name: "all of them read and held", unit: "object", count: size, prepare: { held.release() })
                {
                    _ = try await HeldItems.items($0, database.makeContext())
                },
            ]
        }
    }

    /// Works that find objects by other columns than their keys, or objects that have loaded a relationship.
    private static func referringObjects(_ database: Database) -> Growth {
        let held = HeldItems(database, ["owner", "part", "mark"])
        return Growth(title: "objects of each end in the identity map", sizes: [1_000, 10_000, 100_000]) { size in
            func work(_ name: String, _ body: @escaping @Sendable (DatabaseContext, Int) async throws -> Void)
                -> CountedWork
            {
                CountedWork(
                    name: name, unit: "object", count: 200, isMarginal: true,
                    prepare: { _ = try await held.context(holding: size) }
                ) { count in
                    let context = try await held.context(holding: size)
                    for step in 1...count { try await body(context, step) }
                }
            }
            return [
                work("to-one by a unique key") { context, step in
                    guard try await context.find("part", step)?.value(forKey: "owner")?.object != nil else {
                        throw UnexpectedResult()
                    }
                },
                work("stored with one that refers to it, and both deleted") { context, _ in
                    let owner = try await context.create("owner", ["id": 0, "code": 0])
                    try await context.create("part", ["id": 0, "owner": owner])
                    try await context.delete(owner)
                },
                work("end of a many-to-many relationship stored and deleted") { context, _ in
                    try await context.delete(try await context.create("mark", ["id": 0]))
                },
            ]
        }
    }

    private static func relationships(_ database: Database) -> Growth {
        Growth(title: "relationships of the entity", sizes: [1, 10, 100]) { size in
            let entity = "hub\(size)"
            return objectWorks(entity, database) { try await $0() }
        }
    }

    private static func nesting(_ database: Database) -> Growth {
        Growth(title: "savepoints around", sizes: [1, 10, 60]) { size in
            objectWorks("hub1", database) { body in
                try await database.transaction { try await nested(size, database, body) }
            }
        }
    }

    private static func nested(
        _ depth: Int, _ database: Database, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        if depth == 0 { return try await body() }
        try await database.transaction { try await nested(depth - 1, database, body) }
    }

    /// Works on objects, inside of a scope.
    private static func objectWorks(
        _ entity: String, _ database: Database,
        _ inside: @escaping @Sendable (@escaping @Sendable () async throws -> Void) async throws -> Void
    ) -> [CountedWork] {
        func work(_ name: String, _ body: @escaping @Sendable (Int, DatabaseContext) async throws -> Void)
            -> CountedWork
        {
            CountedWork(name: name, unit: "object", count: 200, isMarginal: true) { count in
                let context = database.makeContext()
                try await inside { try await body(count, context) }
            }
        }
        @Sendable func rows(_ count: Int, _ context: DatabaseContext) async throws -> [DatabaseObject] {
            try await context.fetch(entity).where("id <= %@", count).all()
        }
        return [
            work("object by key") { count, context in
                for key in 1...count { _ = try await context.find(entity, key) }
            },
            work("rows to objects") { count, context in _ = try await rows(count, context) },
            work("read and changed, each stored at once") { count, context in
                let value = Int.random(in: 1...1_000_000)
                for row in try await rows(count, context) { try await row.setValue(value, forKey: "note") }
            },
            work("read and changed in one save") { count, context in try await change(rows(count, context)) },
            work("new, each stored at once") { count, context in
                for key in 1...count { try await context.create(entity, ["note": key]) }
            },
            work("new in one save") { count, context in
                for key in 1...count { try context.add(entity, ["note": key]) }
                try await context.save()
            },
        ]
    }

    private static func change(_ objects: [DatabaseObject]) async throws {
        let value = Int.random(in: 1...1_000_000)
        for object in objects { object["note"] = .integer(Int64(value)) }
        try await objects.first?.context.save()
    }
}
