import Foundation
import Kindred
import KindredTesting
import Testing

/// The examples of the article on filters and soft deletion.
@Suite struct SoftDeletionTests {
    @Test(.shop) func filters() async throws {
        let overrides: [SchemaOverride] = [
            // block: soft-override
            .table("email", softDelete: "deleted_at"),
            .table("book", filter: "price > 0"),
            // end
        ]
        let plain = try await TestDatabase.current.connect()
        _ = try await plain.query("ALTER TABLE email ADD COLUMN deleted_at timestamptz")
        try await withShop(classes: [], overrides: overrides) { database, _, _ in
            let (email, book) = (
                try database.schema.entity(named: "email"), try database.schema.entity(named: "book")
            )
            #expect(email.softDelete == "deleted_at" && book.filter == "price > 0")
        }
    }

    @Test(.shop) func softDeletion() async throws {
        let plain = try await TestDatabase.current.connect()
        let script = """
            ALTER TABLE email ADD COLUMN deleted_at timestamptz;

            COMMENT ON TABLE email IS '@kindred {"softDelete": "deleted_at"}';

            ALTER TABLE email DROP CONSTRAINT email_address_key;

            CREATE UNIQUE INDEX ON email (address) WHERE deleted_at IS NULL;

            UPDATE email SET deleted_at = now() WHERE id = 1
            """
        for statement in script.components(separatedBy: ";\n") {
            _ = try await plain.query(
                SQL(unsafeRaw: statement.hasSuffix(";") ? String(statement.dropLast()) : statement))
        }
        try await withShop(classes: []) { database, context, sent in
            let email = try #require(try await context.fetch("email").where("person != nil").sorted("id").first())
            let person = try #require(try await email.object(forKey: "person"))
            sent.take()
            _ = try await person.set(forKey: "emailSet").objects
            sent.expect(
                """
                SELECT t."id", t."address", t."person_id", t."deleted_at" FROM "public"."email" AS t
                WHERE t."person_id" = ANY($1) AND t."deleted_at" IS NULL
                """)
            // block: unfiltered
            let emails = try await context.fetch("email").all()
            let all = try await context.fetch("email").unfiltered().all()
            let old = try await context.fetch("email").unfiltered().where("deleted_at != nil").all()
            let allOfPerson = try await person.set(forKey: "emailSet").unfiltered().all()
            // end
            sent.take()
            // block: unfiltered-part
            let people = try await context.fetch("person")
                .prefetch("emailSet") { $0.unfiltered().where("deleted_at != nil") }
                .all()
            // end
            let owner = try #require(try await old.first?.object(forKey: "person"))
            sent.expectCount(2)
            let hidden = try await owner.set(forKey: "emailSet").unfiltered().where("deleted_at != nil").all()
            sent.expect()
            #expect(people.contains { $0 === owner } && hidden.count == 1 && hidden[0] === old[0])
            #expect(all.count == emails.count + 1 && old.map { $0["id"] } == [1] && !allOfPerson.isEmpty)
            // block: restore
            try await context.delete(email)
            try await context.restore(email)
            try await context.delete(email, permanently: true)
            // end
            #expect(email.isDeleted)
            // block: mark-request
            let count = try await context.fetch("email").where("person == nil").delete()
            // end
            #expect(count > 0)
            // block: partial-upsert
            let address = try await context.upsert(
                "email", ["address": "jo@example.org"], on: "address")
            // end
            try await context.delete(address)
            let next = try await context.upsert("email", ["address": "jo@example.org"], on: "address")
            #expect(next !== address)
        }
    }
}
