import DemoModels
import Foundation
import Kindred
import KindredTesting
import Testing

/// Classes follow the search path, as plain entities and raw SQL do: each tenant's own tables, and tables that all
/// tenants share.
@Suite struct SearchPathTests {
    final class Country: DatabaseObject, TypedObject, @unchecked Sendable {
        static let mapping = EntityMapping(
            schema: "public", name: "country",
            [
                .attribute(\Country.id, "id", "integer"), .attribute(\Country.name, "name", "text"),
                .toMany(\Country.people, "public_person_person_country_id_fkey"),
            ])
        var id: Int { readProperty(0) }
        var name: String { readProperty(1) }
        var people: ToMany<Person> { toManyProperty(2) }
    }

    final class Person: DatabaseObject, TypedObject, @unchecked Sendable {
        static let mapping = EntityMapping(
            schema: "public", name: "person",
            [
                .attribute(\Person.id, "id", "integer"), .attribute(\Person.name, "name", "text"),
                .toOne(\Person.country, "public_person_person_country_id_fkey"),
                .toMany(\Person.tags, "public_person_tag_person_tag_person_id_fkey_person_tag_tag_id_fkey"),
            ])
        var id: Int { readProperty(0) }
        var name: String {
            get { readProperty(1) }
            set { writeProperty(1, newValue) }
        }
        var country: ToOne<Country?> { toOneProperty(2) }
        var tags: ToMany<Tag> { toManyProperty(3) }
    }

    final class Tag: DatabaseObject, TypedObject, @unchecked Sendable {
        static let mapping = EntityMapping(
            schema: "public", name: "tag", [.attribute(\Tag.id, "id", "integer")])
        var id: Int { readProperty(0) }
    }

    /// The class of the shared schema's own table, whatever the search path is.
    final class SharedPerson: DatabaseObject, TypedObject, @unchecked Sendable {
        static let mapping = EntityMapping(
            schema: "public", name: "person", isQualified: true,
            [
                .attribute(\SharedPerson.id, "id", "integer"),
                .attribute(\SharedPerson.name, "name", "text"),
            ])
        var id: Int { readProperty(0) }
        var name: String { readProperty(1) }
    }

    private static let classes: [any TypedObject.Type] = [Country.self, Person.self, Tag.self]

    private static let tables = """
        CREATE TABLE person (
            id integer PRIMARY KEY, name text NOT NULL, country_id integer REFERENCES public.country);
        CREATE TABLE tag (id integer PRIMARY KEY);
        CREATE TABLE person_tag (
            person_id integer REFERENCES person, tag_id integer REFERENCES tag, PRIMARY KEY (person_id, tag_id));
        """

    private static let schema = """
        CREATE TABLE country (id integer PRIMARY KEY, name text NOT NULL);
        INSERT INTO country VALUES (1, 'Here');
        \(tables)
        INSERT INTO person VALUES (1, 'nobody''s', 1), (2, 'nobody''s', 1), (3, 'nobody''s', 1);
        INSERT INTO tag VALUES (1);
        CREATE SCHEMA tenant_a;
        SET search_path = tenant_a;
        \(tables)
        INSERT INTO person VALUES (1, 'Ann of A', 1), (2, 'Abe of A', 1);
        INSERT INTO tag VALUES (1), (2);
        INSERT INTO person_tag VALUES (1, 1), (1, 2);
        CREATE SCHEMA tenant_b;
        SET search_path = tenant_b;
        \(tables)
        INSERT INTO person VALUES (1, 'Bob of B', 1);
        RESET search_path;
        """

    private func withPath(
        _ path: [String]?, _ classes: [any TypedObject.Type], user: String? = nil,
        _ body: (Database, DatabaseContext) async throws -> Void
    ) async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        configuration.searchPath = path
        if let user { configuration.user = user }
        let database = try await Database.connect(configuration, classes: classes)
        do {
            try await body(database, database.makeContext())
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test(.database(.sql(schema))) func classesReadAndWriteTheTenantsTables() async throws {
        try await withPath(["tenant_a", "public"], Self.classes) { database, context in
            let people = try await context.fetch(Person.self).sorted { $0.id }.all()
            #expect(people.map(\.name) == ["Ann of A", "Abe of A"])
            #expect(try await context.fetch("person").all().count == 2)
            #expect(people[0].entity.name.schema == "tenant_a" && people[0].objectID?.entity.schema == "tenant_a")
            // Over relationships, in both directions, with a table that all share, and through a helper.
            let country = try await context.fetch(Country.self).one()
            #expect(country.entity.name.schema == "public")
            #expect(try await people[0].country.object === country)
            #expect(try await Set(country.people.objects) == Set(people))
            #expect(try await people[0].tags.count == 2)
            // Conditions, orders and prefetched paths.
            let found = try await context.fetch(Person.self).where { $0.country.name == "Here" && $0.tags.count == 2 }
                .prefetch(\.tags).all()
            #expect(found == [people[0]])
            let most = try await context.fetch(Country.self)
                .where { $0.people.contains { $0.name == "Abe of A" } }.count()
            #expect(most == 1)
            #expect(
                try await context.fetch(Country.self).where { $0.people.contains { $0.name == "nobody's" } }.count()
                    == 0)
            #expect(try await context.fetch(Country.self).where { $0.people.count == 2 }.count() == 1)
            let name = "Ann of A"
            #expect(
                try await context.fetch(Person.self).where(
                    #Predicate { $0.name == name && $0.country.loaded?.name == "Here" }
                ).count() == 1)
            // Writes.
            let new = try await context.create(Person.self) {
                $0.name = "New"
                $0.id = 9
                $0.country = country
            }
            try await new.tags.insert(try #require(await context.find(Tag.self, 1)))
            people[1].name = "Changed"
            let staged = try context.add(Person.self) {
                $0.name = "Staged"
                $0.id = 10
                $0.country = country
            }
            try await context.save()
            #expect(try await country.people.contains(staged))
            #expect(try await country.people.count == 4)
            try await context.fetch(Person.self).where { $0.name == "Staged" }.delete()
            func count(_ table: SQL) async throws -> PostgresValue? {
                try await database.query("SELECT count(*) FROM \(table)")[0][0]
            }
            #expect(try await count("tenant_a.person") == 3)
            #expect(try await count("public.person") == 3)
            #expect(try await count("tenant_b.person WHERE name = 'Bob of B'") == 1)
            #expect(try await count("public.person WHERE name <> 'nobody''s'") == 0)
            #expect(try await count("tenant_a.person_tag") == 3)
            #expect(try await count("public.person_tag") == 0)
        }
        for (path, names) in [
            (["tenant_b", "public"], ["Bob of B"]), (["tenant_b"], ["Bob of B"]),
            (["public", "tenant_a"], ["nobody's", "nobody's", "nobody's"]),
            (["public"], ["nobody's", "nobody's", "nobody's"]),
        ] {
            try await withPath(path, Self.classes) { (_, context) async throws in
                #expect(try await context.fetch(Person.self).all().map(\.name) == names)
                #expect(try await context.query("SELECT name FROM person").count == names.count)
            }
        }
    }

    @Test(.database(.sql(schema))) func classesOfTwoSchemasEachStandForTheirOwn() async throws {
        try await withPath(["tenant_a", "public"], Self.classes + [SharedPerson.self]) { _, context in
            #expect(try await context.fetch(Person.self).count() == 2)
            let shared = try await context.fetch(SharedPerson.self).sorted { $0.id }.all()
            #expect(shared.map(\.name) == ["nobody's", "nobody's", "nobody's"])
            #expect(try await context.fetch("public.person").first() is SharedPerson)
        }
    }

    @Test(.database(.sql(schema))) func aTenantThatDiffersIsRefusedWithAllReasons() async throws {
        try await withDatabase { database, _ in
            for statement: SQL in [
                "ALTER TABLE tenant_a.person RENAME COLUMN name TO title",
                "ALTER TABLE tenant_a.person RENAME CONSTRAINT person_country_id_fkey TO other",
                "DROP TABLE tenant_a.person_tag",
            ] { try await database.query(statement) }
        }
        let error = await expectError(.classMismatch) {
            try await withPath(["tenant_a", "public"], Self.classes) { _, _ in }
        }
        for part in ["tenant_a.person.name is missing", "person_country_id_fkey", "person_tag_tag_id_fkey is missing"] {
            #expect(error?.message.contains(part) == true, "\(String(describing: error))")
        }
        // The others are as they were.
        try await withPath(["tenant_b", "public"], Self.classes) { (_, context) async throws in
            #expect(try await context.fetch(Person.self).count() == 1)
        }
    }

    @Test(.database(.sql(schema))) func aTenantThatTheRoleMayNotReadIsRefused() async throws {
        let role = "visitor_\(UInt32.random(in: 0..<UInt32.max))"
        try await withDatabase { database, _ in
            try await database.query("CREATE ROLE \(identifier: role) LOGIN")
            try await database.query("GRANT USAGE ON SCHEMA tenant_a TO \(identifier: role)")
            try await database.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(identifier: role)")
        }
        let error = await expectError(.classMismatch) {
            try await withPath(["tenant_a", "public"], Self.classes, user: role) { _, context in
                Issue.record("\(try await context.fetch(Person.self).all().map(\.name))")
            }
        }
        #expect(error?.message.contains("tenant_a.person, to which the search path leads from public.person") == true)
        try await withDatabase { database, _ in
            try await database.query("DROP OWNED BY \(identifier: role)")
            try await database.query("DROP ROLE \(identifier: role)")
        }
    }

    /// The demo database twice: in `public`, and in a tenant's schema.
    private static let twice: String = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../sql/demo.sql")
        let demo = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return """
            \(demo)
            CREATE SCHEMA tenant;
            SET search_path = tenant;
            \(demo)
            UPDATE person SET surname = 'of the tenant';
            """
    }()

    @Test(.database(.sql(SearchPathTests.twice))) func generatedClassesFollowThePathToo() async throws {
        try await withPath(["tenant", "public"], KindredModels.all) { _, context in
            let people = try await context.fetch(DemoModels.Person.self).prefetch(\.titles).all()
            #expect(!people.isEmpty && people.allSatisfy { $0.surname == "of the tenant" })
            let books = try await context.fetch(Book.self).where { $0.authors.count > 1 }.all()
            #expect(!books.isEmpty && books.allSatisfy { $0.entity.name.schema == "tenant" })
            for book in books {
                for try await author in book.authors { #expect(author.entity.name.schema == "tenant") }
            }
        }
    }
}
