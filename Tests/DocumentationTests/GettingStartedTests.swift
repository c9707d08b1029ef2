import DemoModels
import Foundation
import Kindred
import KindredService
import KindredTesting
import Logging
import ServiceLifecycle
import Testing
import UnixSignals

/// The examples of the README and of the first article.
@Suite struct GettingStartedTests {
    /// Compiled only: every test has an address of its own.
    private func connecting() async throws {
        // block: connect
        let database = try await Database.connect("postgres://localhost/shop")
        let context = database.makeContext()
        // end
        _ = context
    }

    /// Compiled only.
    private func serving(server: some Service, logger: Logger) async throws {
        // block: service
        let database = try await Database.connect()
        let group = ServiceGroup(
            services: [DatabaseService(database), server], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
        // end
    }

    @Test(.shop) func theTourOfTheReadmeRuns() async throws {
        try await withShop { database, context, sent in
            // block: readme-tour
            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            print(person["firstname"] ?? "-")

            let emails = try await person.set(forKey: "emailSet")
            for try await email in emails { print(email["address"] ?? "-") }

            let email = try await context.create("email", ["address": "new@example.org"])
            try await emails.insert(email)  // UPDATE email SET person_id = … WHERE id = …
            try await email.setValue(nil, forKey: "person")  // UPDATE email SET person_id = NULL WHERE id = …
            try await person.setValue("Jo", forKey: "firstname")  // UPDATE person SET firstname = … WHERE id = …
            // end
            sent.expectCount(6)
            #expect(person["firstname"] == "Jo" && email["person_id"] == nil)
            #expect(try await database.query("SELECT firstname FROM person WHERE id = 1")[0][0] == "Jo")

            // block: readme-typed
            let smith = try await context.fetch(Person.self)
                .where { $0.surname == "Smith" && $0.emails.contains { $0.address.hasSuffix("@example.org") } }
                .one()
            smith.surname = "Smythe"  // staged in memory
            try await context.save()  // one transaction, as few statements as possible
            // end
            #expect(smith === person)
            #expect(try await database.query("SELECT surname FROM person WHERE id = 1")[0][0] == "Smythe")
        }
    }

    @Test(.shop) func theFirstSteps() async throws {
        try await withShop { database, context, sent in
            // block: read
            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            print(person["firstname"] ?? "-")
            // end
            sent.expect(
                """
                SELECT t0."id", t0."firstname", t0."surname", t0."born", t0."joined_at"
                    FROM "public"."person" AS t0 WHERE t0."surname" = $1 LIMIT $2
                """)

            // block: follow
            let emails = try await person.set(forKey: "emailSet")
            for try await email in emails { print(email["address"] ?? "-") }
            // end
            sent.expect(
                """
                SELECT t."id", t."address", t."person_id" FROM "public"."email" AS t
                    WHERE t."person_id" = ANY($1)
                """)

            // block: write
            let email = try await context.create("email", ["address": "new@example.org"])
            try await emails.insert(email)
            try await email.setValue(nil, forKey: "person")
            try await person.setValue("Jo", forKey: "firstname")
            // end
            sent.expectCount(4)
            #expect(try await !emails.contains(email))
            sent.take()

            // block: names
            for relationship in try database.schema.entity(named: "person").relationships {
                print(relationship.name, relationship.kind, relationship.destination)
            }
            // end

            await expectError(
                .unknownKey,
                """
                public.person has no attribute or relationship "fristname"; did you mean "firstname"?
                """
            ) {
                // block: wrong-key
                try await person.setValue("Jo", forKey: "fristname")
                // end
            }
            await expectError(
                .wrongType,
                """
                public.person.firstname is of type text: a boolean was given where the type text is expected
                """
            ) {
                // block: wrong-type
                try await person.setValue(true, forKey: "firstname")
                // end
            }
            await expectError(
                .unknownEntity,
                """
                There is no entity "persn"; did you mean "person"?
                """
            ) {
                // block: wrong-entity
                _ = try await context.fetch("persn").all()
                // end
            }
            sent.expectCount(0)
        }
    }

    @Test(.shop) func aContextForEachRequest() async throws {
        try await withShop { database, _, sent in
            // block: request
            @Sendable func greeting(for id: Int) async throws -> String {
                try await database.withContext { context in
                    guard let person = try await context.find("person", id) else { return "Not found" }
                    return "Hello \(try person.value(forKey: "firstname", as: String.self) ?? "")"
                }
            }
            // end
            let (known, unknown) = (try await greeting(for: 1), try await greeting(for: 9_999))
            #expect(known == "Hello Ada" && unknown == "Not found")
            sent.expectCount(2)
        }
    }
}
