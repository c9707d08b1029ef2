import DemoModels
import Kindred
import KindredTesting
import Testing

/// Conditions over properties give what the same condition gives over the objects in memory.
@Suite struct TypedConditionTests {
    @Test(.database(.file("../../sql/demo.sql"))) func columnsAreCompared() async throws {
        try await withModels { _, context in
            let people = try await context.fetch(Person.self).all()
            func expect(
                _ condition: (Columns<Person>) throws -> Condition,
                sourceLocation: SourceLocation = #_sourceLocation,
                _ holds: (Person) -> Bool
            ) async throws {
                let found = Set(try await context.fetch(Person.self).where(condition).all())
                #expect(found == Set(people.filter(holds)), sourceLocation: sourceLocation)
                let others = Set(try await context.fetch(Person.self).where { !(try condition($0)) }.all())
                #expect(found.isDisjoint(with: others) && found.count + others.count == people.count)
            }
            let date = try #require(people.lazy.compactMap(\.born).first)
            try await expect {
                $0.surname == "Smith"
            } _: {
                $0.surname == "Smith"
            }
            try await expect {
                $0.surname != "Smith" && $0.id < 100
            } _: {
                $0.surname != "Smith" && $0.id < 100
            }
            try await expect {
                $0.born == nil || $0.id >= 490
            } _: {
                $0.born == nil || $0.id >= 490
            }
            try await expect {
                $0.born != date
            } _: {
                $0.born != date
            }
            try await expect {
                $0.born < date
            } _: {
                $0.born.map { $0 < date } ?? false
            }
            try await expect {
                $0.id.isIn([1, 5, 9_999])
            } _: {
                [1, 5].contains($0.id)
            }
            try await expect {
                $0.id.isBetween(3, 7)
            } _: {
                (3...7).contains($0.id)
            }
            try await expect {
                $0.id * 2 > $0.id + 10
            } _: {
                $0.id > 10
            }
            try await expect {
                $0.surname.hasPrefix("s", ignoringCase: true)
            } _: {
                $0.surname.hasPrefix("S")
            }
            try await expect {
                $0.surname.like("*i?h")
            } _: {
                $0.surname.wholeMatch(of: /.*i.h/) != nil
            }
            try await expect {
                $0.surname.matches("[A-M].*")
            } _: {
                $0.surname.first.map { $0 <= "M" } ?? false
            }
            try await expect {
                $0.surname.contains("%")
            } _: { _ in
                false
            }
            try await expect {
                $0.firstname == $0.surname
            } _: {
                $0.firstname == $0.surname
            }
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func conditionsReachOverRelationships() async throws {
        try await withModels { _, context in
            let person = try #require(await context.fetch(Person.self).where { !$0.emails.isEmpty }.first())
            let address = try #require(await person.emails.objects.first?.address)
            // Both parts hold for one and the same address.
            let found = try await context.fetch(Person.self)
                .where { $0.emails.contains { $0.address == address && $0.person == person } }
                .one()
            #expect(found === person)
            #expect(
                try await context.fetch(Email.self).where { $0.person == person }.all().contains {
                    $0.address == address
                })
            #expect(try await context.fetch(Email.self).where { $0.person.surname == person.surname }.exists())
            let alone = try await context.fetch(Email.self).where { $0.person == nil }.count()
            let owned = try await context.fetch(Email.self).where { $0.person != nil }.count()
            #expect(try await context.fetch(Email.self).count() == alone + owned)
            let counts = try await context.fetch(Author.self).where { $0.books.count > 2 }.all()
            for author in try await context.fetch(Author.self).all() {
                #expect(try await counts.contains(author) == (author.books.count > 2))
            }
            let cheap = try await context.fetch(Author.self).where { $0.books.count { $0.price < 10 } == 1 }.all()
            let all = try await context.fetch(Author.self).where {
                $0.books.allSatisfy { $0.category.name != "Poetry" }
            }.all()
            let none = try await context.fetch(Author.self).where { $0.books.none { $0.category.name == "Poetry" } }
                .all()
            #expect(Set(all) == Set(none))
            for author in cheap {
                #expect(try await author.books.objects.filter { $0.price < 10 }.count == 1)
            }
            let inner = try await context.fetch(Category.self)
                .where {
                    $0.books.contains { $0.authors.contains { $0.name.hasPrefix("A") } && $0.category.parent == nil }
                }
                .sorted { $0.name }
                .all()
            #expect(Set(inner).count == inner.count)
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func arraysDocumentsTextsAndMoments() async throws {
        try await withModels { database, context in
            let books = try await context.fetch(Book.self).all()
            let signed = try await context.fetch(Book.self).where { $0.keywords.contains("signed") }.all()
            #expect(Set(signed) == Set(books.filter { $0.keywords.contains("signed") }) && !signed.isEmpty)
            let rivers = try await context.fetch(Book.self).where { $0.title.search("river -midnight") }.all()
            #expect(
                !rivers.isEmpty && rivers.allSatisfy { $0.title.contains("River") && !$0.title.contains("Midnight") })
            #expect(
                try await context.fetch(Book.self).where("title SEARCH %@", "river -midnight").count() == rivers.count)
            try await database.query(
                #"UPDATE profile SET settings = '{"theme": {"name": "dark"}}' WHERE person_id = 1"#)
            let dark = try await context.fetch(Profile.self).where { $0.settings["theme", "name"] == "dark" }.all()
            let profiles = try await context.fetch(Profile.self).where { $0.personID == 1 }.count()
            #expect(dark.count == profiles)
            let purchase = try #require(await context.fetch(Purchase.self).sorted { $0.placedAt }.first())
            let day = PostgresInterval(days: 1)
            let next = try context.fetch(Purchase.self)
                .where { $0.placedAt - day > purchase.placedAt && $0.status == .sent }
            let statement = try await recordingStatements { _ = try await next.count() }.1.statements[0]
            #expect(statement.contains(" - $") && statement.contains("interval") == false)
            #expect(try await next.exists())
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func whatIsNoColumnIsAnError() async throws {
        try await withModels { (_, context) async throws in
            let error = await expectError(.unknownKey) {
                _ = try context.fetch(Person.self).where { $0.isDeleted == true }
            }
            #expect(error?.entity == "public.person")
            await expectError(.unknownKey) { _ = try context.fetch(Person.self).sorted { $0.hasStagedChanges } }
            let hostile = "'; DROP TABLE person; --"
            #expect(try await context.fetch(Person.self).where { $0.surname == hostile }.count() == 0)
            #expect(try await context.fetch(Profile.self).where { $0.settings[hostile] == hostile }.count() == 0)
            #expect(try await context.fetch(Person.self).count() > 0)
        }
    }
}
