import Kindred
import KindredTesting
import Testing

/// Writes of sets and requests touch the rows that their filters show, and no others.
@Suite(.database(.sql(FilterWorld.schema))) struct FilterWritingTests {
    @Test func removingAllLeavesWhatIsHidden() async throws {
        try await withDatabase { _, context, other in
            let tasks = try await context.any("project", 1).set(forKey: "taskSet")
            try await expectStatements(["UPDATE"]) { () async throws in try await tasks.removeAll() }
            #expect(try await tasks.ids == [])
            #expect(try await other.values("SELECT id FROM task WHERE project_id = 1") == [2])
            let labels = try await context.any("task", 1).set(forKey: "labelSet")
            try await expectStatements(["DELETE"]) { () async throws in try await labels.removeAll() }
            #expect(try await other.values("SELECT label_id FROM task_label WHERE task_id = 1") == [2])
        }
    }

    @Test func aNewSetLeavesWhatIsHidden() async throws {
        try await withDatabase { _, context, other in
            let (four, green) = (try await context.any("task", 4), try await context.any("label", 3))
            let tasks = try await context.any("project", 1).set(forKey: "taskSet")
            try await expectStatements(["WITH", "WITH"]) { () async throws in try await tasks.set([four]) }
            #expect(try await tasks.ids == [4])
            #expect(try await other.values("SELECT id FROM task WHERE project_id = 1 ORDER BY id") == [2, 4])
            let labels = try await context.any("task", 1).set(forKey: "labelSet")
            try await expectStatements(["DELETE", "INSERT"]) { () async throws in try await labels.set([green]) }
            #expect(try await labels.ids == [3])
            #expect(
                try await other.values("SELECT label_id FROM task_label WHERE task_id = 1 ORDER BY label_id") == [2, 3])
        }
    }

    @Test func anObjectThatIsNamedJoinsAndLeavesHiddenOrNot() async throws {
        try await withDatabase { _, context, other in
            let two = try await context.any("task", 2)
            let (first, second) = (
                try await context.any("project", 1).set(forKey: "taskSet"),
                try await context.any("project", 2).set(forKey: "taskSet")
            )
            #expect(try await first.ids == [1, 3])
            #expect(try await second.ids == [4])
            try await second.insert(two)
            #expect(try await other.value("SELECT project_id FROM task WHERE id = 2") == 2)
            try await expectStatements([]) { () async throws in
                #expect(try await first.ids == [1, 3])
                #expect(try await second.ids == [4])
            }
            try await second.remove(two)
            #expect(try await other.value("SELECT project_id FROM task WHERE id = 2") == nil)
        }
    }

    @Test func requestsWriteWhatTheyFind() async throws {
        try await withDatabase { _, context, other in
            try await expectStatements(["UPDATE"]) { () async throws in
                #expect(try await context.fetch("task").update(["points": 0]) == 4)
            }
            #expect(try await other.values("SELECT id FROM task WHERE points > 0 ORDER BY id") == [2, 5, 7])
            #expect(try await context.fetch("task").unfiltered().where("id = 2").update(["points": 0]) == 1)
            try await expectStatements(["DELETE"]) { () async throws in
                #expect(try await context.fetch("label").delete() == 2)
            }
            #expect(try await other.values("SELECT id FROM label") == [2])
        }
    }

    @Test func setsFollowWhatIsShownAndHidden() async throws {
        try await withDatabase { _, context, _ in
            let (one, two) = (try await context.any("task", 1), try await context.any("task", 2))
            let tasks = try await context.any("project", 1).set(forKey: "taskSet")
            let labels = try await one.set(forKey: "labelSet")
            let (red, blue) = (try await context.any("label", 1), try await context.any("label", 2))
            #expect(try await tasks.ids == [1, 3])
            #expect(try await labels.ids == [1])
            try await one.setValue(PostgresTimestamp.now, forKey: "deleted_at")
            try await expectStatements([]) { () async throws in #expect(try await tasks.ids == [3]) }
            try await two.setValue(nil, forKey: "deleted_at")
            try await expectStatements([]) { () async throws in #expect(try await tasks.ids == [2, 3]) }
            // A staged change is shown once it is saved.
            two["deleted_at"] = PostgresTimestamp.now
            #expect(try await tasks.ids == [2, 3])
            try await context.save()
            try await expectStatements([]) { () async throws in #expect(try await tasks.ids == [3]) }
            // Which sets a label is in is not known: they are read again.
            try await blue.setValue(false, forKey: "archived")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await labels.ids == [1, 2]) }
            try await red.setValue(true, forKey: "archived")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await labels.ids == [2]) }
            #expect(try await context.fetch("task").unfiltered().where("id = 2").update(["deleted_at": nil]) == 1)
            #expect(try await tasks.ids == [2, 3])
        }
    }

    @Test func newObjectsAreShownAndARollbackUndoesAll() async throws {
        try await withDatabase { _, context, _ in
            let project = try await context.any("project", 1)
            let tasks = try await project.set(forKey: "taskSet")
            #expect(try await tasks.ids == [1, 3])
            let new = try context.add("task", ["id": 10, "title": "new", "project": project])
            #expect(try await tasks.count == 3)
            try await context.save()
            try await expectStatements([]) { () async throws in #expect(try await tasks.ids == [1, 3, 10]) }
            await fail(context) {
                try await new.setValue(PostgresTimestamp.now, forKey: "deleted_at")
                #expect(try await tasks.ids == [1, 3])
            }
            #expect(try await tasks.ids == [1, 3, 10])
            let created = try await context.create(
                "task", ["id": 11, "title": "x", "project": project, "deleted_at": PostgresTimestamp.now])
            #expect(try await tasks.ids == [1, 3, 10])
            try await context.delete(created, permanently: true)
        }
    }
}

/// Orders and numbers of members where some are hidden.
@Suite struct FilteredMemberTests {
    private static let schema = """
        CREATE TABLE list (id integer PRIMARY KEY);
        CREATE TABLE item (
            id integer PRIMARY KEY, list_id integer REFERENCES list, position integer, hidden boolean NOT NULL DEFAULT false,
            UNIQUE (list_id, position));
        COMMENT ON TABLE item IS '@kindred {"filter": "hidden == false"}';
        COMMENT ON CONSTRAINT item_list_id_fkey ON item IS
            '@kindred {"inverse": "items", "orderedBy": "position", "minimumCount": 1, "maximumCount": 4}';
        INSERT INTO list VALUES (1), (2);
        INSERT INTO item VALUES (1, 1, 10, false), (2, 1, 20, true), (3, 1, 30, false), (4, 1, 40, false),
            (5, 1, 50, true), (6, 2, 1, false), (7, 2, 2, true), (8, NULL, NULL, false), (9, NULL, NULL, false);
        """

    private func order(_ other: PostgresClient) async throws -> [PostgresValue?] {
        try await other.values("SELECT id || ':' || position FROM item WHERE list_id = 1 ORDER BY position")
    }

    @Test(.database(.sql(schema))) func hiddenMembersKeepTheirPositions() async throws {
        try await withDatabase { _, context, other in
            let items = try await context.any("list", 1).set(forKey: "items")
            func numbers() async throws -> [PostgresValue?] { try await items.objects.map { $0["id"] } }
            #expect(try await numbers() == [1, 3, 4])
            try await items.move(from: 2, to: 0)
            #expect(try await numbers() == [4, 1, 3])
            #expect(try await order(other) == ["4:9", "1:10", "2:20", "3:30", "5:50"])
            // The first choice would be the position of a hidden one.
            try await items.insert(try await context.any("item", 8), at: 2)
            #expect(try await numbers() == [4, 1, 8, 3])
            #expect(try await order(other) == ["4:9", "1:10", "2:20", "8:25", "3:30", "5:50"])
            // The new order leaves the hidden items in the list.
            let given = try await items.objects
            try await items.set([given[3], given[0]])
            #expect(try await numbers() == [3, 4])
            #expect(try await order(other) == ["3:8", "4:9", "2:20", "5:50"])
        }
    }

    @Test(.database(.sql(schema))) func hiddenMembersMoveWhereThereIsNoRoom() async throws {
        try await withDatabase { _, context, other in
            try await other.query("UPDATE item SET position = position / 10 WHERE list_id = 1")
            let items = try await context.any("list", 1).set(forKey: "items")
            try await items.insert(try await context.any("item", 8), at: 1)
            #expect(try await items.objects.map { $0["id"] } == [1, 8, 3, 4])
            // Hidden items stay behind the item that they were behind.
            let order = try await other.values("SELECT id FROM item WHERE list_id = 1 ORDER BY position")
            #expect(order == [1, 2, 8, 3, 4, 5])
        }
    }

    @Test(.database(.sql(schema))) func countsAreOfTheMembersShown() async throws {
        try await withDatabase { _, context, other in
            let (first, second) = (
                try await context.any("list", 1).set(forKey: "items"),
                try await context.any("list", 2).set(forKey: "items")
            )
            // Five rows, of which three are shown.
            try await first.append(try await context.any("item", 8))
            await expectError(.countOutOfRange) { try await first.append(try await context.any("item", 9)) }
            let six = try await context.any("item", 6)
            await expectError(.countOutOfRange) { try await second.remove(six) }
            await expectError(.countOutOfRange) { try await six.setValue(true, forKey: "hidden") }
            #expect(try await other.value("SELECT hidden FROM item WHERE id = 6") == false)
            await expectError(.countOutOfRange) {
                try await context.fetch("item").where("id = 6").update(["hidden": true])
            }
            await expectError(.countOutOfRange) {
                try await context.any("item", 2).setValue(false, forKey: "hidden")
            }
            try await context.any("item", 7).setValue(false, forKey: "hidden")
            try await six.setValue(true, forKey: "hidden")
            #expect(try await second.ids == [7])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE post (id integer PRIMARY KEY);
                CREATE TABLE tag (id integer PRIMARY KEY, deleted_at timestamptz);
                COMMENT ON TABLE tag IS '@kindred {"softDelete": "deleted_at"}';
                CREATE TABLE post_tag (
                    post_id integer REFERENCES post ON DELETE CASCADE, tag_id integer REFERENCES tag ON DELETE CASCADE,
                    PRIMARY KEY (post_id, tag_id));
                COMMENT ON CONSTRAINT post_tag_post_id_fkey ON post_tag IS
                    '@kindred {"manyToMany": "tags", "minimumCount": 1, "maximumCount": 2}';
                INSERT INTO post VALUES (1), (2);
                INSERT INTO tag VALUES (1, NULL), (2, NULL), (3, NULL), (4, now());
                INSERT INTO post_tag VALUES (1, 1), (2, 2), (2, 3), (2, 4);
                """)))
    func pairsOfHiddenMembersDoNotCount() async throws {
        try await withDatabase { database, context, other in
            let (one, two) = (try await context.any("tag", 1), try await context.any("tag", 2))
            await expectError(.countOutOfRange) { try await context.delete(one) }
            #expect(one["deleted_at"] == nil)
            await expectError(.countOutOfRange) { try await context.fetch("tag").where("id = 1").delete() }
            await expectError(.countOutOfRange) { try await context.restore(try await context.any("tag", 4)) }
            await expectError(.countOutOfRange) {
                one["deleted_at"] = PostgresTimestamp.now
                try await context.save()
            }
            context.rollback()
            try await context.delete(two)
            try await context.restore(try await context.any("tag", 4))
            #expect(try await context.any("post", 2).set(forKey: "tags").ids == [3, 4])
            await expectError(.countOutOfRange) {
                try await database.makeContext().fetch("tag").where("id > 1").delete()
            }
            #expect(try await other.value("SELECT count(*) FROM tag WHERE deleted_at IS NULL") == 3)
            // A pair that gets a hidden member keeps its owner, and counts no longer.
            let pairs = try context.fetch("post_tag").where("post_id = 1")
            await expectError(.countOutOfRange) { try await pairs.one().setValue(2, forKey: "tag_id") }
            #expect(try await other.value("SELECT tag_id FROM post_tag WHERE post_id = 1") == 1)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE list (id integer PRIMARY KEY);
                CREATE TABLE item (
                    id integer PRIMARY KEY, list_id integer REFERENCES list, name text NOT NULL, rank integer NOT NULL);
                COMMENT ON TABLE item IS '@kindred {"filter": "name BEGINSWITH \\"a\\" AND rank < 5"}';
                INSERT INTO list VALUES (1), (2);
                INSERT INTO item VALUES (1, 1, 'a1', 1), (2, 1, 'b2', 1), (3, 1, 'a3', 9), (4, 2, 'a4', 2);
                """)))
    func aConditionThatOnlyTheServerKnowsIsAskedAgain() async throws {
        try await withDatabase { _, context, other in
            let items = try await context.any("list", 1).set(forKey: "itemSet")
            let (one, two) = (try await context.any("item", 1), try await context.any("item", 2))
            #expect(try await items.ids == [1])
            try await two.setValue("a2", forKey: "name")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await items.ids == [1, 2]) }
            try await one.setValue(7, forKey: "rank")
            #expect(try await items.ids == [2])
            #expect(try await context.find("item", 1) == nil)
            #expect(try await context.find("item", 2) === two)
            #expect(try await context.find("item", [1, 2, 4]).map { $0["id"] } == [2, 4])
            let new = try context.add(
                "item", ["id": 9, "name": "b", "rank": 1, "list": try await context.any("list", 1)])
            #expect(try await items.count == 2)
            try await context.save()
            #expect(try await items.ids == [2])
            try await new.setValue("a", forKey: "name")
            #expect(try await items.ids == [2, 9])
            try await items.removeAll()
            #expect(try await other.values("SELECT id FROM item WHERE list_id = 1 ORDER BY id") == [1, 3])
        }
    }

    @Test(
        .database(.sql("CREATE TABLE a (id integer PRIMARY KEY, b_id integer REFERENCES a, at timestamptz)")),
        arguments: [
            ("at ==", "filter"), ("c == nil", "\"c\""), ("b.at == nil", "its own columns"), ("at == 5", "at"),
        ])
    func aFilterThatDoesNotFitIsAnError(_ text: String, _ part: String) async throws {
        let uri = try TestDatabase.current.uri
        let error = await #expect(throws: SchemaError.self) {
            try await Database.connect(uri, overrides: [.table("a", filter: text)])
        }
        #expect(
            error?.code == .invalidAnnotation && error?.message.contains(part) == true, "\(String(describing: error))")
    }

    @Test(
        .database(
            .sql("CREATE TABLE a (id integer PRIMARY KEY, at timestamptz); INSERT INTO a VALUES (1, NULL), (2, now())"))
    )
    func aFilterInCodeIsOneToo() async throws {
        try await withDatabase(overrides: [.table("a", filter: "at != nil")]) { database, context, other in
            #expect(try await context.fetch("a").ids == [2])
            #expect(try database.schema.entity(named: "a").filter == "at != nil")
            try await database.refreshSchema()
            #expect(try await database.makeContext().fetch("a").ids == [2])
        }
    }
}
