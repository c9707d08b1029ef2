import DemoModels
import Kindred
import KindredTesting
import Testing

/// Classes that a generator wrote, over the demo database.
@Suite struct TypedObjectTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func objectsAreOfTheirClassHoweverTheyAreReached() async throws {
        try await withModels { _, context in
            let smith = try await context.fetch(Person.self).where("surname = %@ AND firstname = %@", "Smith", "Ada")
                .one()
            #expect(smith.firstname == "Ada" && smith.born == PostgresDate(year: 1985, month: 12, day: 10))
            for try await email in smith.emails {
                let owner: Person? = try await email.person.object
                #expect(owner === smith && email.address.contains("@"))
            }
            #expect(try await context.fetch("person").first() is Person)
            #expect(try await smith.set(forKey: "titles").objects.allSatisfy { $0 is Title })
            #expect(try await context.get(try #require(smith.objectID)) === smith)
            let book = try #require(await context.fetch(Book.self).sorted("id").first())
            let category: Category = try await book.category.object
            #expect(try await category.books.contains(book))
            #expect(book.keywords.compactMap(\.self).isEmpty == false)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func manyKeysFindManyObjects() async throws {
        try await withModels { _, context in
            let people = try await context.find(Person.self, [3, 1, 99_999])
            #expect(people.map(\.id) == [3, 1])
            let person: Person? = try await context.find(Person.self, 1)
            #expect(person === people[1])
            let stock = try await context.find(Stock.self, [[4, 1], [4, 2]])
            #expect(stock.count == 2 && Set(stock.map { $0["store_id"] }) == [4])
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func handlesWriteThroughAndPropertiesAreStaged() async throws {
        try await withModels { database, context in
            let smith = try #require(await context.fetch(Person.self).sorted("id").first())
            let email = try await context.create(Email.new(address: "new@example.org"))
            try await smith.emails.insert(email)
            #expect(try await email.person.object === smith)
            try await email.person.set(nil)
            #expect(try await !smith.emails.contains(email))
            let (_, recorder) = await recordingStatements {
                smith.surname = "Smythe"
                smith.born = nil
                #expect(smith.surname == "Smythe" && smith.born == nil && smith.hasStagedChanges)
            }
            #expect(recorder.statements.isEmpty)
            try await context.save()
            #expect(try await database.query("SELECT surname FROM person WHERE id = \(smith.id)")[0][0] == "Smythe")
            let purchase = try #require(try await context.fetch(Purchase.self).where("status = 'sent'").first())
            purchase.status = .returned
            try await context.save()
            #expect(purchase.status == .returned && purchase["status"] == "returned")
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func aLabelThatIsNewIsRead() async throws {
        try await withModels { database, context in
            try await database.query("ALTER TYPE purchase_status ADD VALUE 'lost'")
            try await database.query("UPDATE purchase SET status = 'lost' WHERE store_id = 1 AND number = 1")
            let lost = try await context.fetch(Purchase.self).where("store_id = 1 AND number = 1").one()
            #expect(lost.status == .unknown("lost"))
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func aClassThatIsNotRegisteredIsAnError() async throws {
        try await withDatabase { database, context in
            let error = await expectError(.classMismatch) { _ = try context.fetch(Person.self) }
            #expect(error?.message.contains("Person") == true)
            // A class cannot be used without the classes that it leads to.
            await expectError(.classMismatch) { try database.register([Person.self]) }
            try database.register(KindredModels.all)
            // A context keeps the classes it was made with.
            await expectError(.classMismatch) { _ = try context.fetch(Person.self) }
            #expect(try await database.makeContext().fetch(Person.self).first() != nil)
        }
    }

    @Test(
        "S13: everything in which classes and database differ is one error", .database(.file("../../../sql/demo.sql")))
    func everythingThatDoesNotFitIsOneError() async throws {
        try await withDatabase { database, _ in
            try database.validate(
                Title.self, Person.self, Email.self, PersonTitleRel.self, Friendship.self, Store.self,
                Profile.self, Purchase.self, Stock.self, PurchaseLine.self, Book.self, Author.self, BookAuthor.self,
                Category.self, NewBook.self)
            try await database.query("ALTER TABLE person ADD nickname text")
            try await database.refreshSchema()
            try database.register(KindredModels.all)
            try await database.query("DROP VIEW bestseller, new_book")
            try await database.query("ALTER TABLE person DROP COLUMN born, ALTER firstname DROP NOT NULL")
            try await database.query("ALTER TABLE book ALTER published TYPE text")
            try await database.query("ALTER TABLE email DROP CONSTRAINT email_person_id_fkey")
            let error = await expectError(.classMismatch) { try await database.refreshSchema() }
            let message = error?.message ?? ""
            for part in [
                "public.bestseller is missing", "public.person.born is missing", "public.person.firstname may be NULL",
                "public.book.published is of the type text", "email_person_id_fkey is missing",
            ] {
                #expect(message.contains(part), "\(message)")
            }
        }
    }
}
