import DemoModels
import Kindred
import KindredTesting
import Testing

/// Parts of relationships by key paths and properties.
@Suite(.database(.file("../../../sql/demo.sql"))) struct TypedPartTests {
    @Test func propertiesSayWhatIsLoadedAndAskForIt() async throws {
        try await withModels { _, context in
            let day = try #require(PostgresDate("2015-01-01"))
            let categories = try await withStatementLimit(3) {
                try await context.fetch(Category.self).sorted { $0.id }
                    .prefetch(\.books) {
                        $0.where { $0.published > day && $0.title != "" }.sorted { $0.published }.sorted { $0.id }
                            .limit(3)
                            .prefetch(\.authors) { $0.sorted(ascending: false) { $0.id }.limit(1) }
                    }
                    .all()
            }
            var count = 0
            for category in categories {
                let part = try category.books.where { $0.published > day && $0.title != "" }.sorted { $0.published }
                    .sorted { $0.id }.limit(3)
                let (books, number) = try await withStatementLimit(0) { (try await part.all(), try await part.count()) }
                var last: [[Author]] = []
                for book in books {
                    let asked = try await withStatementLimit(0) {
                        try await book.authors.sorted(ascending: false) { $0.id }.limit(1).all()
                    }
                    last.append(asked)
                }
                let all = try await category.books().all()
                let expected = all.filter { $0.published > day }.sorted {
                    ($0.published, $0.id) < ($1.published, $1.id)
                }
                .prefix(3)
                #expect(books == Array(expected) && number == books.count)
                for (book, last) in zip(books, last) {
                    let greatest = try await book.authors().all().map(\.id).max()
                    #expect(last.map(\.id) == [greatest].compactMap(\.self))
                    count += 1
                }
            }
            #expect(count > 5)
        }
    }

    @Test func classesOfHelpersNameTheirColumns() async throws {
        try await withModels { _, context in
            let day = try #require(PostgresDate("2000-01-01"))
            let people = try await context.fetch(Person.self)
                .prefetch(\.friends) {
                    $0.where(through: Friendship.self) { $0.since > day }
                        .sorted(through: Friendship.self, ascending: false) { $0.since }.sorted { $0.id }.limit(2)
                }
                .all()
            var count = 0
            for person in people {
                let friendships = try await context.fetch(Friendship.self)
                    .where { $0.personID == person.id && $0.since > day }.all()
                let expected = friendships.sorted {
                    $0.since == $1.since ? $0.friendID < $1.friendID : $0.since > $1.since
                }
                .prefix(2)
                let friends = try await withStatementLimit(0) {
                    try await person.friends.where(through: Friendship.self) { $0.since > day }
                        .sorted(through: Friendship.self, ascending: false) { $0.since }.sorted { $0.id }.limit(2).all()
                }
                #expect(friends.map(\.id) == expected.map(\.friendID))
                count += friends.count
                if count > 40 { break }
            }
            #expect(count > 10)
        }
    }

    @Test func anotherClassThanTheHelpersIsRefused() async throws {
        try await withModels { _, context in
            let person = try #require(try await context.fetch(Person.self).first())
            await withStatementLimit(0) {
                let error = await expectError(.wrongType) {
                    _ = try context.fetch(Person.self).prefetch(\.friends) {
                        $0.where(through: BookAuthor.self) { $0.position > 1 }
                    }
                }
                #expect(error?.message.contains("its helper is Friendship") == true)
                await expectError(.wrongType) {
                    _ = try person.friends.sorted(through: BookAuthor.self) { $0.position }
                }
                await expectError(.wrongType) {
                    _ = try person.emails.where(through: Friendship.self) { $0.friendID == 1 }
                }
                await expectError(.wrongType) {
                    _ = try context.fetch(Person.self).where(through: Friendship.self) { $0.friendID == 1 }
                }
                await expectError(.invalidRequest) {
                    _ = try context.fetch(Person.self).prefetch(\.friends) { $0.sorted { $0.id + 1 } }
                }
            }
        }
    }
}
