import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, nick text NOT NULL, age integer NOT NULL);
    CREATE TABLE member (id integer PRIMARY KEY, nick text NOT NULL, age integer NOT NULL);
    CREATE VIEW grown_up AS SELECT id, nick, age FROM person WHERE age >= 18;
    CREATE VIEW old AS SELECT id, nick, age FROM grown_up WHERE age >= 60;
    CREATE TABLE note (id integer PRIMARY KEY, hidden boolean NOT NULL DEFAULT false, text text);
    ALTER TABLE note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY shown ON note USING (NOT hidden);
    GRANT SELECT ON note TO PUBLIC;
    INSERT INTO person VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'cid', 70);
    INSERT INTO member VALUES (7, 'eve', 50);
    INSERT INTO note (id, hidden) VALUES (1, false), (2, true), (3, false);
    """

/// DDL on what a running live request reads: it goes on with the new definition, or ends with an error that says why.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveDefinitionTests {
    @Test func aReplacedViewIsAskedAnew() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("grown_up").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [2, 3])
            try await other.query("CREATE OR REPLACE VIEW grown_up AS SELECT id, nick, age FROM person WHERE age >= 5")
            let update = try await updates.update()
            #expect(update.integers() == [1, 2, 3] && update.insertions == [0])
            #expect(update.cause == .everything(.schemaChanged))
            try await other.query("UPDATE person SET age = 1 WHERE id = 2")
            #expect(try await updates.update().integers() == [1, 3])
        }
    }

    @Test func aViewMadeAgainIsAskedAnew() async throws {
        try await withLive("person", "member") { _, context, other in
            var updates = try await context.fetch("old").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [3])
            try await other.withTransaction { _ in
                try await other.query("DROP VIEW old")
                try await other.query("CREATE VIEW old AS SELECT id, nick, age FROM member WHERE age >= 40")
            }
            let update = try await updates.update()
            #expect(update.integers() == [7] && update.cause == .everything(.schemaChanged))
            // The table of the new view is followed.
            try await other.query("INSERT INTO member VALUES (8, 'fay', 60)")
            #expect(try await updates.update().integers() == [7, 8])
        }
    }

    @Test func aViewBelowAnotherCounts() async throws {
        try await withLive("person", "member") { _, context, other in
            var updates = try await context.fetch("old").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [3])
            try await other.query(
                """
                CREATE OR REPLACE VIEW grown_up AS
                    SELECT id, nick, age FROM person WHERE EXISTS (SELECT FROM member AS m WHERE m.age < person.age)
                """)
            try await other.query("UPDATE person SET age = 60 WHERE id = 1")
            var update = try await updates.update()
            if update.objects.count == 1 { update = try await updates.update() }
            #expect(update.integers() == [1, 3])
            try await other.query("UPDATE member SET age = 65")
            #expect(try await updates.update().integers() == [3])
        }
    }

    @Test func aViewOfATableThatIsNotTrackedEndsTheRequest() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("grown_up").sorted("id").live().makeAsyncIterator()
            var people = try await context.fetch("person").sorted("id").live().makeAsyncIterator()
            _ = try await (updates.update(), people.update())
            try await other.query("CREATE OR REPLACE VIEW grown_up AS SELECT id, nick, age FROM member")
            let error = await expectError(.trackingNotEnabled) { _ = try await updates.next() }
            #expect(error?.message.contains("public.member") == true)
            #expect(error?.message.contains("public.person ") == false)
            // The other request goes on.
            try await other.query("UPDATE person SET age = 11 WHERE id = 1")
            #expect(try await people.update().updates == [0])
        }
    }

    @Test func aViewOfATableThatIsNotTrackedIsRefused() async throws {
        try await withLive("member") { database, context, _ in
            let error = await expectError(.trackingNotEnabled) { _ = try await context.fetch("old").live() }
            #expect(error?.message.contains("public.person") == true)
            try await database.tracking.enable("person")
            var updates = try await context.fetch("old").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [3])
        }
    }

    /// The objects of an iteration are known by the former key: a new one would mix them up.
    @Test(arguments: ["age > 0", "id = 1"]) func anotherKeyEndsTheRequest(condition: String) async throws {
        try await withLive("person", "member") { _, context, other in
            var updates = try await context.fetch("person").where(condition).live().makeAsyncIterator()
            var members = try await context.fetch("member").live().makeAsyncIterator()
            _ = try await (updates.update(), members.update())
            try await other.query("ALTER TABLE person DROP CONSTRAINT person_pkey, ADD PRIMARY KEY (nick)")
            try await other.query("UPDATE person SET age = 99")
            let error = await expectError(.schemaChanged) { while try await updates.next() != nil {} }
            #expect(error?.message.contains("public.person has another key") == true)
            try await other.query("UPDATE member SET age = 51")
            #expect(try await members.update().updates == [0])
        }
    }

    @Test func noKeyEndsTheRequest() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("person").live().makeAsyncIterator()
            _ = try await updates.update()
            try await other.query("ALTER TABLE person DROP CONSTRAINT person_pkey")
            let error = await expectError(.schemaChanged) { while try await updates.next() != nil {} }
            #expect(error?.message.contains("public.person has another key") == true)
        }
    }

    @Test func aDroppedTableEndsTheRequest() async throws {
        try await withLive("member") { _, context, other in
            var updates = try await context.fetch("member").live().makeAsyncIterator()
            _ = try await updates.update()
            try await other.query("DROP TABLE member")
            let error = await expectError(.schemaChanged) { while try await updates.next() != nil {} }
            #expect(error?.message.contains("public.member") == true)
        }
    }

    @Test func aNewColumnDoesNotEndTheRequest() async throws {
        try await withLive("member") { _, context, other in
            var updates = try await context.fetch("member").sorted("id").live().makeAsyncIterator()
            _ = try await updates.update()
            try await other.query("ALTER TABLE member ADD COLUMN size integer")
            try await other.query("UPDATE member SET size = 1, nick = 'new'")
            let update = try await updates.update()
            #expect(update.updates == [0] && update.values("nick") == [.string("new")])
        }
    }

    @Test func aChangedPolicyShowsOtherRows() async throws {
        try await withLive("note") { database, _, other in
            try await withReader(of: database, other) { theirs in
                var updates = try await theirs.makeContext().fetch("note").sorted("id").live().makeAsyncIterator()
                #expect(try await updates.update().integers() == [1, 3])
                try await other.query("ALTER POLICY shown ON note USING (hidden OR id = 1)")
                let update = try await updates.update()
                #expect(update.integers() == [1, 2] && update.cause == .everything(.schemaChanged))
                try await other.query("CREATE POLICY third ON note USING (id = 3)")
                #expect(try await updates.update().integers() == [1, 2, 3])
                try await other.query("DROP POLICY shown ON note")
                #expect(try await updates.update().integers() == [3])
            }
        }
    }
}
