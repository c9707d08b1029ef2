import DemoModels
import Foundation
import Kindred
import KindredFoundation
import KindredTesting
import Testing

/// The examples of the articles on conditions, fetching and typed classes.
@Suite struct ReadingTests {
    @Test(.shop) func conditions() async throws {
        try await withShop { database, context, sent in
            // block: condition
            let books = try await context.fetch("book")
                .where("category.name = %@ AND ANY authors.name BEGINSWITH %@", "Poetry", "A")
                .sorted("title")
                .limit(20)
                .all()
            // end
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords",
                    t0."category_id"
                    FROM "public"."book" AS t0 LEFT JOIN "public"."category" AS t1 ON t1."id" = t0."category_id"
                    WHERE t1."name" = $1 AND EXISTS (SELECT 1 FROM "public"."book_author" AS t2
                    JOIN "public"."author" AS t3 ON t3."id" = t2."author_id" WHERE t2."book_id" = t0."id"
                    AND t3."name" LIKE $2) ORDER BY t0."title" LIMIT $3
                """)
            #expect(books.count > 1)

            // block: condition-typed
            let same = try await context.fetch(Book.self)
                .where { $0.category.name == "Poetry" && $0.authors.contains { $0.name.hasPrefix("A") } }
                .sorted { $0.title }
                .limit(20)
                .all()
            // end
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords",
                    t0."category_id"
                    FROM "public"."book" AS t0 LEFT JOIN "public"."category" AS t1 ON t1."id" = t0."category_id"
                    WHERE t1."name" = $1 AND EXISTS (SELECT 1 FROM "public"."book_author" AS t2
                    JOIN "public"."author" AS t3 ON t3."id" = t2."author_id" WHERE t2."book_id" = t0."id"
                    AND t3."name" LIKE $2) ORDER BY t0."title" LIMIT $3
                """)
            #expect(same == books)

            // block: condition-predicate
            let name = "Poetry"
            let poems = try await context.fetch(Book.self)
                .where(#Predicate { $0.category.loaded?.name == name && $0.authors.loaded.count > 1 })
                .sorted(by: SortDescriptor(\.published, order: .reverse))
                .all()
            // end
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords",
                    t0."category_id"
                    FROM "public"."book" AS t0 LEFT JOIN "public"."category" AS t1 ON t1."id" = t0."category_id"
                    WHERE t1."name" = $1 AND (SELECT count(*) FROM "public"."book_author" AS t2
                    WHERE t2."book_id" = t0."id") > $2 ORDER BY t0."published" DESC
                """)
            #expect(!poems.isEmpty)

            // block: formats
            let requests = [
                try context.fetch("person").where("born BETWEEN {%@, %@}", "1980-01-01", "1989-12-31"),
                try context.fetch("person").where("surname IN %@", ["Smith", "Rossi"]),
                try context.fetch("person").where("surname BEGINSWITH[c] %@ OR firstname LIKE %@", "sm", "A?a*"),
                try context.fetch("person").where("emailSet.@count > 1 AND NONE titles.name = %@", "Dr."),
                try context.fetch("book").where("keywords CONTAINS %@", "signed"),
                try context.fetch("profile").where("settings.theme = %@", "dark"),
                try context.fetch("stock").where("SUBQUERY(sales, $line, $line.copies > 1).@count > 0"),
                try context.fetch("email").where("person == nil"),
                try context.fetch("email").where("%K = %@", "person.surname", "Smith"),
            ]
            for request in requests { print(try await request.count()) }
            // end
            sent.take()

            // block: condition-around
            let cheapest = try await context.fetch(Book.self)
                .where { book in book.category.books.allSatisfy { $0.price >= book.price } }
                .all()
            let byFormat = try await context.fetch("book")
                .where("SUBQUERY(category.bookSet, $other, $other.price < price).@count = 0")
                .all()
            // end
            let right = try await database.query(
                """
                SELECT count(*) FROM book b WHERE NOT EXISTS
                (SELECT FROM book o WHERE o.category_id = b.category_id AND o.price < b.price)
                """)
            #expect(try right[0].decode(0, as: Int.self) == cheapest.count && cheapest.count == byFormat.count)
            sent.take()

            // block: condition-objects
            let smith = try await context.fetch("person").where("surname = %@", "Smith").one()
            let emails = try await context.fetch("email").where("person = %@", smith).all()
            // end
            #expect(emails.count == 2)
            sent.take()

            // block: null
            let others = try await context.fetch("person").where("born != %@", "1985-12-10").count()
            // end
            let unborn = try await context.fetch("person").where("born == nil").count()
            #expect(unborn > 0 && others == 499)

            await expectError(
                .invalidCondition,
                """
                The condition cannot be read at character 11: a value or a key is expected, not "="
                """
            ) {
                // block: condition-syntax
                _ = try context.fetch("person").where("surname = = %@", "Smith")
                // end
            }
            await expectError(
                .unknownKey,
                """
                public.email has no key "adress"; did you mean "address"?
                """
            ) {
                // block: condition-key
                _ = try context.fetch("person").where("ANY emailSet.adress LIKE %@", "*@example.org")
                // end
            }
            await expectError(
                .invalidCondition,
                """
                The condition has 1 placeholder, but 2 arguments were given
                """
            ) {
                _ = try context.fetch("person").where("surname = %@", "Smith", "Rossi")
            }
            sent.take()
            // block: raw
            let limit = 20
            let rows = try await context.query("SELECT count(*) FROM book WHERE price < \(limit)")
            print(try rows[0][0] ?? 0)
            // end
            sent.expect(
                """
                SELECT count(*) FROM book WHERE price < $1
                """)
        }
    }

    private func parts(_ context: DatabaseContext, _ sent: SentStatements) async throws {
        // block: part
        let day = PostgresDate("2015-01-01") ?? .today
        let categories = try await context.fetch(Category.self)
            .prefetch(\.books) { $0.where { $0.published > day }.sorted { $0.title }.limit(5) }
            .all()
        // end
        sent.expect(
            """
            SELECT t0."id", t0."name", t0."parent_id" FROM "public"."category" AS t0
            """,
            """
            SELECT s.*, o.n FROM unnest($2) WITH ORDINALITY AS o(k0, n) CROSS JOIN LATERAL (SELECT
                t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords", t0."category_id"
                FROM "public"."book" AS t0 WHERE t0."category_id" = o.k0 AND t0."published" > $1
                ORDER BY t0."title" LIMIT $3) AS s
            """)
        // block: part-of-set
        for category in categories {
            let recent = try category.books.where { $0.published > day }.sorted { $0.title }.limit(5)
            for book in try await recent.all() { print(book.title) }
            print(try await recent.count(), try await recent.first()?.title ?? "-")
        }
        // end
        sent.expect()
        // block: part-through
        let people = try await context.fetch("person").limit(10)
            .prefetch("friends") {
                $0.where("@through.since > %@", day).sorted("@through.since", ascending: false).limit(3)
                    .prefetch("emailSet") { $0.sorted("address").limit(1) }
            }
            .all()
        let old = try await context.fetch(Person.self)
            .prefetch(\.friends) { $0.where(through: Friendship.self) { $0.since < day }.sorted { $0.surname } }
            .first()
        // end
        sent.expectCount(5)
        #expect(people.count == 10 && old != nil)
        // block: part-columns
        let windows = try await context.fetch(Category.self)
            .prefetch(\.books) { $0.only(\.title, \.price).unfiltered().sorted { $0.title }.limit(5) }
            .all()
        let window = try await windows[0].books.unfiltered().sorted { $0.title }.limit(5).all()
        // end
        sent.expectCount(2)
        #expect(windows.count == categories.count && window.count <= 5)
    }

    @Test(.shop) func columnsLeftOut() async throws {
        try await withShop { database, context, sent in
            // block: omitting
            let books = try await context.fetch("book").omitting("keywords")
                .prefetch("authors", only: ["name"]).all()
            // end
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price",
                    CASE WHEN false THEN t0."keywords" END AS "kindred: omitted", t0."category_id"
                    FROM "public"."book" AS t0
                """,
                """
                SELECT t."id", t."name", CASE WHEN false THEN t."born" END AS "kindred: omitted", h."book_id"
                    FROM "public"."author" AS t JOIN "public"."book_author" AS h ON h."author_id" = t."id"
                    WHERE h."book_id" = ANY($1) ORDER BY h."position" NULLS LAST, t."id"
                """)
            // block: load
            for book in books { print(try await book.value(forKey: "keywords") ?? "-") }
            // end
            sent.expectCount(1)
            // block: only
            let titles = try await context.fetch(Book.self).only(\.title, \.price).sorted { $0.title }.all()
            let keywords = try await titles[0].value(forKey: "keywords")
            // end
            #expect(titles.count == books.count && keywords != nil)
            let uri = try TestDatabase.current.uri
            // block: lazy
            let wide = try await Database.connect(uri, overrides: [.column("biography", of: "profile", lazy: true)])
            // end
            let profile = try #require(try await wide.makeContext().fetch("profile").first())
            #expect(profile.dictionary["biography"] == nil)
            await wide.close()
        }
    }

    @Test(.shop) func fetching() async throws {
        try await withShop { database, context, sent in
            // block: loop
            let books = try await context.fetch("book").where("category.name = %@", "Poetry").all()
            for book in books {
                for try await author in try await book.set(forKey: "authors") { print(author["name"] ?? "-") }
            }
            // end
            #expect(books.count > 5)
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords",
                    t0."category_id"
                    FROM "public"."book" AS t0 LEFT JOIN "public"."category" AS t1 ON t1."id" = t0."category_id"
                    WHERE t1."name" = $1
                """,
                """
                SELECT t."id", t."name", t."born", h."book_id" FROM "public"."author" AS t
                    JOIN "public"."book_author" AS h ON h."author_id" = t."id" WHERE h."book_id" = ANY($1)
                    ORDER BY h."position" NULLS LAST, t."id"
                """)

            // block: prefetch
            let people = try await context.fetch("person").prefetch("emailSet", "purchases.lines").limit(100).all()
            // end
            sent.expectCount(4)
            #expect(people.count == 100)
            try await parts(context, sent)

            let strict = database.makeContext(loading: .forbidden)
            await expectError(
                .loadingForbidden,
                """
                public.person.emailSet is not loaded, and this context loads no relationship by itself; prefetch
                it with the objects
                """
            ) {
                // block: forbidden
                let person = try await strict.fetch("person").limit(1).one()
                _ = try await person.set(forKey: "emailSet").objects
                // end
            }

            // block: statement-limit
            try await withStatementLimit(2) {
                let books = try await context.fetch("book").limit(50).all()
                for book in books { _ = try await book.object(forKey: "category") }
            }
            // end

            sent.take()
            // block: request-values
            let request = try context.fetch("person").where("born > %@", "1990-01-01")
            print(try await request.count(), try await request.exists(), try await request.first() ?? "-")
            print(try request.sql)
            // end
            sent.expect(
                """
                SELECT count(*) FROM "public"."person" AS t0 WHERE t0."born" > $1
                """,
                """
                SELECT EXISTS (SELECT 1 FROM "public"."person" AS t0 WHERE t0."born" > $1)
                """,
                """
                SELECT t0."id", t0."firstname", t0."surname", t0."born", t0."joined_at"
                    FROM "public"."person" AS t0 WHERE t0."born" > $1 LIMIT $2
                """)

            // block: select
            let names = try await context.fetch("person").select("surname", "firstname").distinct().all()
            let typed = try await context.fetch("book").select("title", "price")
                .all(as: String.self, PostgresNumeric.self)
            // end
            #expect(names.count > 100 && typed.count == 400)
            sent.take()

            // block: group
            let turnover = try await context.fetch("purchase_line")
                .group(by: "purchase.store.city", aggregates: .count, .sum("amount"))
                .all()
            // end
            #expect(turnover.count == 4)
            sent.expect(
                """
                SELECT t1."city", count(*), sum(t0."amount") FROM "public"."purchase_line" AS t0 LEFT
                    JOIN "public"."store" AS t1 ON t1."id" = t0."store_id" GROUP BY 1
                """)

            // block: group-having
            let busy = try await context.fetch("purchase").sorted("store.city")
                .group(by: "store.city", aggregates: .count, .maximum("placed_at"))
                .having(.count, .greater, 100)
                .all()
            for group in busy {
                guard let city = group["store.city"] ?? nil, let count = group["count"] ?? nil else { continue }
                print(city, try Int(postgresValue: count))
            }
            // end
            #expect(busy.count == 4 && sent.take().count == 1)

            // block: totals
            let catalogue = try context.fetch("book")
            let price = try await catalogue.average("price").map { try PostgresNumeric(postgresValue: $0) }
            let latest = try await catalogue.maximum("published").map { try PostgresDate(postgresValue: $0) }
            // end
            #expect(price ?? 0 > 0 && latest ?? .negativeInfinity > PostgresDate.neutralValue)
            let stocks = try context.fetch("stock")
            if case .integer? = try await stocks.sum("copies") {} else { Issue.record("a sum of integers is a bigint") }
            if case .numeric? = try await stocks.average("copies") {} else { Issue.record("their average is numeric") }
            if case .numeric? = try await catalogue.sum("price") {} else { Issue.record("a sum of numeric is numeric") }
            sent.take()

            // block: typed-groups
            let lines = try context.fetch(PurchaseLine.self)
            let sales =
                try await lines
                .group(by: { $0.purchase.store.city }) { ($0.count, $0.sum { $0.amount } ?? 0) }
                .having { $0.count > 100 }
                .sorted(ascending: false) { $0.count }
                .all()
            for (city, count, amount) in sales { print(city, count, amount) }
            // end
            #expect(sales.count == 4)
            sent.expect(
                """
                SELECT t1."city", count(*), sum(t0."amount") FROM "public"."purchase_line" AS t0 LEFT
                    JOIN "public"."store" AS t1 ON t1."id" = t0."store_id" GROUP BY 1 HAVING count(*) > $1
                    ORDER BY count(*) DESC
                """)

            // block: groups-as-values
            struct Sales {
                let city: String
                let lines: Int
                let amount: PostgresNumeric
            }
            let made =
                try await lines
                .group(by: \.purchase.store.city) { ($0.count, $0.sum(\.amount) ?? 0) }
                .all(into: Sales.init)
            // end
            #expect(made.reduce(0) { $0 + $1.lines } > 400 && made.allSatisfy { $0.amount > 0 && !$0.city.isEmpty })

            // block: typed-totals
            let total = try await lines.sum { $0.copies * 2 }  // Int?
            let dearest = try await context.fetch(Book.self).maximum(\.price)  // PostgresNumeric?
            // end
            #expect(total ?? 0 > 0 && dearest ?? 0 > 0)
            #expect(sent.take().count == 3)

            // block: page
            let sorted = try context.fetch("person").sorted("surname")
            var page = try await sorted.page(size: 50)
            while let next = page.next { page = try await sorted.page(size: 50, after: next) }
            // end
            sent.expectCount(11)

            // block: stream
            var copies = 0
            for try await stock in try context.fetch("stock").stream() {
                copies += try stock.value(forKey: "copies", as: Int.self) ?? 0
            }
            // end
            #expect(copies > 0)
            sent.take()

            // block: nulls
            let youngest = try context.fetch("person").sorted("born", ascending: false, nulls: .last)
            let typedYoungest = try context.fetch(Person.self).sorted(ascending: false, nulls: .last) { $0.born }
            // end
            #expect(try youngest.sql == typedYoungest.sql)

            // block: find
            let ada = try await context.find("person", 1)
            let line = try await context.find("purchase_line", 1, 1, 1)
            let some = try await context.find("person", [1, 2, 3])
            let owner = try await context.get("person", 2)
            // end
            #expect(ada != nil && line != nil && some.count == 3 && owner["id"] == 2)

            // block: key-value
            let surname = try ada?.value(forKey: "surname", as: String.self)
            let address = try await ada?.value(forKeyPath: "managed_store.city")
            // end
            #expect(surname == "Smith" && address != nil)
        }
    }

    @Test(.shop) func valuesOfMembers() async throws {
        try await withShop { database, context, sent in
            let store = try await context.get(Store.self, 1)
            sent.take()
            // block: fetching-own-pair
            let mine = try await context.fetch(Book.self)
                .sorted(by: \.stocks, where: { $0.store == store }, ascending: false, nulls: .last) { $0.copies }
                .limit(20)
                .all()
            // end
            sent.expect(
                """
                SELECT t0."id", t0."isbn", t0."title", t0."published", t0."price", t0."keywords",
                    t0."category_id" FROM "public"."book" AS t0
                    ORDER BY (SELECT t1."copies" FROM "public"."stock" AS t1 WHERE t1."book_id" = t0."id" AND t1."store_id" = $1) DESC NULLS LAST
                    LIMIT $2
                """)
            #expect(mine.count == 20)
            // block: fetching-totals-of-members
            let latest = try await context.fetch(Person.self)
                .sorted(ascending: false) { $0.purchases.where { $0.status == .sent }.maximum { $0.placedAt } }
                .all()
            let rows = try await context.fetch(Book.self).sorted { $0.title }.values {
                ($0.title, $0.category.name, $0.stocks.where { $0.store == store }.only { $0.copies })
            }
            for (title, category, copies) in rows { print(title ?? "-", category ?? "-", copies ?? 0) }
            // end
            #expect(!latest.isEmpty && !rows.isEmpty)
        }
    }

    @Test(.shop) func dates() async throws {
        try await withShop { database, context, sent in
            let person = try #require(try await context.find(Person.self, 1))
            let arrival = Date(timeIntervalSince1970: 1_700_000_000)
            let timeZone = try #require(TimeZone(secondsFromGMT: 7_200))
            // block: dates-foundation
            let moment = Date(exactly: person.joinedAt)  // nil for an infinity, and for what a Date cannot hold
            let joined = try person.value(forKey: "joined_at", as: Date.self)  // throws instead
            person.joinedAt = PostgresTimestamp(clamping: arrival)  // an infinity, where PostgreSQL ends
            let day = PostgresDate(arrival, in: timeZone)  // the day that it is there
            let midnight = day.flatMap { PostgresTimestamp(date: $0) }  // its beginning in UTC
            // end
            #expect(moment == joined && joined != nil && Date(exactly: person.joinedAt) == arrival)
            #expect(midnight?.description == "2023-11-15 00:00:00")
            // block: dates-calculate
            let due = PostgresDate.today.adding(days: 14)
            let nextMonth = PostgresDate(year: 2024, month: 1, day: 31)?.adding(months: 1)  // 2024-02-29
            let age = person.born.flatMap { PostgresDate.today.days(since: $0) }
            let end = person.joinedAt.adding(PostgresInterval(months: 12))
            let member = PostgresTimestamp.now.interval(since: person.joinedAt)  // days, and the rest
            let opening = due?.start(in: timeZone)  // the Date at which that day begins there
            // end
            #expect(nextMonth?.description == "2024-02-29" && age != 0 && opening != nil)
            #expect(end?.description == "2024-11-14 22:13:20" && member.map { $0.days > 300 } == true)
            // block: dates-intervals
            let lasting = PostgresInterval(exactly: .seconds(90))
            let duration = Duration(exactly: PostgresInterval(days: 1))  // nil
            // end
            #expect(lasting?.microseconds == 90_000_000 && duration == nil)
            sent.take()
            // block: dates-conditions
            let late = try await context.fetch(Purchase.self)
                .where { $0.status == .paid && $0.placedAt + PostgresInterval(days: 3) < PostgresTimestamp.now }
                .all()
            let recent = try await context.fetch("purchase").where("placed_at >= %@", arrival).count()
            // end
            #expect(!late.isEmpty && recent > 0)
            sent.expectCount(2)
        }
    }

    @Test(.shop) func typedClasses() async throws {
        try await withShop { database, context, sent in
            // block: typed-fetch
            let smith = try await context.fetch(Person.self)
                .where { $0.surname == "Smith" && $0.emails.contains { $0.address.hasSuffix("@example.org") } }
                .sorted { $0.surname }
                .one()
            for try await email in smith.emails { print(email.address) }
            // end
            sent.expectCount(2)

            // block: typed-create
            let email = try await context.create(Email.self) { $0.address = "smith@example.net" }
            try await email.person.set(smith)  // UPDATE email SET person_id = … WHERE id = …
            let owner = try await email.person.object  // Person?, since the foreign key may be NULL
            // end
            sent.expectCount(2)
            #expect(owner === smith)

            // block: typed-save
            smith.surname = "Smythe"  // staged in memory
            try await context.save()  // one transaction, as few statements as possible
            // end
            sent.expect(
                """
                UPDATE "public"."person" AS t SET "surname" = new.c0
                    FROM unnest($1, $2) WITH ORDINALITY AS new(k0, c0, place) WHERE t."id" = new.k0
                    RETURNING t."id", t."firstname", t."surname", t."born", t."joined_at", new.place
                """)

            // block: typed-find
            let ada = try await context.find(Person.self, 1)  // by key; nil if there is none
            let bob = try await context.get(Person.self, 2)  // throws .notFound if there is none
            let some = try await context.find(Person.self, [1, 2, 3])  // those that there are, by one statement
            let prices = try await context.fetch(Book.self).sorted { $0.title }.select(\.title, \.price).all()
            for (title, price) in prices.prefix(3) { print(title, price) }
            // end
            #expect(ada === smith && bob.id == 2 && some.count == 3 && prices.count == 400)

            // block: typed-enum
            let sent2 = try await context.fetch(Purchase.self).where { $0.status == .sent }.count()
            // end
            #expect(sent2 > 0)

            let arrival = Date(timeIntervalSince1970: 1_700_000_000)
            // block: typed-dates
            smith.born = .today  // in UTC; PostgresDate(.now, in: timeZone) elsewhere
            smith.joinedAt = .now
            smith.joinedAt = PostgresTimestamp(clamping: arrival)  // of a Date
            let recent = try await context.fetch(Person.self).where { $0.joinedAt >= arrival }.count()
            // end
            #expect(recent >= 0 && Date(exactly: smith.joinedAt) == arrival)

            // block: typed-insert
            let novel = try await context.fetch(Book.self).prefetch(\.authors).sorted { $0.id }.first()
            let author = try context.add(Author.new(name: "Zoe Young"))
            try await novel?.authors.insert(author)
            try await context.save()
            // end
            #expect(!author.isInserted)

            // block: typed-paths
            let chosen = try context.fetch(Book.self).where { $0.id == 1 }
            let shown = try await chosen.views(\.title, \.category.name, \.authors.name)
            let patch = try ObjectPatch(json: #"{"title": "New"}"#.utf8)
            try await chosen.one().apply(patch, allowing: [\.title, \.price])
            try await chosen.update {
                $0.price = ($0.price ?? 1) * 2
                $0.title = ($0.category.name ?? "Book") + ": " + $0.title
            }
            // end
            #expect(shown.count == 1)
            context.rollback()
        }
        let wrong = try await TestDatabase.current.connect()
        _ = try await wrong.query("ALTER TABLE title RENAME COLUMN name TO label")
        do {
            let database = try await Database.connect(try TestDatabase.current.uri, classes: KindredModels.all)
            await database.close()
            Issue.record("classes that do not fit were taken")
        } catch let error as KindredError {
            #expect(error.code == .classMismatch)
            expectMessage(
                error.message,
                """
                The classes do not fit the database: public.title.name is missing. Run `kindred generate` again,
                or change the database
                """)
        }
    }
}
