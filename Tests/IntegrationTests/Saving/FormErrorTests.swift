import Kindred
import KindredTesting
import Testing
import TypeModels

/// Errors as a server shows them: which field, which class, and words that explain the error.
@Suite struct FormErrorTests {
    private static let schema = """
        CREATE TABLE artist (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE album (id integer PRIMARY KEY, title text, price numeric CHECK (price > 0) NOT NULL DEFAULT 1,
            low integer, high integer, artist_id integer NOT NULL REFERENCES artist, parent_id integer REFERENCES album,
            CONSTRAINT span CHECK (low < high), CONSTRAINT "odd name" CHECK (title <> ''));
        INSERT INTO artist VALUES (1, 'AC/DC'), (2, 'Accept');
        INSERT INTO album (id, title, artist_id) VALUES (1, 'One', 1), (2, 'Two', 1);
        """

    @Test(.database(.sql(schema))) func aCheckOfOneColumnNamesItsKey() async throws {
        try await withDatabase { database, context, other in
            func problem(_ values: [String: (any PropertyValue)?]) async -> KindredError.Problem? {
                await expectError(.constraintViolation) { try await context.create("album", values) }?.problems.first
            }
            let price = await problem(["id": 7, "artist_id": 1, "price": -1])
            #expect(price?.key == "price" && price?.constraint == "album_price_check")
            #expect(await problem(["id": 7, "artist_id": 1, "title": ""])?.key == "title")
            // Of two columns nothing tells which.
            let span = await problem(["id": 7, "artist_id": 1, "low": 2, "high": 1])
            #expect(span?.constraint == "span" && span?.key == nil)
        }
    }

    @Test(.database(.file("../../TypeModels/schema.sql"))) func aProblemNamesThePropertyAsWell() async throws {
        let database = try await TestDatabase.current.connect(classes: KindredModels.all)
        let context = database.makeContext()
        let keeper = try context.add(Keeper.self) {
            $0.id = 1
            $0.rank = 1
            $0.size = 1
            $0.visible = true
            $0.numbers = [1]
        }
        keeper["code"] = .string(String(repeating: "x", count: 30))
        let error = await expectError(.validationFailed) { try await context.save() }
        let problems = (error?.problems ?? []).map { "\($0.key ?? "-"): \($0.property ?? "-")" }
        #expect(problems.contains("code: code"), "\(problems)")
        #expect(error?.category == .invalid)
        let pet = try context.add(TypeModels.Pet.self) { $0.id = 1 }
        pet["keeper_id"] = .string("x")
        let other = await expectError(.wrongType) { try await pet.save() }
        #expect(other?.key == "keeper_id" && other?.property == "keeperID")
    }

    @Test(.database(.sql(schema))) func validationThrowsWithAKeyAndItsMessageIsShown() async throws {
        try await withDatabase { database, context, other in
            try database.addHooks(
                ObjectHooks(validate: { object in
                    if object["title"] == "bad" { throw ValidationError("The title is not allowed", key: "title") }
                }), to: "album")
            let album = try #require(try await context.find("album", 1))
            album["title"] = "bad"
            let error = await expectError(.refused) { try await context.save() }
            #expect(
                error?.key == "title"
                    && error?.message == "kindred:/public/album?id=1 was refused: The title is not allowed")
            #expect(error?.category == .invalid && error?.category.httpStatus == 422)
        }
    }

    @Test(.database(.sql(schema))) func everyErrorSaysOfWhichClassItIs() async throws {
        try await withDatabase { database, context, other in
            func category(_ body: () async throws -> Void) async -> ErrorCategory? {
                do {
                    try await body()
                    return nil
                } catch { return (error as? any CategorizedError)?.category }
            }
            let albums = try context.fetch("album")
            #expect(await category { _ = try await albums.where("id = 99").one() } == .notFound)
            #expect(await category { try await context.create("artist", ["id": 3, "name": "Accept"]) } == .conflict)
            #expect(await category { try await context.create("album", ["id": 3, "artist_id": 9]) } == .conflict)
            #expect(
                await category { try await context.create("album", ["id": 3, "artist_id": 1, "price": 0]) } == .invalid)
            #expect(await category { try await context.create("album", ["id": 3]) } == .invalid)
            // An error in the program's own text is its mistake.
            #expect(await category { _ = try albums.where("titel = 1") } == .mistake)
            #expect(await category { _ = try albums.where("title = ") } == .mistake)
            #expect(await category { _ = try albums.sorted("titel") } == .mistake)
            #expect(await category { _ = try await albums.sum("title") } == .mistake)
            #expect(await category { _ = try await albums.limit(1).views("titel") } == .mistake)
            #expect(await category { _ = try context.fetch("albun") } == .mistake)
            #expect(await category { try await context.create("artist", ["nam": "x"]) } == .mistake)
            #expect(await category { _ = try context.schema.entity(named: "albun") } == .mistake)
            // An error in a client's input is the client's.
            #expect(await category { _ = try PageCursor("x") } == .invalid)
            #expect(await category { _ = try albums.where("title MATCHES %@", "(") } == .invalid)
            #expect(await category { _ = try await albums.limit(-1).all() } == .invalid)
            #expect(await category { _ = try await albums.page(size: 0) } == .invalid)
            let patch = try ObjectPatch(json: #"{"titel": "x"}"#.utf8)
            #expect(await category { try context.add("album", patch) } == .invalid)
            let artist = try #require(try await context.find("artist", 2))
            artist["nam"] = "x"
            #expect(await category { try await context.save() } == .mistake)
            artist["name"] = nil
            #expect(await category { try await context.save() } == .mistake)
            context.rollback()
            #expect(await category { try await context.fetch("artist").where("id = 1").delete() } == .conflict)
            #expect(await category { try await database.query("SELECT 1 / 0") } == .invalid)
            #expect(await category { try await database.query("SELEC 1") } == .failure)
            var nowhere = try PostgresConfiguration(uri: "postgres://localhost:1/none")
            nowhere.pool.acquireTimeout = .seconds(5)
            #expect(await category { _ = try await Database.connect(nowhere) } == .unavailable)
            let album = try #require(try await context.find("album", 1))
            try await database.query("DELETE FROM album WHERE id = 1")
            #expect(await category { try await album.refresh() } == .notFound)
            #expect(
                Set(
                    [ErrorCategory.notFound, .conflict, .invalid, .forbidden, .unavailable, .mistake].map(\.httpStatus)
                ).count == 6)
            #expect(ErrorCategory.mistake.httpStatus == 500 && ErrorCategory.failure.httpStatus == 500)
        }
    }

    @Test(.database(.sql(schema))) func aForeignKeySaysWhatIsMissing() async throws {
        try await withDatabase { database, context, other in
            let missing = await expectError(.constraintViolation) {
                try await context.create("album", ["id": 7, "artist_id": 99])
            }
            #expect(
                missing?.message.hasSuffix(
                    "there is no row of public.artist that its foreign key (artist_id) refers to") == true,
                "\(missing?.message ?? "")")
            #expect(missing?.key == "artist_id")
            let own = await expectError(.constraintViolation) {
                try await context.create("album", ["id": 7, "artist_id": 1, "parent_id": 99])
            }
            #expect(
                own?.message.hasSuffix("there is no row of public.album that its foreign key (parent_id) refers to")
                    == true, "\(own?.message ?? "")")
            let artist = try #require(try await context.find("artist", 1))
            let held = await expectError(.constraintViolation) { try await artist.setValue(5, forKey: "id") }
            #expect(held?.message.hasSuffix("rows of public.album still refer to it") == true, "\(held?.message ?? "")")
        }
    }

    @Test(.database(.sql(schema))) func wordsOfSQLInAConditionAreExplained() async throws {
        try await withDatabase { database, context, other in
            let artists = try context.fetch("artist")
            func message(_ format: String, _ code: KindredError.Code = .invalidCondition) async -> String {
                await expectError(code) { _ = try artists.where(format) }?.message ?? ""
            }
            #expect(await message("name ILIKE 'a*'").contains("LIKE[c] ignores case"))
            #expect(await message("name IS NULL").contains("== nil is true for NULL"))
            #expect(
                await message("name == Queen", .unknownKey).contains("a text is written in quotes, or given for %@"))
        }
    }

    @Test(.database(.sql(schema))) func aFailedTransactionNamesConstraintAndLine() async throws {
        try await withDatabase { database, context, other in
            do {
                try await context.transaction {
                    // The error is swallowed, and the next statement meets it.
                    _ = try? await context.query("INSERT INTO artist VALUES (1, 'x')")
                    try await context.query("SELECT 1")
                }
                Issue.record("no error")
            } catch let error as PostgresError {
                #expect(error.code == .transactionAborted)
                #expect(error.message.contains("FormErrorTests.swift:"), "\(error.message)")
                #expect(error.message.contains("by the constraint \"artist_pkey\""), "\(error.message)")
            }
        }
    }

    @Test(.database(.sql(schema))) func aServerThatRefusesAConnectionWasReached() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.database = "there is none of this name"
        do {
            let database = try await Database.connect(configuration)
            await database.close()
            Issue.record("no error")
        } catch let error as PostgresError {
            #expect(
                error.message.contains("refused the connection") && !error.message.contains("cannot be reached"),
                "\(error.message)")
        }
    }

    @Test(
        .database(
            "CREATE TABLE text (id integer PRIMARY KEY, body text, words tsvector); INSERT INTO text VALUES (1, 'The running dogs', to_tsvector('english', 'The running dogs')); CREATE INDEX body_index ON text USING gin (to_tsvector('english', body));"
        ))
    func aSearchNamesItsConfiguration() async throws {
        try await withDatabase { database, context, other in
            let texts = try context.fetch("text")
            #expect(try await texts.where("body SEARCH[english] 'dog run'").count() == 1)
            #expect(try await texts.where("body SEARCH[simple] 'dog run'").count() == 0)
            #expect(try await texts.where("body SEARCH[pg_catalog.simple] %@", "dogs").count() == 1)
            #expect(try await texts.where("words SEARCH[english] 'dog'").count() == 1)
            #expect(try await texts.where("words SEARCH[simple] 'running'").count() == 0)
            #expect(
                try texts.where("body SEARCH[english] 'dog'").sql.hasSuffix(
                    "to_tsvector('english'::regconfig, t0.\"body\") @@ websearch_to_tsquery('english'::regconfig, $1)"))
            await expectError(.invalidCondition) { _ = try texts.where("body SEARCH['x'] 'dog'") }
            // The index over the same configuration serves it.
            let plan = try await context.transaction {
                try await context.query("SET LOCAL enable_seqscan = off")
                return try await texts.where("body SEARCH[english] 'dog'").explain()
            }
            #expect(plan.contains("body_index"), "\(plan)")
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE person (id integer PRIMARY KEY, email text, "a, b" text, part text, age smallint, price numeric(4, 2),
                fee numeric(4, 2), code varchar(3), code2 varchar(3));
            CREATE UNIQUE INDEX email ON person (lower(email));
            CREATE UNIQUE INDEX pair ON person (lower(part), (age + 1));
            CREATE UNIQUE INDEX odd ON person ("a, b");
            CREATE TABLE log (email text, stamp text UNIQUE, code integer);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN IF NEW.part = 'log' THEN INSERT INTO log (stamp) VALUES ('once'); END IF; RETURN NEW; END $$;
            CREATE TRIGGER note BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION note();
            INSERT INTO person (id, email, "a, b", part, age) VALUES (1, 'A@x', 'x', 'p', 1), (2, 'b@x', 'y', 'log', 2);
            """))
    func theKeyIsAnAttributeOrNone() async throws {
        try await withDatabase { (database, context, other) async throws in
            for (values, key) in [
                (["email": "a@X"], nil), (["part": "P", "age": 1], nil), (["a, b": "x"], "a, b"),
                (["part": "log"], nil),
            ] as [([String: (any PropertyValue)?], String?)] {
                let created = await expectError(.constraintViolation) {
                    try await context.create("person", values.merging(["id": 9]) { own, _ in own })
                }
                #expect(created?.key == key && created?.problems.first?.key == key, "\(created?.key ?? "none")")
                try context.add("person", values.merging(["id": 9]) { own, _ in own })
                let saved = await expectError(.constraintViolation) { try await context.save() }
                #expect(saved?.key == key && saved?.problems.first?.key == key, "\(saved?.key ?? "none")")
                context.rollback()
            }
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE item (id integer PRIMARY KEY, age smallint, price numeric(4, 2), fee numeric(4, 2), code varchar(3),
                name varchar(3));
            INSERT INTO item (id) VALUES (1);
            """))
    func aConstantOutOfRangeNamesItsKey() async throws {
        try await withDatabase { (database, context, other) async throws in
            let item = try #require(try await context.find("item", 1))
            for (key, value) in [
                ("age", 70_000), ("price", 1_000), ("fee", PostgresNumeric("99.999")), ("code", "long"),
            ]
                as [(String, any PropertyValue)]
            {
                let calls: [() async throws -> Void] = [
                    { _ = try await context.create("item", ["id": 2, key: value]) },
                    { _ = try await context.upsert("item", ["id": 1, key: value], on: "id") },
                    { try await item.setValue(value, forKey: key) },
                    { _ = try await context.fetch("item").update([key: value]) },
                    { _ = try await context.fetch("item").limit(1).update([key: value]) },
                    {
                        let new = try context.add("item", ["id": 2])
                        new[key] = try value.propertyContent.plain
                        defer { context.rollback() }
                        try await context.save()
                    },
                ]
                for (number, call) in calls.enumerated() {
                    do {
                        try await call()
                        Issue.record("\(key), call \(number): no error")
                    } catch let error as KindredError {
                        #expect(
                            error.key == key && [.wrongType, .valueTooLarge].contains(error.code), "\(number): \(error)"
                        )
                        #expect(error.problems.allSatisfy { $0.key == key }, "\(number)")
                    }
                }
            }
            for text in ["70000", "1 * 70000"] {
                let error = await expectError(text == "70000" ? .wrongType : .valueTooLarge) {
                    _ = try await context.fetch("item").update(["age": Formula(text)])
                }
                #expect(text != "70000" || error?.key == "age")
            }
            #expect(try await context.fetch("item").where("age = 70000").count() == 0)
            #expect(
                try await other.value("SELECT count(*) FROM item WHERE num_nonnulls(age, price, fee, code) > 0") == 0)
        }
    }
}

extension DatabaseObject.PropertyContent {
    fileprivate var plain: PostgresValue? {
        if case .value(let value) = self { value } else { nil }
    }
}
