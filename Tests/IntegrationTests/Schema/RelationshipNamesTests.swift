import Kindred
import KindredTesting
import Testing

/// Keys that a program knows, checked when it connects.
@Suite struct RelationshipNamesTests {
    private static let schema = """
        CREATE TABLE person (id int PRIMARY KEY);
        CREATE TABLE task (id int PRIMARY KEY, owner_id int CONSTRAINT task_owner_fkey REFERENCES person, author_id int);
        CREATE TABLE watch (
            person_id int CONSTRAINT watched REFERENCES person, task_id int CONSTRAINT watchers REFERENCES task,
            PRIMARY KEY (person_id, task_id));
        """

    private func connect(_ names: RelationshipNames) async throws {
        let database = try await Database.connect(TestDatabase.current.uri, names: names)
        await database.close()
    }

    @Test(.database(.sql(schema))) func aKeyThatLeadsElsewhereIsAnError() async throws {
        try await withDatabase { database, context, other in
            let names = RelationshipNames(database.schema)
            #expect(try RelationshipNames(text: names.text) == names)
            #expect(names.text.contains(#""owner" : "public.person by owner_id = id""#), "\(names.text)")
            try await connect(names)
            // A table that is added beside it changes no meaning.
            try await database.query("CREATE TABLE note (id int PRIMARY KEY, task_id int REFERENCES task)")
            try await connect(names)
            // A second key claims the name of the table: it goes to neither.
            try await database.query(
                "ALTER TABLE task ADD CONSTRAINT task_author_fkey FOREIGN KEY (author_id) REFERENCES person")
            let lost = await expectError(.keysChanged) { try await connect(names) }
            #expect(lost?.category == .failure)
            #expect(
                lost?.message.contains(
                    "public.task.person is no key any more; it led to public.person by owner_id = id, as owner does")
                    == true, "\(lost?.message ?? "")")
            // The other one has it alone.
            try await database.query("ALTER TABLE task DROP CONSTRAINT task_owner_fkey")
            let moved = await expectError(.keysChanged) { try await connect(names) }
            #expect(
                moved?.message.contains(
                    "public.task.person leads to public.person by author_id = id now, and led to public.person by owner_id = id"
                )
                    == true, "\(moved?.message ?? "")")
            // The same columns by another constraint: the meaning is the same.
            try await database.query(
                "ALTER TABLE task DROP CONSTRAINT task_author_fkey, ADD CONSTRAINT renamed_fkey FOREIGN KEY (owner_id) REFERENCES person"
            )
            let renamed = RelationshipNames(try await database.refreshSchema())
            #expect(names.changes(to: renamed).map(\.key).allSatisfy { $0.hasSuffix("task_owner_fkey") })
        }
    }

    @Test(.database(.sql(schema))) func aRefreshChecksThemToo() async throws {
        try await withDatabase { database, context, other in
            let names = RelationshipNames(database.schema)
            let checked = try await Database.connect(TestDatabase.current.uri, names: names)
            try await database.query(
                "ALTER TABLE task ADD CONSTRAINT task_author_fkey FOREIGN KEY (author_id) REFERENCES person")
            await expectError(.keysChanged) { try await checked.refreshSchema() }
            #expect(try checked.schema.entity(named: "task").relationship(named: "person") != nil)
            await checked.close()
        }
    }

    @Test func whatIsNoFileOfNamesIsRefused() {
        for text in ["", "[]", "{}", #"{"version": 2, "entities": {}}"#, #"{"version": 1, "entities": {"a": 1}}"#] {
            #expect(throws: SchemaError.self) { try RelationshipNames(text: text) }
        }
    }
}
