import Foundation
import Kindred
import KindredTesting
import Testing

/// The README's own code, run against the demo database.
@Suite struct ReadmeTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func theTourRuns() async throws {
        try await withDatabase { _, context, other in
            // Exactly one, or an error.
            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            print(person["firstname"] ?? "-")

            // A set of the objects at the other end, read when it is needed.
            let emails = try await person.set(forKey: "emailSet")
            for try await email in emails { print(email["address"] ?? "-") }
            #expect(try await !emails.isEmpty)

            let email = try await context.create("email", ["address": "new@example.org"])
            try await emails.insert(email)  // UPDATE email SET person_id = … WHERE id = …
            try await email.setValue(nil, forKey: "person")  // UPDATE email SET person_id = NULL WHERE id = …
            try await email.setValue(person, forKey: "person")
            try await person.setValue("Jo", forKey: "firstname")  // UPDATE person SET firstname = … WHERE id = …
            #expect(try await other.value("SELECT count(*) FROM email WHERE address = 'new@example.org'") == 1)
            #expect(try await other.value("SELECT firstname FROM person WHERE surname = 'Smith'") == "Jo")

            let titles = try await context.fetch("title").sorted("name").limit(2).all()
            try await person.setValue(titles, forKey: "titles")  // the difference only, in one atomic change
            let people = try await titles[0].set(forKey: "people")
            print(try await people.contains(person))
            #expect(try await people.contains(person))

            let (count, recorder) = try await recordingStatements {
                let books = try await context.fetch("book")
                    .where("category.name = %@ AND ANY authors.name BEGINSWITH %@", "Poetry", "A")
                    .sorted("title")
                    .limit(20)
                    .all()
                for book in books {
                    // One query for all twenty, not one each.
                    for try await author in try await book.set(forKey: "authors") { print(author["name"] ?? "-") }
                }
                return books.count
            }
            #expect(count > 1)
            #expect(recorder.statements.count == 2)

            try await context.transaction {
                try await person.setValue("Smythe", forKey: "surname")
                try await context.delete(email)
            }
            #expect(email.isDeleted)

            let (ada, saving) = try await recordingStatements {
                let editor = try context.insert("title", ["name": "Editor at large"])
                let ada = try context.insert("person", ["firstname": "Ada", "surname": "Byron", "titles": [editor]])
                try context.insert("email", ["address": "ada@example.org", "person": ada])
                ada["surname"] = "Lovelace"
                try await context.save()  // 4 INSERTs: title, person, email, and the pair
                return ada
            }
            #expect(saving.statements.count == 4)

            person["firstname"] = "Joanna"
            print(person.changedValues, context.hasChanges)
            context.rollback()
            #expect(person["firstname"] == "Jo")

            let plan = try await context.deletionPlan(for: ada)
            for item in plan.items { print(item.entity, item.objects.count) }
            try await context.delete(ada)
            try await context.fetch("person").where("joined_at > %@", Date.now).delete()
            #expect(ada.isDeleted)

            let rows = try await context.query("SELECT count(*) FROM book WHERE price < \(20)")
            print(try rows[0][0] ?? 0)
            #expect(try rows[0][0] != nil)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func ordersAreKept() async throws {
        try await withDatabase { _, context, other in
            let novel = try await context.fetch("book").where("id = %@", 21).one()
            let authors = try await novel.set(forKey: "authors")  // in the order of book_author.position
            try await authors.append(context.create("author", ["name": "Zoe Young"]))
            try await authors.move(from: 3, to: 0)
            let last = try await authors.remove(at: 3)
            try await authors.insert(last, at: 1)

            let names = try await authors.objects.map { $0["name"] }
            #expect(names.count == 4 && names[0] == "Zoe Young" && names[1] == last["name"])
            let stored = try await other.values(
                "SELECT name FROM author JOIN book_author ON author_id = id WHERE book_id = 21 ORDER BY position")
            #expect(stored == names)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func writersAtTheSameTimeAndManyRows() async throws {
        try await withDatabase { database, _, other in
            _ = try await other.query(#"COMMENT ON TABLE stock IS '@kindred {"optimisticLocking": "xmin"}'"#)
            try await database.refreshSchema()
            let context = database.makeContext()
            let stock = try await context.fetch("stock").sorted("copies").limit(1).one()
            let before = try stock.value(forKey: "copies", as: Int64.self) ?? 0
            _ = try await other.query("UPDATE stock SET copies = copies + 10")
            try await context.save(retry: .attempts(5)) {
                let copies = try stock.value(forKey: "copies", as: Int64.self) ?? 0
                stock["copies"] = .integer(copies + 1)
            }
            #expect(stock["copies"] == .integer(before + 11))

            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            do {
                try await context.transaction(tracksCommit: true) {
                    try await person.setValue("Jo", forKey: "firstname")
                }
            } catch let error as PostgresError where error.code == .commitUnknown {
                guard let id = error.transactionID, try await database.client.resolveCommit(id) == .committed else {
                    throw error
                }
            }
            #expect(person["firstname"] == "Jo")

            let observation = database.client.addObserver { event in
                print(event.sql, event.duration, event.rows ?? 0, event.place?.description ?? "")
            }
            defer { withExtendedLifetime(observation) {} }

            // One UPDATE … WHERE; objects in memory follow.
            let cheaper = try await context.fetch("book").where("category.name = %@", "Poetry")
                .update(["price": Formula("price - %@", 1)])

            // One INSERT … ON CONFLICT, for any number of rows.
            let poet = try await context.create("title", ["name": "Poet"], onConflict: .keep("name"))
            #expect(cheaper > 0 && poet["name"] == "Poet")
        }
    }

    @Test func everySnippetIsRunByTheTestsAbove() throws {
        let here = URL(filePath: #filePath)
        let readme = try String(
            contentsOf: here.appending(path: "../../../../README.md").standardizedFileURL, encoding: .utf8)
        let lines = try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map(Self.trimmed)
        var snippets = 0
        for block in readme.components(separatedBy: "```swift\n").dropFirst() {
            let code = block.components(separatedBy: "```")[0].split(separator: "\n").map(Self.trimmed)
            snippets += 1
            // How to connect is what every test does first, with an address of its own.
            if code.contains(where: { $0.contains("Database.connect(") }) { continue }
            let wanted = code.filter { !$0.isEmpty }
            let isRun = lines.indices.contains { start in lines[start...].starts(with: wanted) }
            #expect(isRun, "not run: \(wanted.first ?? "")")
        }
        #expect(snippets >= 6)
    }

    private static func trimmed(_ line: Substring) -> String {
        line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
