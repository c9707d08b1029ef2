import DemoModels
import Kindred
import KindredTesting
import Testing

/// Values of members within closures: in conditions, as sort keys, and selected.
@Suite(.database(.file("../../sql/demo.sql"))) struct MemberValueTests {
    /// The only column of a query, as numbers.
    private func numbers(_ database: Database, _ query: SQL) async throws -> [Int] {
        try await database.query(query).compactMap { try $0.decode(0, as: Int.self) }
    }

    @Test func rowsAreSortedByTheValueOfOnesOwnPair() async throws {
        try await withModels { database, context in
            let store = try await context.get(Store.self, 1)
            let sorted = try context.fetch(Book.self)
                .sorted(by: \.stocks, where: { $0.store == store }, ascending: false, nulls: .last) { $0.copies }
                .sorted { $0.id }
            let expected = try await numbers(
                database,
                """
                SELECT b.id FROM book b LEFT JOIN stock s ON s.book_id = b.id AND s.store_id = \(store.id)
                ORDER BY s.copies DESC NULLS LAST, b.id
                """)
            #expect(try await sorted.all().map(\.id) == expected && expected.count > 10)
            // By pages, whose cursors go to clients as texts.
            var ids: [Int] = []
            var next: PageCursor?
            repeat {
                let page = try await sorted.page(size: 7, after: try next.map { try PageCursor($0.text) })
                ids += page.objects.map(\.id)
                next = page.next
            } while next != nil
            #expect(ids == expected)
            // A cursor of another store's order is refused.
            let other = try await context.get(Store.self, 2)
            let cursor = try #require(try await sorted.page(size: 7).next)
            await expectError(.invalidCursor) {
                _ = try await context.fetch(Book.self)
                    .sorted(by: \.stocks, where: { $0.store == other }, ascending: false, nulls: .last) { $0.copies }
                    .sorted { $0.id }.page(size: 7, after: cursor)
            }
            // Selected, beside columns.
            let rows = try await sorted.values { book in
                (book.id, book.category.name, book.stocks.where { $0.store == store }.only { $0.copies })
            }
            let copies = try await numbers(
                database,
                """
                SELECT coalesce((SELECT copies FROM stock WHERE book_id = b.id AND store_id = \(store.id)), -1) FROM book b
                ORDER BY array_position(\(expected), b.id)
                """)
            #expect(rows.map(\.0) == expected && rows.map { $0.2 ?? -1 } == copies && rows.allSatisfy { $0.1 != nil })
            // In a condition.
            let many = try context.fetch(Book.self)
                .where { $0.stocks.where { $0.store == store }.only { $0.copies } > 3 }
            #expect(try await many.count() == copies.count { $0 > 3 })
        }
    }

    @Test func rowsAreSortedByTotalsOfAPart() async throws {
        try await withModels { database, context in
            let persons = try context.fetch(Person.self)
            func expect(_ sorted: FetchRequest<Person>, _ key: String, line: Int = #line) async throws {
                let expected = try await numbers(
                    database,
                    SQL(
                        unsafeRaw: """
                            SELECT p.id FROM person p
                            ORDER BY (SELECT \(key) FROM purchase q WHERE q.buyer_id = p.id AND q.status <> 'basket') DESC NULLS LAST, p.id
                            """))
                #expect(try await sorted.sorted { $0.id }.all().map(\.id) == expected, "\(key)")
            }
            try await expect(
                persons.sorted(ascending: false, nulls: .last) { $0.purchases.where { $0.status != .basket }.count },
                "count(*)")
            try await expect(
                persons.sorted(ascending: false, nulls: .last) {
                    $0.purchases.where { $0.status != .basket }.maximum { $0.placedAt }
                }, "max(q.placed_at)")
            try await expect(
                persons.sorted(ascending: false, nulls: .last) {
                    $0.purchases.where { $0.status != .basket }.sum { $0.number * 2 }
                }, "sum(q.number * 2)")
            // By a part of a part's members, and with a value in place of NULL.
            let stores = try context.fetch(Store.self).sorted {
                $0.purchases.where { $0.lines.contains { $0.copies > 1 } }.minimum { $0.number } ?? 0
            }
            #expect(try stores.sql.contains("coalesce((SELECT min("))
            #expect(try await stores.all().count == (try await context.fetch(Store.self).count()))
            // All of them.
            let totals = try await context.fetch(Author.self).sorted { $0.id }.values {
                ($0.books.all.sum { $0.price }, $0.books.where { $0.price > 10 }.average { $0.price }, $0.books.count)
            }
            let sums = try await database.query(
                """
                SELECT (SELECT sum(price) FROM book b JOIN book_author r ON r.book_id = b.id WHERE r.author_id = a.id) FROM author a
                ORDER BY id
                """
            ).map { try $0.decode(0, as: PostgresNumeric.self) }
            #expect(totals.map(\.0) == sums)
        }
    }

    @Test func severalMembersHaveNoOneValue() async throws {
        try await withModels { _, context in
            let books = try context.fetch(Book.self)
            let store = try await context.get(Store.self, 1)
            func expectRefusal(_ condition: @escaping (Columns<Stock>) throws -> Condition) async {
                let error = await expectError(.invalidRequest) {
                    _ = try books.sorted(by: \.stocks, where: condition) { $0.copies }
                }
                #expect(error?.message.contains("(store_id, book_id)") == true, "\(String(describing: error))")
            }
            await expectRefusal { $0.copies == 3 }
            await expectRefusal { $0.store == store || $0.copies == 1 }
            await expectRefusal { $0.store != store }
            await expectRefusal { !($0.store == store) }
            await expectRefusal { $0.store.city == "Bergen" }
            await expectRefusal { $0.storeID.isIn([1, 2]) }
            _ = try books.sorted(by: \.stocks, where: { $0.copies > 1 && $0.storeID == 1 }) { $0.copies }
            // A column that may be NULL equals NULL in a condition, and not to a key.
            await expectError(.invalidRequest) {
                _ = try context.fetch(Store.self).where { store in
                    store.purchases.where { $0.buyer == store.manager }.only { $0.number } > 1
                }
            }
        }
    }

    @Test func membersOfManyToManyRelationshipsHaveValues() async throws {
        try await withModels { database, context in
            let first = try await context.fetch(Title.self).sorted { $0.id }.all()[0]
            let sorted = try context.fetch(Person.self)
                .sorted(by: \.titles, where: { $0.name == first.name }) { $0.id }.sorted { $0.id }
            let expected = try await numbers(
                database,
                """
                SELECT p.id FROM person p LEFT JOIN person_title_rel r ON r.person_id = p.id AND r.title_id = \(first.id)
                ORDER BY r.title_id, p.id
                """)
            #expect(try await sorted.all().map(\.id) == expected)
            // Live requests and prefetched parts are sorted so, too.
            let stores = try await context.fetch(Store.self).sorted { $0.id }.prefetch(\.books) {
                $0.sorted { $0.stocks.all.maximum { $0.copies } }.limit(3)
            }.all()
            let others = try await context.fetch(Store.self).sorted { $0.id }.prefetch(\.books) {
                $0.sorted(ascending: false) { $0.stocks.where { $0.copies > 2 }.minimum { $0.copies } }.limit(3)
            }.all()
            #expect(stores == others && !stores.isEmpty)
        }
    }
}
