import Kindred
import KindredTesting
import Testing

/// Ordered relationships: the effect of each call on the order, in the database and in memory, and its statements.
@Suite struct OrderedSetTests {
    private struct Undone: Error {}

    /// The statements of a call in its transaction: the owner is locked, its order read, and differences written.
    private func expectOrderStatements(
        _ writes: [String],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async throws {
        try await expectStatements(["SELECT FROM", "SELECT"] + writes, sourceLocation: sourceLocation, body)
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func everyCallChangesTheOrderInFewStatements(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let set = try await kind.list(1, context).set(forKey: "items")
            #expect(set.isOrdered)
            #expect(try await set.numbers == [1, 2, 3, 4, 5])
            func expectOrder(_ expected: [Int], _ location: SourceLocation = #_sourceLocation) async throws {
                try await expectStatements([], sourceLocation: location) { () async throws in
                    #expect(try await set.numbers == expected, sourceLocation: location)
                }
                #expect(try await kind.stored(1, other) == expected, sourceLocation: location)
                let fresh = try await kind.list(1, database.makeContext())
                #expect(try await fresh.set(forKey: "items").numbers == expected, sourceLocation: location)
            }
            let joining = kind.isHelper ? "INSERT" : "UPDATE"
            let shift = kind.isUnique ? ["UPDATE", "UPDATE"] : ["UPDATE"]

            try await expectOrderStatements([joining]) { () async throws in try await set.append(items[8]) }
            try await expectOrder([1, 2, 3, 4, 5, 9])
            #expect(try await kind.positions(1, other) == [1, 2, 3, 4, 5, 6])
            try await expectOrderStatements([]) { () async throws in try await set.insert(items[0]) }
            try await expectOrder([1, 2, 3, 4, 5, 9])
            // No gap: the following members are shifted.
            try await expectOrderStatements(shift + (kind.isHelper ? ["INSERT"] : [])) { () async throws in
                try await set.insert(items[9], at: 1)
            }
            try await expectOrder([1, 10, 2, 3, 4, 5, 9])
            #expect(try await kind.positions(1, other) == [1, 2, 3, 4, 5, 6, 7])
            // Removing leaves a gap, which the next one takes.
            let removed = try await set.remove(at: 1)
            #expect(removed === items[9])
            try await expectOrder([1, 2, 3, 4, 5, 9])
            #expect(try await kind.positions(1, other) == [1, 3, 4, 5, 6, 7])
            try await expectOrderStatements([joining]) { () async throws in try await set.insert(items[9], at: 1) }
            try await expectOrder([1, 10, 2, 3, 4, 5, 9])
            #expect(try await kind.positions(1, other) == [1, 2, 3, 4, 5, 6, 7])

            try await expectOrderStatements(["UPDATE"]) { () async throws in try await set.move(from: 0, to: 6) }
            try await expectOrder([10, 2, 3, 4, 5, 9, 1])
            #expect(try await kind.positions(1, other) == [2, 3, 4, 5, 6, 7, 8])
            try await expectOrderStatements(["UPDATE"]) { () async throws in try await set.move(from: 5, to: 0) }
            try await expectOrder([9, 10, 2, 3, 4, 5, 1])
            try await expectOrderStatements(shift) { () async throws in try await set.move(from: 2, to: 1) }
            try await expectOrder([9, 2, 10, 3, 4, 5, 1])
            try await expectStatements([]) { () async throws in try await set.move(from: 2, to: 2) }

            // The given order becomes the order; missing members leave.
            let wanted = [4, 1, 7, 8].map { items[$0 - 1] }
            let leaving = kind.isHelper ? "DELETE" : "WITH"
            try await expectOrderStatements([leaving, joining]) { () async throws in try await set.set(wanted) }
            try await expectOrder([4, 1, 7, 8])
            try await expectOrderStatements([leaving]) { () async throws in try await set.set(wanted[1...]) }
            try await expectOrder([1, 7, 8])
            try await set.removeAll()
            try await expectOrder([])
            try await set.formUnion(wanted)
            try await expectOrder([4, 1, 7, 8])
            #expect(try await kind.positions(1, other) == [1, 2, 3, 4])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func aRolledBackTransactionPutsTheOrderBack(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let (first, second) = (
                try await kind.list(1, context).set(forKey: "items"),
                try await kind.list(2, context).set(forKey: "items")
            )
            #expect(try await first.numbers == [1, 2, 3, 4, 5])
            #expect(try await second.numbers == [6, 7, 8])
            await #expect(throws: Undone.self) { () async throws in
                try await context.transaction {
                    try await first.insert(items[6], at: 0)
                    try await first.move(from: 1, to: 4)
                    try await second.remove(at: 0)
                    #expect(try await first.numbers == [7, 2, 3, 4, 1, 5])
                    throw Undone()
                }
            }
            #expect(try await first.numbers == [1, 2, 3, 4, 5])
            #expect(try await second.numbers == [6, 7, 8])
            #expect(try await kind.stored(1, other) == [1, 2, 3, 4, 5])
            if !kind.isHelper { #expect(items[0]["position"] == 1 && items[6]["position"] == 20) }
            try await first.insert(items[6], at: 5)
            #expect(try await first.numbers == [1, 2, 3, 4, 5, 7])
            #expect(try await second.numbers == (kind.isHelper ? [6, 7, 8] : [6, 8]))
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func concurrentWritersLeaveOneOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 5..<10 {
                    group.addTask {
                        let context = database.makeContext()
                        let items = try await kind.items(context)
                        let set = try await kind.list(1, context).set(forKey: "items")
                        try await set.insert(items[number], at: 2)
                        try await set.move(from: 0, to: 1)
                        try await set.append(items[number])
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await kind.stored(1, other)
            #expect(stored.sorted() == Array(1...10))
            let positions = try await kind.positions(1, other).compactMap { $0 }
            #expect(positions.count == 10 && Set(positions).count == 10)
            let fresh = try await kind.list(1, database.makeContext()).set(forKey: "items")
            #expect(try await fresh.numbers == stored)
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.oneToMany, .manyToMany])
    func positionsThatAreNullComeLastAndGetOneWhenSomethingFollows(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let table = kind.isHelper ? "entry" : "item"
            let column = kind.isHelper ? "item_id" : "id"
            try await other.query(
                """
                UPDATE \(identifier: kind.rawValue).\(identifier: table) SET position = NULL
                WHERE \(identifier: column) IN (2, 4)
                """)
            let items = try await kind.items(context)
            let set = try await kind.list(1, context).set(forKey: "items")
            #expect(try await set.numbers == [1, 3, 5, 2, 4])
            // Before them nothing has to change.
            try await set.insert(items[8], at: 3)
            #expect(try await kind.stored(1, other) == [1, 3, 5, 9, 2, 4])
            #expect(try await set.numbers == [1, 3, 5, 9, 2, 4])
            try await set.append(items[9])
            #expect(try await kind.stored(1, other) == [1, 3, 5, 9, 2, 4, 10])
            #expect(try await set.numbers == [1, 3, 5, 9, 2, 4, 10])
            #expect(try await !kind.positions(1, other).contains(nil))
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.oneToManyUnique, .manyToManyUnique])
    func whatOthersHaveChangedIsRespected(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let set = try await kind.list(1, context).set(forKey: "items")
            #expect(try await set.numbers == [1, 2, 3, 4, 5])
            let twin = database.makeContext()
            let theirs = try await kind.list(1, twin).set(forKey: "items")
            try await theirs.insert(try await kind.items(twin)[8], at: 0)
            // Places are places in the shown set: behind 2, before 3.
            try await set.insert(items[9], at: 2)
            #expect(try await kind.stored(1, other) == [9, 1, 2, 10, 3, 4, 5])
            #expect(try await set.numbers == [9, 1, 2, 10, 3, 4, 5])
            try await theirs.remove(try await kind.items(twin)[3])
            await expectError(.notFound) { () async throws in try await set.move(from: 5, to: 0) }
            #expect(try await kind.stored(1, other) == [9, 1, 2, 10, 3, 5])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)))
    func membersFollowTheirPositionColumn() async throws {
        try await withDatabase { database, context, other in
            let kind = OrderedKind.oneToMany
            let items = try await kind.items(context)
            let list = try await kind.list(1, context)
            let set = try await list.set(forKey: "items")
            #expect(try await set.numbers == [1, 2, 3, 4, 5])
            try await items[0].setValue(9, forKey: "position")
            #expect(try await set.numbers == [2, 3, 4, 5, 1])
            items[4]["position"] = 0
            #expect(try await set.numbers == [5, 2, 3, 4, 1])
            try await context.save()
            #expect(try await set.numbers == [5, 2, 3, 4, 1])
            try await items[9].setValues(["list": list, "position": 3])
            try await context.create("oneToMany.item", ["id": 11, "list": list, "position": 1])
            try await context.create("oneToMany.item", ["id": 12, "list": list])
            try await expectStatements([]) { () async throws in
                #expect(try await set.numbers == [5, 11, 2, 3, 10, 4, 1, 12])
            }
            #expect(try await kind.stored(1, other) == [5, 11, 2, 3, 10, 4, 1, 12])
            try await items[2].setValue(nil, forKey: "position")
            #expect(try await set.numbers == (try await kind.stored(1, other)))
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.oneToMany, .oneToManyUnique, .manyToMany])
    func aRefusedChangeLeavesTheOrderAsItWas(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let table = kind.isHelper ? "entry" : "item"
            _ = try await other.query(
                """
                ALTER TABLE \(identifier: kind.rawValue).\(identifier: table)
                ADD CONSTRAINT few CHECK (list_id = 2 OR position < 6)
                """)
            let items = try await kind.items(context)
            let set = try await kind.list(1, context).set(forKey: "items")
            #expect(try await set.numbers == [1, 2, 3, 4, 5])
            for index in [0, 3, 5] {
                let error = await expectError(.constraintViolation) { () async throws in
                    try await set.insert(items[8], at: index)
                }
                #expect(error?.constraint == "few")
                #expect(try await set.numbers == [1, 2, 3, 4, 5])
                #expect(try await kind.stored(1, other) == [1, 2, 3, 4, 5])
            }
            try await context.transaction {
                await expectError(.constraintViolation) { try await set.append(items[8]) }
                try await set.remove(at: 0)
                try await set.append(contentsOf: [])
            }
            try await set.insert(items[8], at: 0)
            #expect(try await set.numbers == [9, 2, 3, 4, 5])
            #expect(try await kind.stored(1, other) == [9, 2, 3, 4, 5])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.manyToMany, .manyToManyUnique])
    func aHelpersOwnRowsHaveTheSameOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let list = try await kind.list(1, context)
            let (items, entries) = (try await list.set(forKey: "items"), try await list.set(forKey: "entrySet"))
            func numbers() async throws -> [PostgresValue?] { try await entries.objects.map { $0["item_id"] } }
            #expect(entries.isOrdered)
            #expect(try await items.numbers == [1, 2, 3, 4, 5])
            #expect(try await numbers() == [1, 2, 3, 4, 5])
            try await items.move(from: 4, to: 0)
            #expect(try await numbers() == [5, 1, 2, 3, 4])
            let held = try await entries.objects
            try await entries.move(from: 0, to: 2)
            #expect(try await numbers() == [1, 2, 5, 3, 4])
            #expect(try await items.numbers == [1, 2, 5, 3, 4])
            try await items.move(from: 0, to: 4)
            #expect(try await numbers() == [2, 5, 3, 4, 1])
            #expect(try await kind.stored(1, other) == [2, 5, 3, 4, 1])
            #expect(held.compactMap { $0["position"] }.count == 5)
        }
    }

    @Test(.database(.sql(OrderedKind.schema)))
    func prefetchedSetsAreInOrderToo() async throws {
        try await withDatabase { database, context, other in
            for kind in [OrderedKind.oneToMany, .manyToMany] {
                try await kind.list(2, context).set(forKey: "items").move(from: 2, to: 0)
                let lists = try await database.makeContext().fetch("\(kind.rawValue).list").sorted("id")
                    .prefetch("items").all()
                try await expectStatements([]) { () async throws in
                    #expect(try await lists[0].set(forKey: "items").numbers == [1, 2, 3, 4, 5])
                    #expect(try await lists[1].set(forKey: "items").numbers == [8, 6, 7])
                }
            }
        }
    }
}
