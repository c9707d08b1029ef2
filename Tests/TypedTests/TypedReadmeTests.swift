import DemoModels
import Foundation
import Kindred
import KindredFoundation
import KindredTesting
import Testing

/// The README's section on typed classes, run against the demo database.
@Suite struct TypedReadmeTests {
    @Test(.database(.file("../../sql/demo.sql"))) func typedClassesRun() async throws {
        try await withModels { database, context in
            let smith = try await context.fetch(Person.self)
                .where { $0.surname == "Smith" && $0.emails.contains { $0.address.hasSuffix("@example.org") } }
                .sorted { $0.surname }
                .one()
            for try await email in smith.emails { print(email.address) }
            #expect(try await !smith.emails.isEmpty)

            let email = try await context.create(Email.self) { $0.address = "smith@example.net" }
            try await email.person.set(smith)  // UPDATE email SET person_id = … WHERE id = …
            let owner = try await email.person.object  // Person?, since the foreign key may be NULL
            #expect(owner === smith)

            smith.surname = "Smythe"  // staged in memory
            try await context.save()  // one transaction, as few statements as possible
            #expect(try await database.query("SELECT surname FROM person WHERE id = \(smith.id)")[0][0] == "Smythe")

            let ada = try await context.find(Person.self, 1)  // by key; nil if there is none
            let some = try await context.find(Person.self, [1, 2, 3])  // those that there are, by one statement
            let prices = try await context.fetch(Book.self).sorted { $0.title }.select(\.title, \.price).all()
            for (title, price) in prices.prefix(3) { print(title, price) }
            #expect(ada?.id == 1 && some.count == 3 && prices.count > 3)

            let name = "Poetry"
            let poems = try await context.fetch(Book.self)
                .where(#Predicate { $0.category.loaded?.name == name && $0.authors.loaded.count > 1 })
                .sorted(by: SortDescriptor(\.published, order: .reverse))
                .all()
            #expect(!poems.isEmpty)
        }
    }

    /// Snippets that are marked as typed are lines of the test above.
    @Test func everyTypedSnippetIsRunByTheTestAbove() throws {
        let here = URL(filePath: #filePath)
        let readme = try String(
            contentsOf: here.appending(path: "../../../README.md").standardizedFileURL, encoding: .utf8)
        let lines = try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map(Self.trimmed)
        for block in readme.components(separatedBy: "```swift typed\n").dropFirst() {
            let wanted = block.components(separatedBy: "```")[0].split(separator: "\n").map(Self.trimmed)
                .filter { !$0.isEmpty }
            let isRun = lines.indices.contains { start in lines[start...].starts(with: wanted) }
            #expect(isRun, "not run: \(wanted.first ?? "")")
        }
    }

    private static func trimmed(_ line: Substring) -> String {
        line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
