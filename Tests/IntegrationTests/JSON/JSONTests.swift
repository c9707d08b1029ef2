import Foundation
import Kindred
import KindredTesting
import Testing

/// Objects, sets and views of them as JSON.
@Suite struct JSONTests {
    private static func text(_ value: some Encodable, _ keys: DatabaseObject.JSONKeys = .columns) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.userInfo[.jsonKeys] = keys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let schema = """
        CREATE TABLE author (id integer PRIMARY KEY, name text NOT NULL, mentor_id integer CONSTRAINT mentor REFERENCES author);
        CREATE TABLE book (id integer PRIMARY KEY, title text NOT NULL, price numeric(8, 2),
            author_id integer CONSTRAINT author REFERENCES author);
        CREATE TABLE tag (id integer PRIMARY KEY, label text NOT NULL);
        CREATE TABLE book_tag (book_id integer CONSTRAINT tags REFERENCES book, tag_id integer CONSTRAINT books REFERENCES tag,
            PRIMARY KEY (book_id, tag_id));
        COMMENT ON CONSTRAINT author ON book IS '@kindred {"inverse": "books"}';
        COMMENT ON CONSTRAINT mentor ON author IS '@kindred {"inverse": "pupils"}';
        COMMENT ON TABLE author IS '@kindred {"optimisticLocking": "xmin"}';
        INSERT INTO author SELECT i, 'Author ' || i, CASE WHEN i > 1 THEN 1 END FROM generate_series(1, 20) i;
        UPDATE author SET mentor_id = 2 WHERE id = 1;
        INSERT INTO book SELECT i, 'Book ' || i, i / 10.0, CASE WHEN i % 10 > 0 THEN i % 20 + 1 END
            FROM generate_series(1, 200) i;
        INSERT INTO tag SELECT i, 'Tag ' || i FROM generate_series(1, 5) i;
        INSERT INTO book_tag SELECT i, i % 5 + 1 FROM generate_series(1, 200) i;
        """

    @Test(.database(.sql(schema))) func anObjectIsItsAttributes() async throws {
        try await withDatabase { (database, context, other) async throws in
            let book = try #require(try await context.find("book", 7))
            _ = try await book.value(forKey: "author")
            #expect(try Self.text(book) == #"{"author_id":8,"id":7,"price":"0.70","title":"Book 7"}"#)
            // The system column that tells versions apart is the library's own.
            let author = try #require(try await context.find("author", 3))
            author["name"] = "Ö \"x\""
            #expect(try Self.text(author) == #"{"id":3,"mentor_id":1,"name":"Ö \"x\""}"#)
            #expect(try Self.text([try #require(try await context.find("book", 10))]).contains(#""author_id":null"#))
        }
    }

    @Test(.database(.sql(schema))) func aSetIsItsLoadedMembers() async throws {
        try await withDatabase { (database, context, other) async throws in
            let author = try #require(try await context.find("author", 3))
            let books = try await author.set(forKey: "books")
            try await expectStatements([]) { () async throws in
                #expect(throws: EncodingError.self) { try Self.text(books) }
            }
            _ = try await books.objects
            try await expectStatements([]) { () async throws in
                let text = try Self.text(books)
                #expect(text.hasPrefix(#"[{"author_id":3,"id":2,"#) && text.filter { $0 == "{" }.count == 10)
            }
        }
    }

    @Test(.database(.sql(schema))) func aViewPicksToAnyDepthWithAQueryForEachRelationship() async throws {
        try await withDatabase { (database, context, other) async throws in
            let request = try context.fetch("book").sorted("id")
            let (views, recorder) = try await recordingStatements {
                try await request.views("title", "author.name", "author.books.id", "author.books.tags.label", "tags")
            }
            // The books; their authors, the authors' books, the tags of those; the tags of the first ones are known by then or
            // are asked for by one more.
            #expect(recorder.statements.count == 5, "\(recorder.statements)")
            #expect(views.count == 200)
            let (text, after) = try await recordingStatements { try Self.text(views[6]) }
            #expect(after.statements.isEmpty)
            #expect(
                text.hasPrefix(
                    #"{"author":{"books":[{"id":7,"tags":[{"label":"Tag 3"}]},{"id":27,"#), "\(text)")
            #expect(
                text.hasSuffix(#""name":"Author 8"},"tags":[{"id":3,"label":"Tag 3"}],"title":"Book 7"}"#), "\(text)")
            #expect(try Self.text(views[9]).hasPrefix(#"{"author":null,"tags":[{"#))
        }
    }

    @Test(.database(.sql(schema))) func aCircleEndsWhereThePathsEnd() async throws {
        try await withDatabase { (database, context, other) async throws in
            // The two are each other's mentors.
            let author = try #require(try await context.find("author", 1))
            let view = try await author.view("id", "mentor.mentor.mentor.id")
            #expect(try Self.text(view) == #"{"id":1,"mentor":{"mentor":{"mentor":{"id":2}}}}"#)
            let deep = Array(repeating: "mentor", count: 40).joined(separator: ".")
            await expectError(.invalidRequest) { _ = try await author.view(deep) }
        }
    }

    @Test(.database(.sql(schema))) func whatAViewCannotShowIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { (database, context, other) async throws in
            try await expectStatements([]) { () async throws in
                let books = try context.fetch("book")
                await expectError(.unknownKey) { _ = try await books.views("titel") }
                await expectError(.unknownKey) { _ = try await books.views("title.length") }
                await expectError(.unknownKey) { _ = try await books.views("author.*.name") }
            }
        }
    }

    @Test(.database(.sql(schema))) func allAttributesAndPagesAndNewObjectsHaveViews() async throws {
        try await withDatabase { (database, context, other) async throws in
            let page = try await context.fetch("book").page(size: 2)
            let (views, recorder) = try await recordingStatements { try await page.views("*", "author") }
            #expect(recorder.statements.count == 1)
            #expect(
                try Self.text(views[0])
                    == #"{"author":{"id":2,"mentor_id":1,"name":"Author 2"},"author_id":2,"id":1,"price":"0.10","title":"Book 1"}"#
            )
            let new = try context.add("book", ["id": 500, "title": "New", "author_id": 2])
            #expect(
                try Self.text(try await new.view("title", "author.name", "tags"))
                    == #"{"author":{"name":"Author 2"},"tags":[],"title":"New"}"#)
            #expect(try Self.text(try await context.views(of: [])) == "[]")
        }
    }

    private static let values = """
        CREATE TYPE mood AS ENUM ('happy', 'sad');
        CREATE TYPE spot AS (street text, floor integer, at timestamptz);
        CREATE TABLE thing (id integer PRIMARY KEY, flag boolean, big bigint, ratio real, score double precision, price numeric,
            label text, data bytea, born date, at time, seen timestamp, moment timestamptz, lasting interval, token uuid, doc jsonb,
            raw json, source inet, cost money, numbers integer[], matrix integer[], span int4range, mood mood, place spot,
            bits bit(4), moods mood[]);
        INSERT INTO thing VALUES (1, true, 9223372036854775807, 0.1, 'NaN', 12345678901234567890.10, E'a"b\\u00e9', '\\x00ff',
            '2024-02-29', '12:34:56.5', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56+02', '1 day 02:00:00',
            'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{"a": [1, 2.50, null, true, "x"]}', '{"b" : 1e400}', '10.0.0.1', 12.5,
            '{1,NULL,3}', '{{1,2},{3,4}}', '[1,5)', 'sad', ROW('Main, "St"', 3, '2024-01-01 00:00Z'), B'0101', '{happy,NULL}');
        INSERT INTO thing (id, score, moment, seen, price) VALUES
            (2, '-Infinity', 'infinity', '0044-03-15 BC', 'NaN'), (3, 0.1, '12024-01-01Z', '2024-01-01', '-Infinity');
        """

    @Test(.database(.sql(values))) func valuesOfAllTypesAreJSON() async throws {
        try await withDatabase { (database, context, other) async throws in
            let things = try await context.fetch("thing").sorted("id").all()
            things[0]["raw"] = .json(PostgresJSON(text: #"{"b": 1e300}"#))
            let expected = [
                #""at":"12:34:56.5""#, #""big":9223372036854775807"#, #""bits":"0101""#, #""born":"2024-02-29""#,
                #""cost":"$12.50""#, #""data":"AP8=""#, #""doc":{"a":[1,2.5,null,true,"x"]}"#, #""flag":true"#,
                #""label":"a\"bé""#, #""lasting":"1 day 02:00:00""#, #""matrix":[[1,2],[3,4]]"#,
                #""moment":"2024-02-29T10:34:56Z""#, #""mood":"sad""#, #""moods":["happy",null]"#,
                #""numbers":[1,null,3]"#,
                #""place":{"at":"2024-01-01T00:00:00Z","floor":3,"street":"Main, \"St\""}"#,
                #""price":"12345678901234567890.10""#, #""ratio":0.1"#, #""raw":{"b":1e+300}"#, #""score":"NaN""#,
                #""seen":"2024-02-29T12:34:56.789""#, #""source":"10.0.0.1""#, #""span":"[1,5)""#,
                #""token":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#,
            ]
            let text = try Self.text(things[0])
            for part in expected { #expect(text.contains(part), "\(part) in \(text)") }
            let second = try Self.text(things[1])
            for part in [
                #""score":"-Infinity""#, #""moment":"infinity""#, #""seen":"0044-03-15 00:00:00 BC""#,
                #""price":"NaN""#,
            ] {
                #expect(second.contains(part), "\(second)")
            }
            #expect(try Self.text(things[2]).contains(#""moment":"12024-01-01 00:00:00+00""#))
        }
    }

    @Test(.database(.sql(values))) func whatIsWrittenIsReadAgainByAPatch() async throws {
        try await withDatabase { (database, context, other) async throws in
            for id in [1, 2, 3] {
                let thing = try #require(try await context.find("thing", id))
                if id == 1 { try await thing.setValue(PostgresJSON(text: #"{"b": [1, {"c": null}]}"#), forKey: "raw") }
                let patch = try ObjectPatch(json: try Self.text(thing).utf8)
                try thing.apply(patch)
                // The document's spaces are all that may differ.
                #expect(Set(thing.stagedValues.keys).isSubset(of: ["doc", "raw"]), "\(thing.stagedValues)")
                try await context.save()
            }
            // A second row from nothing but the text.
            let first = try #require(try await context.find("thing", 1))
            let text = try Self.text(first).replacing(#""id":1,"#, with: #""id":9,"#)
            let copy = try context.add("thing", try ObjectPatch(json: text.utf8))
            try await context.save()
            #expect(
                try await other.value(
                    "SELECT count(*) FROM thing a, thing b WHERE a.id = 1 AND b.id = 9 AND to_jsonb(a) - 'id' = to_jsonb(b) - 'id'"
                ) == 1)
            #expect(try Self.text(copy) == text)
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE doc (id integer PRIMARY KEY, j json, b jsonb);
            INSERT INTO doc VALUES (1, '{"a": [1e400, -1e400, 1.5, "1e400", "\\"1e400"], "b": null}', '{"n": 1e310, "t": "x"}');
            """))
    func numbersThatSwiftDoesNotHoldAreStrings() async throws {
        try await withDatabase { (database, context, other) async throws in
            let doc = try #require(try await context.find("doc", 1))
            let digits = try #require(
                try await other.query("SELECT b ->> 'n' FROM doc").first?.decode(0, as: String.self))
            #expect(digits.count == 311)
            #expect(
                try Self.text(doc)
                    == #"{"b":{"n":"\#(digits)","t":"x"},"id":1,"j":{"a":["1e400","-1e400",1.5,"1e400","\"1e400"],"b":null}}"#
            )
        }
    }

    @Test(.database("CREATE TABLE sum (id integer PRIMARY KEY, amount numeric, amounts numeric[], ratio float8)"))
    func aNumberOfMoreDigitsThanADecoderKeepsIsStoredWithAllOfThem() async throws {
        try await withDatabase { (database, context, other) async throws in
            func patch(_ text: String) throws -> ObjectPatch {
                try ObjectPatch(json: text.utf8)
            }
            let long = "0.1234567890123456789012345678901234567890123"
            try context.add("sum", try patch(#"{"id": 1, "amount": \#(long), "amounts": [1, -\#(long)]}"#))
            try context.add("sum", try patch(#"{"id": 2, "amount": "\#(long)", "ratio": \#(long)}"#))
            try await context.save()
            #expect(try await other.values("SELECT amount::text FROM sum") == [.string(long), .string(long)])
            #expect(try await other.value("SELECT amounts::text FROM sum WHERE id = 1") == .string("{1,-\(long)}"))
        }
    }
}
