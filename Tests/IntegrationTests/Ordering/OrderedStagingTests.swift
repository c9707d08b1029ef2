import Kindred
import KindredTesting
import Testing

/// Ordered relationships with new objects, from the other side, and refused calls.
@Suite struct OrderedStagingTests {
    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func newListsAreSavedInTheirOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let new = try (11...13).map { try context.add("\(kind.rawValue).item", ["id": $0]) }
            let list = try context.add("\(kind.rawValue).list", ["id": 3, "items": [new[2], items[9], new[0]]])
            let set = try await list.set(forKey: "items")
            #expect(try await set.numbers == [13, 10, 11])
            try await expectStatements([]) { () async throws in
                try await set.append(new[1])
                try await set.insert(items[8], at: 1)
                try await set.move(from: 0, to: 4)
                #expect(try await set.numbers == [9, 10, 11, 12, 13])
                try await set.remove(at: 2)
                try await set.insert(new[0], at: 0)
                #expect(try await set.numbers == [11, 9, 10, 12, 13])
            }
            try await context.save()
            #expect(try await kind.stored(3, other) == [11, 9, 10, 12, 13])
            #expect(try await set.numbers == [11, 9, 10, 12, 13])
            try await set.move(from: 4, to: 0)
            #expect(try await kind.stored(3, other) == [13, 11, 9, 10, 12])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func newMembersOfAStoredListComeToItsEnd(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let set = try await kind.list(2, context).set(forKey: "items")
            let new = try (11...12).map { try context.add("\(kind.rawValue).item", ["id": $0]) }
            try await set.append(contentsOf: new)
            #expect(try await set.numbers == [6, 7, 8, 11, 12])
            for body in [
                { () async throws in try await set.insert(new[0], at: 0) }, { try await set.move(from: 4, to: 0) },
                { try await set.set(new) },
            ] {
                try await expectStatements([]) { () async throws in
                    await expectError(.notStored) { () async throws in try await body() }
                }
            }
            try await context.save()
            #expect(try await kind.stored(2, other) == [6, 7, 8, 11, 12])
            #expect(try await set.numbers == [6, 7, 8, 11, 12])
            try await set.move(from: 4, to: 0)
            #expect(try await kind.stored(2, other) == [12, 6, 7, 8, 11])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases.filter { !$0.isHelper })
    func newMembersComeBehindThoseWithoutAPosition(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            try await other.query("UPDATE \(identifier: kind.rawValue).item SET position = NULL WHERE id IN (7, 8)")
            let set = try await kind.list(2, context).set(forKey: "items")
            #expect(try await set.numbers == [6, 7, 8])
            try await set.append(try context.add("\(kind.rawValue).item", ["id": 5011]))
            try await set.append(try context.add("\(kind.rawValue).item", ["id": 11]))
            #expect(try await set.numbers == [6, 7, 8, 5011, 11])
            try await context.save()
            #expect(try await kind.positions(2, other) == [10, 11, 12, 13, 14])
            #expect(try await kind.stored(2, other) == [6, 7, 8, 5011, 11])
        }
    }

    /// Whether a new member is saved or a stored one joins from its own side, pairs without a position get one.
    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.manyToMany, .manyToManyDeferrable])
    func newPairsComeBehindThoseWithoutAPosition(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            try await other.query(
                "UPDATE \(identifier: kind.rawValue).entry SET position = NULL WHERE item_id IN (7, 8)")
            let list = try await kind.list(2, context)
            let set = try await list.set(forKey: "items")
            #expect(try await set.numbers == [6, 7, 8])
            try await set.append(try context.add("\(kind.rawValue).item", ["id": 5]))
            try await set.append(try context.add("\(kind.rawValue).item", ["id": 11]))
            await expectError(.constraintViolation) { try await context.save() }
            context.rollback()
            for id in [12, 11] { try await set.append(try context.add("\(kind.rawValue).item", ["id": id])) }
            #expect(try await set.numbers == [6, 7, 8, 12, 11])
            try await context.save()
            #expect(try await kind.positions(2, other) == [10, 11, 12, 13, 14])
            #expect(try await kind.stored(2, other) == [6, 7, 8, 12, 11])
            try await other.query(
                "UPDATE \(identifier: kind.rawValue).entry SET position = NULL WHERE item_id IN (11, 12)")
            try await kind.items(context)[0].set(forKey: "lists").insert(list)
            #expect(try await kind.stored(2, other) == [6, 7, 8, 11, 12, 1])
            try await list.refresh()
            #expect(try await set.numbers == [6, 7, 8, 11, 12, 1])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func aMemberThatIsAppendedAgainStaysWhereItIs(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let list = try context.add("\(kind.rawValue).list", ["id": 3])
            let set = try await list.set(forKey: "items")
            try await set.append(contentsOf: [items[8], items[9]])
            try await set.append(items[8])
            #expect(try await set.numbers == [9, 10])
            let new = try (11...12).map { try context.add("\(kind.rawValue).item", ["id": $0]) }
            let stored = try await kind.list(2, context).set(forKey: "items")
            try await stored.append(contentsOf: new)
            try await stored.append(new[0])
            #expect(try await stored.numbers == [6, 7, 8, 11, 12])
            try await context.save()
            #expect(try await kind.stored(3, other) == [9, 10])
            #expect(try await kind.stored(2, other) == [6, 7, 8, 11, 12])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.manyToMany, .manyToManyUnique])
    func joiningFromTheOtherSideComesToTheEnd(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let item = try await kind.items(context)[9]
            let lists = try await context.fetch("\(kind.rawValue).list").sorted("id").all()
            let first = try await lists[0].set(forKey: "items")
            #expect(try await first.numbers == [1, 2, 3, 4, 5])
            try await expectStatements([kind == .manyToMany ? "WITH" : "INSERT"]) { () async throws in
                try await item.set(forKey: "lists").formUnion(lists)
            }
            try await expectStatements([]) { () async throws in #expect(try await first.numbers == [1, 2, 3, 4, 5, 10])
            }
            #expect(try await kind.stored(1, other) == [1, 2, 3, 4, 5, 10])
            #expect(try await kind.stored(2, other) == [6, 7, 8, 10])
            #expect(try await kind.positions(2, other) == [10, 20, 30, 31])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.manyToMany, .manyToManyUnique])
    func aPayloadGoesWithAnAppendedPair(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let set = try await kind.list(2, context).set(forKey: "items")
            let pair = try await context.fetch("\(kind.rawValue).entry").where("item_id = 6").one()
            try await set.insert(items[0], through: ["note": "new"])
            try await set.insert(items[5], through: ["note": "known"])
            #expect(pair["note"] == "known")
            #expect(try await set.numbers == [6, 7, 8, 1])
            #expect(try await kind.positions(2, other) == [10, 20, 30, 31])
            let notes = try await other.values(
                "SELECT note FROM \(identifier: kind.rawValue).entry WHERE list_id = 2 ORDER BY position")
            #expect(notes == ["known", nil, nil, "new"])
            try await set.insert(items[1], through: ["position": 15])
            #expect(try await kind.stored(2, other) == [6, 2, 7, 8, 1])
            #expect(try await set.numbers == [6, 2, 7, 8, 1])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)))
    func placesOutsideAndUnorderedSetsAreRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let kind = OrderedKind.oneToMany
            let items = try await kind.items(context)
            let set = try await kind.list(1, context).set(forKey: "items")
            _ = try await set.objects
            let lists = try await OrderedKind.manyToMany.items(context)[0].set(forKey: "lists")
            let list = try await OrderedKind.manyToMany.list(2, context)
            #expect(!lists.isOrdered)
            try await expectStatements([]) { () async throws in
                await expectError(.indexOutOfRange) { try await set.insert(items[9], at: 6) }
                await expectError(.indexOutOfRange) { try await set.insert(items[0], at: 5) }
                await expectError(.indexOutOfRange) { try await set.move(from: 5, to: 0) }
                await expectError(.indexOutOfRange) { try await set.move(from: 0, to: 5) }
                await expectError(.indexOutOfRange) { try await set.move(from: -1, to: 0) }
                await expectError(.indexOutOfRange) { try await set.remove(at: 5) }
                await expectError(.invalidRequest) { try await lists.append(list) }
                await expectError(.invalidRequest) { try await lists.insert(list, at: 0) }
                await expectError(.invalidRequest) { try await lists.move(from: 0, to: 1) }
                await expectError(.invalidRequest) { try await lists.remove(at: 0) }
            }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE invoice (id integer PRIMARY KEY);
                CREATE TABLE line (
                    invoice_id integer NOT NULL CONSTRAINT line_invoice REFERENCES invoice ON DELETE CASCADE,
                    number integer NOT NULL, position smallint NOT NULL, PRIMARY KEY (invoice_id, number));
                INSERT INTO invoice VALUES (1), (2);
                INSERT INTO line SELECT 1, n, n + 32762 FROM generate_series(1, 5) AS n;
                INSERT INTO line VALUES (2, 9, 1);
                """)))
    func codeNamesThePositionAndAFullRangeIsNumberedAnew() async throws {
        let override = SchemaOverride.foreignKey("line_invoice", of: "line", inverse: "lines", orderedBy: "position")
        try await withDatabase(overrides: [override]) { database, context, other in
            let set = try await context.fetch("invoice").where("id = 1").one().set(forKey: "lines")
            let line = try await context.fetch("line").where("invoice_id = 2").one()
            // The key of the member changes with its owner, and nothing is left behind the last position.
            try await set.append(line)
            #expect(line["invoice_id"] == 1)
            #expect(
                try await other.values("SELECT number FROM line WHERE invoice_id = 1 ORDER BY position") == [
                    1, 2, 3, 4, 5, 9,
                ])
            #expect(try await set.objects.map { $0["number"] } == [1, 2, 3, 4, 5, 9])
            // A required member cannot leave: nothing is written.
            await expectError(.requiredRelationship) { () async throws in
                try await set.set(try await set.objects.dropFirst())
            }
            try await set.move(from: 5, to: 0)
            #expect(try await set.objects.map { $0["number"] } == [9, 1, 2, 3, 4, 5])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: [OrderedKind.manyToMany, .manyToManyUnique])
    func aSaveThatFailedKeepsTheOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let items = try await kind.items(context)
            let order = [7, 2, 9, 0, 5, 8, 1, 3, 6, 4]
            let list = try context.add("\(kind.rawValue).list", ["id": 3, "items": order.map { items[$0] }])
            let taken = try context.add("\(kind.rawValue).item", ["id": 1])
            await expectError(.constraintViolation) { try await context.save() }
            taken.rollback()
            // Pairs that were stored by a save that succeeded, in a transaction that did not.
            struct Failure: Error {}
            await #expect(throws: Failure.self) { () async throws in
                try await context.transaction { () async throws in
                    try await context.save()
                    throw Failure()
                }
            }
            let numbers = order.map { $0 + 1 }
            #expect(try await list.set(forKey: "items").numbers == numbers)
            try await context.save()
            #expect(try await kind.stored(3, other) == numbers)
            #expect(try await list.set(forKey: "items").numbers == numbers)
        }
    }
}
