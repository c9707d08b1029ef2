import DemoModels
import Kindred
import KindredTesting
import Testing

/// The examples of the articles on naming, sets, orders and views.
@Suite struct RelationshipTests {
    @Test(.shop) func names() async throws {
        let overrides: [SchemaOverride] = [
            // block: override
            .foreignKey("email_person_id_fkey", of: "email", name: "owner", inverse: "addresses")
            // end
        ]
        try await withShop(classes: [], overrides: overrides) { database, context, _ in
            // block: explain
            let email = try database.schema.entity(named: "email")
            for relationship in email.relationships {
                print(relationship.name, relationship.aliases)
                for explanation in relationship.explanation { print("  ", explanation) }
            }
            // end
            #expect(email.relationships.map(\.name) == ["owner"])
            #expect(email.relationship(named: "public_email_email_person_id_fkey")?.name == "owner")
            let person = try #require(try await context.find("person", 1))
            #expect(try await person.set(forKey: "addresses").count == 2)
        }
        try await withShop { shop, _, _ in
            let address = try TestDatabase.current.uri
            let saved = RelationshipNames(shop.schema).text
            // block: names-that-stay
            let names = try RelationshipNames(text: saved)  // the text of that file
            let database = try await Database.connect(address, names: names)
            // end
            try await database.query(
                "COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {\"name\": \"owner\"}'")
            try await database.query("ALTER TABLE email ADD sender_id integer REFERENCES person")
            await expectError(
                .keysChanged,
                """
                Keys of relationships have another meaning: public.person.emailSet is no key any more; it led to
                public.email[] by id = person_id, as person_emailSet does
                """
            ) { try await database.refreshSchema() }
            try await database.query("COMMENT ON CONSTRAINT email_person_id_fkey ON email IS NULL")
            try await database.query("ALTER TABLE email DROP sender_id")
            await database.close()
        }
        try await withShop { database, _, _ in
            _ = try await database.query(
                // A comment in the database instead.
                """
                COMMENT ON CONSTRAINT email_person_id_fkey ON email
                    IS '@kindred {"name": "owner", "inverse": "addresses"}'
                """)
            try await database.refreshSchema()
            #expect(try database.schema.entity(named: "person").relationship(named: "addresses") != nil)
            _ = try await database.query(
                """
                COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {"nmae": "owner"}'
                """)
            do {
                try await database.refreshSchema()
                _ = try database.makeContext().fetch("email")
                Issue.record("the annotation was taken")
            } catch let error as SchemaError {
                expectMessage(
                    error.description,
                    """
                    The schema's annotations do not fit: the comment on constraint email_person_id_fkey of
                    public.email: "nmae" is unknown here; did you mean "name"? [invalidAnnotation]
                    """)
            }
        }
    }

    private static let helper: DatabaseFixture = """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE title (id integer PRIMARY KEY);
        CREATE TABLE person_title (
            person_id integer CONSTRAINT titles REFERENCES person ON DELETE CASCADE,
            title_id integer REFERENCES title,
            PRIMARY KEY (person_id, title_id)
        )
        """

    @Test(.database(helper)) func theHelpersKeyNamesItsOwnSide() async throws {
        try await withShop(classes: []) { database, _, _ in
            let person = try database.schema.entity(named: "person")
            #expect(person.relationship(named: "titles")?.kind == .manyToMany)
            #expect(person.relationship(named: "titles")?.deleteRule == .nullify)
            #expect(try database.schema.entity(named: "title").relationship(named: "personSet") != nil)
        }
    }

    @Test(.shop) func sets() async throws {
        try await withShop { database, context, sent in
            let person = try #require(try await context.find("person", 2))
            let email = try await context.create("email", ["address": "a@example.org"])
            let others = try await context.fetch("email").where("person == nil").limit(3).all()
            sent.take()
            // block: set
            let emails = try await person.set(forKey: "emailSet")
            try await emails.insert(email)
            // end
            sent.expect(
                """
                UPDATE "public"."email" AS t SET "person_id" = $1 WHERE t."id" = $2
                    RETURNING t."id", t."address", t."person_id"
                """)
            // block: set-union
            try await emails.formUnion(others)
            // end
            sent.expect(
                """
                WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."email" AS t
                    WHERE t."id" = ANY($1) ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."email" AS t
                    SET "person_id" = $3 WHERE t."id" = ANY($1) AND (t."person_id" IS DISTINCT FROM $3)
                    AND (SELECT count(*) FROM locked) = $2 RETURNING t."id", t."address", t."person_id")
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT
                    JOIN changed ON true
                """)
            // block: set-remove
            try await emails.remove(email)
            // end
            sent.expect(
                """
                WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."email" AS t
                    WHERE t."id" = ANY($1) ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."email" AS t
                    SET "person_id" = NULL WHERE t."id" = ANY($1) AND (t."person_id" = $3) IS TRUE
                    AND (SELECT count(*) FROM locked) = $2 RETURNING t."id", t."address", t."person_id")
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT
                    JOIN changed ON true
                """)
            // block: set-replace
            try await emails.set(others)
            // end
            sent.expect(
                """
                WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."email" AS t
                    WHERE t."id" = ANY($1) ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."email" AS t
                    SET "person_id" = NULL WHERE t."person_id" = $3 AND NOT t."id" = ANY($1) AND (SELECT
                    count(*)
                    FROM locked) = $2 RETURNING t."id", t."address", t."person_id") SELECT changed.*,
                    found.count
                    FROM (SELECT count(*) FROM locked) AS found LEFT JOIN changed ON true
                """,
                """
                WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."email" AS t
                    WHERE t."id" = ANY($1) ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."email" AS t
                    SET "person_id" = $3 WHERE t."id" = ANY($1) AND (t."person_id" IS DISTINCT FROM $3)
                    AND (SELECT count(*) FROM locked) = $2 RETURNING t."id", t."address", t."person_id")
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT
                    JOIN changed ON true
                """)
            #expect(try await emails.count == 3)
            sent.take()
            // block: set-empty
            try await emails.removeAll()
            // end
            sent.expect(
                """
                UPDATE "public"."email" AS t SET "person_id" = NULL WHERE t."person_id" = $1
                    RETURNING t."id", t."address", t."person_id"
                """)
            #expect(try await emails.isEmpty)

            sent.take()
            // block: pairs
            let dr = try await context.fetch("title").where("name = %@", "Dr.").one()
            let titles = try await person.set(forKey: "titles")
            try await titles.insert(dr)
            // end
            #expect(sent.take().count == 2)
            // block: pairs-replace
            try await person.setValue([dr], forKey: "titles")
            // end
            sent.expect(
                """
                DELETE FROM "public"."person_title_rel" AS t WHERE t."person_id" = $1 AND NOT t."title_id" = ANY($2)
                    RETURNING t."person_id", t."title_id"
                """,
                """
                INSERT INTO "public"."person_title_rel" AS h ("person_id", "title_id") SELECT $1, member.*
                    FROM unnest($2) AS member(m0) ON CONFLICT ("person_id", "title_id") DO NOTHING
                """)

            // block: questions
            print(try await titles.count, try await titles.contains(dr))
            for try await title in titles { print(title["name"] ?? "-") }
            let long = try await titles.where("name BEGINSWITH %@", "Cap").sorted("name").all()
            // end
            #expect(long.count <= 1)

            let store = try #require(try await context.find("store", 1))
            let book = try await context.create(
                "book",
                [
                    "isbn": "978-1", "title": "New", "published": PostgresDate(year: 2026, month: 1, day: 1),
                    "price": PostgresNumeric("9.99"), "category": try await context.fetch("category").first(),
                ])
            let books = try await store.set(forKey: "bookSet")
            sent.take()
            await expectError(
                .missingValue,
                """
                public.store.bookSet goes through public.stock, which requires copies; use insert(_:through:)
                """
            ) {
                // block: payload-missing
                try await books.insert(book)
                // end
            }
            sent.expectCount(0)
            // block: payload
            try await books.insert(book, through: ["copies": 3])
            // end
            sent.expect(
                """
                INSERT INTO "public"."stock" AS h ("store_id", "book_id", "copies") SELECT $1, member.*, $3
                    FROM unnest($2) AS member(m0) ON CONFLICT ("store_id", "book_id") DO UPDATE
                    SET "copies" = excluded."copies" RETURNING h."store_id", h."book_id", h."copies"
                """)

            let category = try #require(try await context.find("category", 1))
            let poetry = try await category.set(forKey: "bookSet")
            sent.take()
            await expectError(
                .requiredRelationship,
                """
                public.book cannot leave "bookSet": category_id may not be NULL; give the object another owner
                or delete it
                """
            ) {
                // block: required
                try await poetry.removeAll()
                // end
            }
            sent.expectCount(0)

            let manager = try #require(try await context.find("person", 3))
            sent.take()
            // block: one-to-one
            try await store.setValue(manager, forKey: "manager")
            // end
            sent.expect(
                """
                WITH locked AS MATERIALIZED (SELECT 1 FROM "public"."store" AS t
                    WHERE t."id" = ANY($1) ORDER BY t."id" FOR NO KEY UPDATE), changed AS (UPDATE "public"."store" AS t
                    SET "manager_id" = NULL WHERE t."manager_id" = $3 AND NOT t."id" = ANY($1) AND (SELECT
                    count(*)
                    FROM locked) = $2 RETURNING t."id", t."city", t."opened", t."manager_id")
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT
                    JOIN changed ON true
                """,
                """
                UPDATE "public"."store" AS t SET "manager_id" = $1 WHERE t."id" = $2
                    RETURNING t."id", t."city", t."opened", t."manager_id"
                """)
        }
    }

    @Test(.shop) func orders() async throws {
        try await withShop { database, context, sent in
            _ = try await database.query(
                """
                COMMENT ON CONSTRAINT authors ON book_author IS '@kindred {"orderedBy": "position"}'
                """)
            sent.take()
            // block: ordered
            let novel = try await context.fetch("book").where("id = %@", 21).one()
            let authors = try await novel.set(forKey: "authors")  // in the order of book_author.position
            try await authors.append(context.create("author", ["name": "Zoe Young"]))
            try await authors.move(from: 3, to: 0)
            let last = try await authors.remove(at: 3)
            try await authors.insert(last, at: 1)
            // end
            let names = try await authors.objects.map { $0["name"] }
            #expect(names.count == 4 && names[0] == "Zoe Young" && names[1] == last["name"])
            let stored = try await database.query(
                "SELECT name FROM author JOIN book_author ON author_id = id WHERE book_id = 21 ORDER BY position")
            let storedNames = try stored.map { try $0[0] }
            #expect(storedNames == names)
            sent.take()
            // block: order-move
            try await authors.move(from: 2, to: 1)
            // end
            sent.expect(
                """
                SELECT FROM "public"."book" WHERE "id" = $1 FOR NO KEY UPDATE
                """,
                """
                SELECT t."author_id", t."position" FROM "public"."book_author" AS t WHERE t."book_id" = $1
                    ORDER BY t."position" NULLS LAST, t."author_id"
                """,
                """
                UPDATE "public"."book_author" AS t SET "position" = new.position
                    FROM unnest($1, $2) WITH ORDINALITY AS new(k0, position, place) WHERE t."author_id" = new.k0
                    AND t."book_id" = $3 RETURNING t."book_id", t."author_id", t."position", new.place
                """)
            sent.take()
            await expectError(
                .indexOutOfRange,
                """
                public.book.authors takes indices from 0 to 3, not 9
                """
            ) {
                // block: order-index
                try await authors.move(from: 0, to: 9)
                // end
            }
            sent.expectCount(0)
            // block: order-set
            try await authors.set(authors.objects.reversed())
            // end
            let reversed = try await authors.objects.map { $0["name"] }
            #expect(reversed == [names[3], names[1], names[2], names[0]])
        }
    }

    @Test(.shop) func views() async throws {
        try await withShop { database, context, sent in
            // block: view
            let books = try await context.fetch("new_book").sorted("title").limit(5).all()
            try await books[0].setValue(PostgresNumeric("4.99"), forKey: "price")
            // end
            #expect(sent.take().count == 2)
            // The view's object and the table's are two.
            let id = try #require(books[0]["id"])
            let book = try await context.fetch("book").where("id = %@", id).one()
            try await books[0].setValue(PostgresNumeric("3.99"), forKey: "price")
            #expect(book["price"] != books[0]["price"])
            try await book.refresh()
            #expect(book["price"] == books[0]["price"])
            let bestsellers = try await context.fetch("bestseller").sorted("copies", ascending: false).limit(3).all()
            #expect(bestsellers.count == 3 && bestsellers[0].objectID == nil)
            sent.take()
            await expectError(
                .readOnly,
                """
                public.bestseller cannot be written: it has no primary key, is a view that takes no changes, or
                the role may only read it
                """
            ) {
                // block: view-read-only
                let best = try await context.fetch("bestseller").sorted("copies", ascending: false).first()
                try await best?.setValue("New title", forKey: "title")
                // end
            }
            _ = try await database.query("CREATE VIEW office_email AS SELECT id, address, person_id FROM email")
            try await database.refreshSchema()
            let fresh = database.makeContext()
            sent.take()
            // block: view-relationship
            let person = try await fetchPerson(in: fresh)
            let addresses = try await person.set(forKey: "office_emailSet")
            for try await address in addresses { print(address["address"] ?? "-") }
            // end
            #expect(try await addresses.count == 2)
            let view = try database.schema.entity(named: "office_email")
            #expect(view.relationships.map(\.name) == ["person"])
        }
        try await withShop(classes: [], overrides: [.table("bestseller", key: ["title"])]) { _, context, _ in
            let best = try #require(try await context.fetch("bestseller").sorted("copies", ascending: false).first())
            #expect(best.objectID != nil)
        }
    }

    private static let tasks: DatabaseFixture = """
        CREATE TABLE list (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
        CREATE TABLE task (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            list_id integer REFERENCES list,
            position integer,
            title text NOT NULL,
            done boolean NOT NULL DEFAULT false
        );
        COMMENT ON CONSTRAINT task_list_id_fkey ON task IS '@kindred {"orderedBy": "position"}';
        CREATE VIEW open_task AS SELECT id, list_id, position, title FROM task WHERE NOT done;

        INSERT INTO list (name) VALUES ('Home');
        INSERT INTO task (list_id, position, title, done)
            VALUES (1, 1, 'a', false), (1, 2, 'b', true), (1, 3, 'c', false), (1, 4, 'd', false);
        """

    @Test(.database(tasks)) func aViewIsARelationshipToSomeOfTheMembers() async throws {
        try await withShop(classes: []) { database, context, sent in
            // block: view-members
            let list = try await context.fetch("list").prefetch("open_taskSet").one()
            let tasks = try await list.set(forKey: "open_taskSet")  // those to do, in the order of task.position
            try await tasks.move(from: 2, to: 0)
            try await tasks.append(context.create("open_task", ["title": "Water the plants"]))
            // end
            let titles = try await tasks.objects.map { $0["title"] }
            #expect(titles == ["d", "a", "c", "Water the plants"])
            let stored = try await database.query("SELECT title FROM open_task ORDER BY position")
            #expect(try stored.map { try $0[0] } == titles)
            // A task that is done leaves the set.
            let task = try await context.fetch("task").where("title = 'd'").one()
            try await task.setValue(true, forKey: "done")
            #expect(try await tasks.count == 3)
            sent.take()
        }
    }

    private func fetchPerson(in context: DatabaseContext) async throws -> DatabaseObject {
        try await context.fetch("person").where("surname = %@", "Smith").one()
    }
}
