import Kindred
import KindredTesting
import Synchronization
import Testing

/// Objects that were fetched together count their members together.
@Suite struct BatchCountTests {
    private struct Failure: Error {}

    /// The counts of the owners' sets.
    private func counts(_ owners: [DatabaseObject], _ key: String) async throws -> [Int] {
        var counts: [Int] = []
        for owner in owners {
            let set = try await owner.set(forKey: key)
            let count = try await set.count
            #expect(try await set.isEmpty == (count == 0))
            counts.append(count)
        }
        return counts
    }

    @Test(
        "A loop that counts is one statement, and one more where it asks for emptiness",
        .database(.sql(BatchFaultingTests.library)), arguments: ["bookSet", "tagSet"])
    func aLoopIsOneStatement(key: String) async throws {
        try await withDatabase { database, context, other in
            try await other.query("UPDATE book SET author_id = 1 WHERE author_id = 2")
            try await other.query("DELETE FROM book_tag WHERE book_id = 2")
            let entity = key == "bookSet" ? "author" : "book"
            let owners = try await context.fetch(entity).sorted("id").limit(1000).all()
            for _ in 1...2 {
                let (found, recorder) = try await recordingStatements { try await counts(owners, key) }
                #expect(
                    found == (key == "bookSet" ? [10, 0] : [3, 0])
                        + Array(repeating: key == "bookSet" ? 5 : 3, count: 998))
                #expect(recorder.statements.count <= 2, "\(recorder.statements)")
            }
            // Loaded members are not counted by a statement.
            _ = try await owners[0].set(forKey: key).objects
            try await expectStatements([]) { () async throws in _ = try await counts(owners, key) }
        }
    }

    @Test(.database(.sql(shopSchema + "INSERT INTO friendship VALUES (3, 1), (3, 2);")))
    func keysOfSeveralColumnsAndBothEndsOfAHelperAreCountedToo() async throws {
        try await withDatabase { database, context, other in
            let cases: [(entity: String, key: String, counts: [Int])] = [
                ("customer", "purchaseSet", [2, 1, 1]), ("purchase", "lineSet", [2, 0, 0, 0, 0]),
                ("member", "friends", [1, 0, 2]), ("member", "befriended_by", [1, 2, 0]),
            ]
            for (entity, key, expected) in cases {
                let sort = entity == "member" ? ["id"] : ["tenant", "id"]
                var request = try context.fetch(entity)
                for key in sort { request = try request.sorted(key) }
                let owners = try await request.all()
                let (found, recorder) = try await recordingStatements { try await counts(owners, key) }
                #expect(found == expected, "\(entity).\(key)")
                #expect(recorder.statements.count == 2, "\(recorder.statements)")
            }
        }
    }

    @Test(.database(.sql(LooseKeyTests.schema)), arguments: ["padded", "counted", "dated"])
    func theServerComparesKeysOfOtherForms(name: String) async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch(name).sorted("name").all()
            let (found, recorder) = try await recordingStatements { try await counts(owners, "rows") }
            #expect(found == [2, 1])
            #expect(recorder.statements.count == 2)
        }
    }

    @Test(.database(.sql(referenceSchema))) func countsFollowWhatIsWritten() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            func expect(_ emails: [Int], _ titles: [Int], line: Int = #line) async throws {
                #expect(try await counts(people, "emailSet") == emails, "line \(line)")
                #expect(try await counts(people, "titles") == titles, "line \(line)")
            }
            try await expect([2, 1, 0], [1, 2, 0])
            let email = try await context.create("email", ["address": "new", "person": people[2]])
            try await expect([2, 1, 1], [1, 2, 0])
            try await email.setValue(people[0], forKey: "person")
            let title = try #require(try await context.find("title", 3))
            try await people[2].set(forKey: "titles").insert(title)
            try await expect([3, 1, 0], [1, 2, 1])
            try? await context.transaction {
                try await context.delete(email)
                try await context.fetch("email").where("person_id = 2").delete()
                try await people[0].set(forKey: "titles").removeAll()
                try await expect([2, 0, 0], [0, 2, 1])
                throw Failure()
            }
            try await expect([3, 1, 0], [1, 2, 1])
            try await context.fetch("email").where("id = 1").update(["person": people[2]])
            try await context.delete(title)
            try await expect([2, 1, 1], [1, 2, 0])
            _ = try context.add("email", ["address": "staged", "person": people[1]])
            try await expect([2, 2, 1], [1, 2, 0])
            try await context.save()
            try await expect([2, 2, 1], [1, 2, 0])
        }
    }

    @Test(.database(.sql(referenceSchema))) func refreshingAnOwnerOrReadingItAloneCountsAnew() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            #expect(try await counts(people, "emailSet") == [2, 1, 0])
            try await other.query("UPDATE email SET person_id = 3")
            #expect(try await counts(people, "emailSet") == [2, 1, 0])
            try await people[2].refresh()
            #expect(try await counts(people, "emailSet") == [2, 1, 4])
            let cid = try #require(try await database.makeContext().find("person", 3))
            #expect(try await cid.set(forKey: "emailSet").count == 4)
            try await other.query("DELETE FROM email WHERE id = 1")
            #expect(try await cid.set(forKey: "emailSet").count == 3)
        }
    }

    @Test(.database(.sql(BatchFaultingTests.library))) func tasksAndLargeGroupsShareStatements() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").sorted("id").all()
            let (sum, recorder) = try await recordingStatements {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for book in books[..<100] { group.addTask { try await book.set(forKey: "reviewSet").count } }
                    return try await group.reduce(0, +)
                }
            }
            #expect(sum == 100)
            #expect(recorder.statements.count <= 3, "\(recorder.statements.count)")
            let (rest, second) = try await recordingStatements {
                var sum = 0
                for book in books { sum += try await book.set(forKey: "reviewSet").count }
                return sum
            }
            #expect(rest == 5000)
            #expect(second.statements.count <= 7)
        }
    }

    @Test(.database(.sql(referenceSchema))) func modesThatDoNotBatchAskForEachOwnerOrRefuse() async throws {
        try await withDatabase { database, _, other in
            let alone = try await database.makeContext(loading: .single).fetch("person").sorted("id").all()
            let (found, recorder) = try await recordingStatements {
                var found: [Int] = []
                for person in alone { found.append(try await person.set(forKey: "emailSet").count) }
                return found
            }
            #expect(found == [2, 1, 0] && recorder.statements.count == 3)
            let context = database.makeContext(loading: .forbidden)
            let ann = try #require(try await context.find("person", 1))
            let email = try #require(try await context.find("email", 1))
            let emails = try await ann.set(forKey: "emailSet")
            try await expectStatements([]) { () async throws in
                await expectError(.loadingForbidden) { _ = try await emails.count }
                await expectError(.loadingForbidden) { _ = try await emails.isEmpty }
                await expectError(.loadingForbidden) { _ = try await emails.contains(email) }
            }
            let prefetched = try await context.fetch("person").sorted("id").prefetch("emailSet").all()
            try await expectStatements([]) { () async throws in
                #expect(try await counts(prefetched, "emailSet") == [2, 1, 0])
                #expect(try await emails.contains(email))
            }
        }
    }
}
