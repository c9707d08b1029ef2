import DemoModels
import Kindred
import KindredTesting
import TestSupport
import Testing

/// Making and finding objects of typed classes.
@Suite struct TypedCreationTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func valuesAreGivenByProperty() async throws {
        try await withModels { database, context in
            let (smith, recorder) = try await recordingStatements {
                try await context.create(Person.self) {
                    $0.firstname = "Eve"
                    $0.surname = "Smith"
                    $0.born = nil
                    #expect($0.surname == "Smith" && $0.born == nil)
                }
            }
            #expect(recorder.statements.count == 1 && smith.surname == "Smith" && smith.born == nil)
            // An object for a relationship, and an array.
            let email = try await context.create(Email.self) {
                $0.address = "eve@example.org"
                $0.person = smith
            }
            #expect(try await email.person.object === smith)
            let staged = try context.add(Email.self) {
                $0.address = "other@example.org"
                $0.person = smith
            }
            #expect(staged.isInserted && staged.address == "other@example.org")
            try await context.save()
            #expect(try await database.query("SELECT count(*) FROM email WHERE person_id = \(smith.id)")[0][0] == 2)
            await expectError(.unknownKey) { try await context.create(Person.self) { $0.isDeleted = true } }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func objectsAreFoundByKey() async throws {
        try await withModels { _, context in
            let stock = try #require(await context.fetch(Stock.self).sorted { $0.bookID }.first())
            let (found, recorder) = try await recordingStatements {
                #expect(try await context.find(Stock.self, stock.storeID, stock.bookID) === stock)
                let person = try #require(await context.find(Person.self, 5))
                #expect(try await context.find("person", 5) === person)
                return person
            }
            // An object in memory is not asked for.
            #expect(found.id == 5 && recorder.statements.count == 1)
            #expect(try await context.find(Person.self, -1) == nil)
            await expectError(.invalidRequest) { _ = try await context.find(Stock.self, 1) }
            await expectError(.wrongType) { _ = try await context.find(Person.self, "five") }
            await expectError(.wrongType) { _ = try await context.find(Person.self, Int?.none) }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func columnsAreReadAsTuples() async throws {
        try await withModels { _, context in
            let people = try await context.fetch(Person.self).sorted { $0.id }.all()
            let rows: [(Int, String, PostgresDate?)] = try await context.fetch(Person.self)
                .sorted { $0.id }.select(\.id, \.surname, \.born).all()
            #expect(rows.map(\.0) == people.map(\.id) && rows.map(\.1) == people.map(\.surname))
            #expect(rows.map(\.2) == people.map(\.born) && rows.contains { $0.2 == nil })
            let books = try await context.fetch(Book.self).sorted { $0.id }.all()
            let (selected, recorder) = try await recordingStatements {
                try await context.fetch(Book.self).sorted { $0.id }.select(\.price, \.keywords).all()
            }
            #expect(selected.map(\.1) == books.map(\.keywords) && selected.map(\.0) == books.map(\.price))
            #expect(recorder.statements.count == 1)
            let states = try await context.fetch(Purchase.self).select(\.status).distinct().all()
            #expect(Set(states).count == states.count && states.contains(.sent))
            await expectError(.unknownKey) { _ = try context.fetch(Person.self).select(\.isDeleted) }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func validationListsAllThatIsMissingOrRetyped() async throws {
        try await withDatabase { (database, _) async throws in
            try await database.query("ALTER TABLE profile RENAME settings TO preferences")
            try await database.query("ALTER TABLE profile ADD settings text, DROP COLUMN biography")
            try await database.refreshSchema()
            let error = await expectError(.classMismatch) { try database.validate(Profile.self, Title.self) }
            let message = error?.message ?? ""
            for part in [
                "public.profile.settings is of the type text, where the class has json",
                "public.profile.biography is missing", "leads to public.person, for which Person is not registered",
            ] {
                #expect(message.contains(part), "\(message)")
            }
        }
    }
}

/// The hooks that a class gets for its objects, by overriding methods.
@Suite struct TypedHookTests {
    private struct NoName: Error {}

    private final class Writer: DatabaseObject, TypedObject, @unchecked Sendable {
        static let log = CallLog()
        static let mapping = EntityMapping(
            schema: "public", name: "author",
            [.attribute(\Writer.id, "id", "integer"), .attribute(\Writer.name, "name", "text")])

        var id: Int { readProperty(0) }
        var name: String {
            get { readProperty(1) }
            set { writeProperty(1, newValue) }
        }

        override func awakeFromFetch() { Self.log.add("fetched \(id)") }

        override func awakeFromInsert() { name = "Anonymous" }

        override func willSave() {
            Self.log.add("saves \(name)")
            name = name.uppercased()
        }

        override func validate() throws {
            if name.isEmpty { throw NoName() }
        }

        override func prepareForDeletion() async throws { Self.log.add("deletes \(name)") }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func overriddenMethodsAreCalled() async throws {
        try await withDatabase(classes: [Writer.self]) { database, context in
            let first = try #require(await context.find(Writer.self, 1))
            #expect(Writer.log.take() == ["fetched 1"])
            let new = try context.add(Writer.self)
            #expect(new.name == "Anonymous")
            first.name = "Ada"
            try await context.save()
            #expect(Set(Writer.log.take()) == ["saves Ada", "saves Anonymous"])
            #expect(first.name == "ADA" && new.name == "ANONYMOUS" && new.id > 1)
            let stored = try await database.query("SELECT name FROM author WHERE id IN (1, \(new.id)) ORDER BY id")
            #expect(try stored.map { try $0[0] } == ["ADA", "ANONYMOUS"])
            let unnamed = try context.add(Writer.self) { $0.name = "" }
            let error = await expectError(.refused) { try await context.save() }
            #expect(error?.problems.first?.error is NoName && error?.problems.first?.object === unnamed)
            unnamed.rollback()
            _ = Writer.log.take()
            try await context.delete(new)
            #expect(Writer.log.take() == ["deletes ANONYMOUS"] && new.isDeleted)
        }
    }
}
