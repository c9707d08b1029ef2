import Kindred
import KindredTesting
import Testing

/// Views change nothing of what a deletion does.
@Suite struct ViewDeletionTests {
    private static let tables = """
        CREATE TABLE person (id int PRIMARY KEY, name text);
        CREATE TABLE email (id int PRIMARY KEY, person_id int NOT NULL REFERENCES person ON DELETE CASCADE);
        CREATE TABLE note (id int PRIMARY KEY, person_id int REFERENCES person);
        CREATE TABLE title (id int PRIMARY KEY);
        CREATE TABLE person_title (
            person_id int REFERENCES person, title_id int REFERENCES title, PRIMARY KEY (person_id, title_id));
        COMMENT ON CONSTRAINT note_person_id_fkey ON note IS '@kindred {"deleteRule": "nullify"}';
        INSERT INTO person VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cid');
        INSERT INTO email VALUES (1, 1), (2, 1), (3, 2);
        INSERT INTO note VALUES (1, 1), (2, 2);
        INSERT INTO title VALUES (1);
        INSERT INTO person_title VALUES (1, 1), (2, 1);
        """
    private static let views = """
        CREATE VIEW person_v AS SELECT * FROM person;
        CREATE VIEW email_v AS SELECT * FROM email;
        CREATE VIEW note_v AS SELECT * FROM note;
        CREATE VIEW title_v AS SELECT * FROM title;
        CREATE VIEW person_title_v AS SELECT * FROM person_title;
        """

    @Test(.database(.sql(tables))) func plansAndStatementsEqualTheTables() async throws {
        try await withDatabase { database, context, other in
            func deletion(_ id: Int) async throws -> (plan: [String], statements: [String]) {
                let context = database.makeContext()
                let person = try await context.fetch("person").where("id = %@", id).one()
                let plan = try await context.deletionPlan(for: person).items.map { item in
                    "\(item.entity) \(item.rule.map(\.rawValue) ?? "-") \(item.objects.count)"
                }
                let (_, recorder) = try await recordingStatements { try await context.delete(person) }
                return (plan, recorder.statements)
            }
            let plain = try await deletion(1)
            try await other.runScript(Self.views)
            try await database.refreshSchema()
            let viewed = try await deletion(2)
            #expect(plain.plan.map { $0.dropLast() } == viewed.plan.map { $0.dropLast() })
            #expect(plain.statements == viewed.statements)
            #expect(try await other.values("SELECT person_id FROM note ORDER BY id") == [nil, nil])
        }
    }

    @Test(.database(.sql(tables + views))) func refusalsNameTheTables() async throws {
        try await withDatabase(overrides: [.foreignKey("note_person_id_fkey", of: "note", deleteRule: .noAction)]) {
            database, context, other in
            let person = try await context.fetch("person").where("id = 1").one()
            let error = await expectError(.deletionDenied) { try await context.delete(person) }
            #expect(error?.entity == "public.person" && error?.key == "noteSet")
            let view = try await context.fetch("person_v").where("id = 1").one()
            let refused = await expectError(.deletionDenied) { try await context.delete(view) }
            #expect(refused?.constraint == "note_person_id_fkey")
        }
    }

    @Test(.database(.sql(tables + views))) func whatIsDeletedThroughAViewIsGoneFromSets() async throws {
        try await withDatabase { database, context, other in
            let bob = try await context.fetch("person").where("id = 2").one()
            #expect(try await bob.set(forKey: "emailSet").count == 1)
            #expect(try await bob.set(forKey: "emailSet").objects.count == 1)
            #expect(try await bob.set(forKey: "email_vSet").objects.count == 1)
            let view = try await context.fetch("email_v").where("id = 3").one()
            try await expectStatements(["DELETE"]) { () async throws in try await context.delete(view) }
            #expect(try await bob.set(forKey: "emailSet").objects.isEmpty)
            #expect(try await bob.set(forKey: "email_vSet").objects.isEmpty)
            #expect(try await other.value("SELECT count(*) FROM email") == 2)
        }
    }
}
