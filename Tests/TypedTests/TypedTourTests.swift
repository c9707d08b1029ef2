import DemoModels
import Kindred
import KindredTesting
import Testing

/// The tour of the README in its typed form, with its statements.
@Suite struct TypedTourTests {
    @Test(.database(.file("../../sql/demo.sql"))) func theTourRuns() async throws {
        let database = try await Database.connect(TestDatabase.current.uri, classes: KindredModels.all)
        let context = database.makeContext()
        let email = try await context.create(Email.new(address: "ada@example.net"))
        let (smith, recorder) = try await recordingStatements {
            let smith = try await context.fetch(Person.self)
                .where { $0.surname == "Smith" && $0.firstname == "Ada" }
                .sorted { $0.surname }
                .first()
            return try #require(smith)
        }
        #expect(recorder.statements.count == 1)
        try await smith.emails.insert(email)
        let found = try await context.fetch(Person.self)
            .where { $0.surname == "Smith" && $0.emails.contains { $0.address.hasSuffix("@example.net") } }
            .sorted { $0.surname }
            .first()
        #expect(found === smith)
        for try await email in smith.emails { #expect(email.address.contains("@")) }
        let owner: Person? = try await email.person.object
        #expect(owner === smith)
        try await email.person.set(smith)
        smith.surname = "Smythe"
        try await context.save()
        #expect(try await database.query("SELECT surname FROM person WHERE id = \(smith.id)")[0][0] == "Smythe")
        try await context.transaction { try await context.delete(smith) }
        #expect(smith.isDeleted)
        await database.close()
    }

    @Test(.database(.file("../../sql/demo.sql"))) func aPathIsLoadedWithOneQueryPerLevel() async throws {
        try await withModels { _, context in
            let (authors, recorder) = try await recordingStatements {
                let authors = try await context.fetch(Author.self).prefetch(\.books.category).sorted { $0.id }.all()
                for author in authors {
                    for try await book in author.books { _ = try await book.category.object.name }
                }
                return authors
            }
            #expect(recorder.statements.count == 3 && authors.count > 100, "\(recorder.statements)")
            await expectError(.unknownKey) { _ = try context.fetch("author").prefetch("name") }
            await expectError(.unknownKey) { _ = try context.fetch("author").prefetch("books.nothing") }
        }
    }
}
