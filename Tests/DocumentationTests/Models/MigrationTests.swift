import DemoModels
import Kindred
import KindredTesting
import Testing

/// The examples of the articles for users of other mappers.
@Suite struct MigrationTests {
    @Test(.shop) func comingFromFluent() async throws {
        try await withShop { _, context, sent in
            // block: fluent-query
            let people = try await context.fetch(Person.self)
                .where { $0.surname == "Smith" }
                .sorted { $0.firstname }
                .prefetch(\.emails)
                .all()
            // end
            sent.expectCount(2)
            #expect(people.count == 1)
            // block: fluent-children
            let smith = people[0]
            let email = try await context.create(Email.self) { $0.address = "smith@example.net" }
            try await smith.emails.insert(email)  // $emails.create(email, on: db)
            let titles = try await context.fetch(Title.self).limit(2).all()
            try await smith.titles.formUnion(titles)  // $titles.attach(titles, on: db)
            let owner = try await email.person.object  // $person.get(on: db)
            // end
            #expect(owner === smith)
        }
    }

    @Test(.shop) func comingFromCoreData() async throws {
        try await withShop { _, context, sent in
            // block: core-data
            let request = try context.fetch("person")
                .where("ANY emailSet.address ENDSWITH %@ AND born < %@", "@example.org", "1990-01-01")
                .sorted("surname")
            for person in try await request.all() {
                person["firstname"] = "Jo"
            }
            try await context.save()
            // end
            #expect(!context.hasStagedChanges)
        }
    }

    @Test(.shop) func comingFromSQLAlchemy() async throws {
        try await withShop { database, _, sent in
            // block: sqlalchemy
            try await database.withContext { context in
                let person = try await context.fetch(Person.self).where { $0.surname == "Smith" }.one()
                person.firstname = "Jo"
                try context.add(Email.new(address: "jo@example.org", person: person))
                try await context.save()
            }
            // end
            sent.expectCount(3)
            // block: sqlalchemy-options
            try await database.withContext(loading: .forbidden) { context in
                let books = try await context.fetch(Book.self).prefetch(\.authors).limit(20).all()
                for book in books { print(book.title, try await book.authors.count) }
            }
            // end
            sent.expectCount(2)
        }
    }
}
