import Kindred
import KindredTesting
import Testing

@Suite struct PageTests {
    private static let orders: [[(String, Bool)]] = [
        [], [("price", true)], [("price", false)], [("price", true), ("pages", false)],
        [("author.country", false), ("price", true)], [("author.country", true), ("title", false), ("id", false)],
    ]

    @Test(.database(.sql(librarySchema)), arguments: orders.indices)
    func pagesGiveEveryRowOnceInOrder(_ index: Int) async throws {
        try await withDatabase { (database, context, other) async throws in
            var request = try context.fetch("book").where("id <= 300")
            for (path, ascending) in Self.orders[index] { request = try request.sorted(path, ascending: ascending) }
            let whole = Self.orders[index].contains { $0.0 == "id" } ? request : try request.sorted("id")
            let expected = try await whole.select("id").all(as: Int.self).map { $0 }
            var found: [Int?] = []
            let (_, recorder) = try await recordingStatements {
                var page = try await request.page(size: 70)
                found += page.objects.map { try? $0.value(forKey: "id", as: Int.self) }
                while let next = page.next {
                    page = try await request.page(size: 70, after: next)
                    found += page.objects.map { try? $0.value(forKey: "id", as: Int.self) }
                }
            }
            #expect(found == expected)
            #expect(recorder.statements.count == 5)
        }
    }

    /// An index is entered at the first key: by the alternatives alone the server reads it from its beginning.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE entry (id integer PRIMARY KEY, rank integer NOT NULL, size integer);
                INSERT INTO entry SELECT i, i / 3, nullif(i % 5, 0) FROM generate_series(1, 3000) AS i;
                CREATE INDEX ON entry (rank, id);
                ANALYZE entry;
                """)), arguments: [true, false])
    func aPageBeginsAtItsFirstKey(ascending: Bool) async throws {
        try await withDatabase { (database, context, other) async throws in
            let entries = try context.fetch("entry").sorted("rank", ascending: ascending)
            let first = try await entries.page(size: 1_500)
            let (second, recorder) = try await recordingStatements {
                try await entries.page(size: 20, after: first.next)
            }
            let sql = try #require(recorder.statements.last)
            let last = try #require(first.objects.last)
            let rank = try #require(try last.value(forKey: "rank", as: Int.self))
            let id = try #require(try last.value(forKey: "id", as: Int.self))
            let expected = try await other.query(
                """
                SELECT id FROM entry ORDER BY rank \(unsafeRaw: ascending ? "" : "DESC"), id OFFSET 1500 LIMIT 20
                """)
            #expect(try second.objects.map { $0["id"] } == expected.map { try $0[0] })
            let plan = try await other.withConnection { connection in
                _ = try await connection.query(SQL(unsafeRaw: "PREPARE page AS \(sql)"))
                // The last key is bound first; the limit may be a parameter, too.
                let values = sql.contains("$3") ? "\(id), \(rank), 20" : "\(id), \(rank)"
                return try await connection.query(SQL(unsafeRaw: "EXPLAIN EXECUTE page (\(values))")).map {
                    try $0.decode(0, as: String.self) ?? ""
                }
            }
            #expect(sql.contains(#"t0."rank" \#(ascending ? ">=" : "<=") $2"#))
            // The other order is no index's.
            if ascending { #expect(plan.contains { $0.contains("Index Cond: (rank >=") }, "\(plan)") }
        }
    }

    @Test(.database(.sql(librarySchema))) func aPageTellsTheTotalWhereItIsAskedFor() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book").where("pages = 1").sorted("title")
            try await expectStatements(["SELECT", "SELECT count"]) { () async throws in
                let first = try await books.page(size: 10, withTotal: true)
                #expect(first.total == 600 && first.objects.count == 10)
            }
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await books.page(size: 10).total == nil)
            }
        }
    }

    @Test(.database(.sql(librarySchema)), arguments: [NullOrder.standard, .first, .last], [true, false])
    func nullsStandWhereTheyAreWanted(nulls: NullOrder, ascending: Bool) async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book").where("id <= 100").sorted("price", ascending: ascending, nulls: nulls)
            let ids = try await books.sorted("id").all().map { $0["id"] }
            let words = [NullOrder.standard: "", .first: "NULLS FIRST", .last: "NULLS LAST"][nulls] ?? ""
            let direction = ascending ? "" : "DESC"
            let expected = try await other.query(
                "SELECT id FROM book WHERE id <= 100 ORDER BY price \(unsafeRaw: direction) \(unsafeRaw: words), id")
            #expect(try ids == expected.map { try $0[0] })
            // Pages go through them in the same order.
            var page = try await books.page(size: 7)
            var paged = page.objects
            while let next = page.next {
                page = try await books.page(size: 7, after: next)
                paged += page.objects
            }
            #expect(paged.map { $0["id"] } == ids)
        }
    }

    @Test(.database(.sql(shopSchema))) func compositeKeysHavePages() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("purchase").sorted("customer_id", ascending: false)
            let expected = try await request.sorted("tenant").sorted("id").all()
            var page = try await request.page(size: 2)
            var found = page.objects
            while let next = page.next {
                page = try await request.page(size: 2, after: next)
                found += page.objects
            }
            #expect(found == expected)
        }
    }

    @Test(.database(.sql(librarySchema))) func whatHasNoPagesIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            let cursor = try await books.page(size: 1).next
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try await books.page(size: 0) }
                await expectError(.invalidRequest) { _ = try await books.limit(3).page(size: 1) }
                await expectError(.invalidCursor) {
                    _ = try await books.sorted("price").page(size: 1, after: cursor)
                }
                await expectError(.invalidCursor) {
                    _ = try await context.fetch("author").page(size: 1, after: cursor)
                }
            }
        }
    }

    @Test(.database(.sql(librarySchema)), arguments: orders.indices)
    func aCursorGoesOnInAnotherProcess(_ index: Int) async throws {
        try await withDatabase { (database, context, other) async throws in
            func request(_ context: DatabaseContext) throws -> FetchRequest<DatabaseObject> {
                try Self.orders[index].reduce(try context.fetch("book").where("id <= 300")) {
                    try $0.sorted($1.0, ascending: $1.1)
                }
            }
            let page = try await request(context).page(size: 100)
            let text = try #require(page.next).text
            // A process of its own has a pool, a model and a context of its own, and nothing but the text.
            let away = try await Database.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            defer { Task { await away.close() } }
            let next = try await request(away.makeContext()).page(size: 100, after: try PageCursor(text))
            let expected = try await request(context).page(size: 100, after: page.next)
            #expect(next.objects.map(\.objectID) == expected.objects.map(\.objectID))
            #expect(next.next == expected.next && next.next != nil)
        }
    }

    /// A cursor that an earlier build wrote, so that a change of the form is noticed.
    @Test(.database(.sql(librarySchema))) func aCursorOfAnEarlierBuildIsRead() async throws {
        try await withDatabase { (database, context, other) async throws in
            let request = try context.fetch("book").sorted("price", ascending: false).sorted("title")
            let page = try await request.page(
                size: 1,
                after: PageCursor("AQZwdWJsaWMEYm9vawMAAQVwcmljZQEBBXRpdGxlAQECaWQBpA0ENS4wMAEZBkJvb2sgNQEUATXHmaXQ"))
            #expect(page.objects.first?["id"] == 55)
        }
    }

    private static let everyType = """
        CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
        CREATE TYPE pair AS (a integer, b text);
        CREATE TABLE thing (id integer PRIMARY KEY, t_bool boolean, t_int2 smallint, t_int8 bigint, t_real real,
            t_double double precision, t_numeric numeric, t_text text, t_varchar varchar(20), t_bytea bytea, t_date date,
            t_time time, t_timetz timetz, t_timestamp timestamp, t_timestamptz timestamptz, t_interval interval,
            t_uuid uuid, t_inet inet, t_bits varbit, t_money money, t_ints integer[], t_texts text[], t_range int4range,
            t_mood mood, t_pair pair, t_jsonb jsonb);
        INSERT INTO thing SELECT i, i % 2 = 0, i - 2, i * 4000000000, i / 3.0, 1 / i::float8, i / 7.0, 'a' || i || E'é"\\\\', 'b' || i,
            int4send(i), '2024-01-01'::date + i, '10:00'::time + i * interval '1 s', ('10:00:0' || i || '+02')::timetz,
            '2024-01-01'::timestamp + i * interval '0.000001 s', '2024-01-01'::timestamptz + i * interval '1 h',
            i * interval '1 month 1 s', lpad(i::text, 32, '0')::uuid, ('10.0.0.' || i)::inet, i::bit(8), i::numeric::money,
            ARRAY[i, NULL], ARRAY['x', 'y' || i], int4range(i, i + 2), (ARRAY['sad', 'ok', 'happy'])[i]::mood,
            ROW(i, 'x,"' || i)::pair, to_jsonb(i)
        FROM generate_series(1, 3) i;
        INSERT INTO thing (id, t_real, t_double, t_numeric) VALUES (4, 'NaN', 'Infinity', 'NaN');
        """

    @Test(.database(.sql(everyType))) func cursorsHoldValuesOfEveryType() async throws {
        try await withDatabase { (database, context, other) async throws in
            let keys = try context.schema.entity(named: "thing").attributes.map(\.name)
            for key in keys where key != "t_pair" && key != "t_jsonb" {
                for ascending in [true, false] {
                    let request = try context.fetch("thing").sorted(key, ascending: ascending)
                    let expected = try await request.sorted("id").all()
                    var found: [DatabaseObject] = []
                    var cursor: PageCursor?
                    repeat {
                        let page = try await request.page(size: 1, after: cursor)
                        found += page.objects
                        cursor = try page.next.map { try PageCursor($0.text) }
                    } while cursor != nil
                    #expect(found == (key == "id" ? try await request.all() : expected), "\(key)")
                }
            }
            // A composite value goes on within the process only.
            let byPair = try context.fetch("thing").sorted("t_pair")
            let next = try #require(try await byPair.page(size: 1).next)
            #expect(try await byPair.page(size: 1, after: next).objects.count == 1)
            await expectError(.invalidCursor) { _ = try await byPair.page(size: 1, after: PageCursor(next.text)) }
        }
    }

    @Test(.database(.sql(librarySchema))) func aCursorWhoseValuesAreOfOtherTypesIsRefused() async throws {
        try await withDatabase { (database, context, other) async throws in
            let byTitle = try context.fetch("book").sorted("title")
            let text = try #require(try await byTitle.page(size: 1).next).text
            // The same column under another type, as after a migration.
            try await database.query("ALTER TABLE book ALTER title TYPE integer USING 1")
            let changed = try await Database.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            defer { Task { await changed.close() } }
            let request = try changed.makeContext().fetch("book").sorted("title")
            await expectError(.invalidCursor) { _ = try await request.page(size: 1, after: PageCursor(text)) }
        }
    }
}
