import Kindred
import KindredTesting
import Testing

private let fixture = """
    CREATE EXTENSION citext;
    CREATE EXTENSION hstore;
    CREATE TYPE address AS (street text, zip text);
    CREATE DOMAIN home AS address;
    CREATE DOMAIN homes AS address[];
    CREATE DOMAIN mail AS citext;
    CREATE TYPE span AS RANGE (subtype = float8);
    CREATE TABLE person (
        id int PRIMARY KEY, home address, second home, homes address[], more homes, mail mail, mails citext[], tags hstore, span span);
    INSERT INTO person (id, home, second, homes, mail, mails, tags, span) VALUES
        (1, ('Main', '1'), ('Side', '2'), '{"(Main,1)","(Side,)"}', 'Ann@Example.org', '{A,b}', 'a=>1', '[1,2]'),
        (2, ('Main', NULL), (NULL, NULL), '{"(,)",NULL}', 'bob@example.org', '{}', 'b=>2', '[2,3]'),
        (3, (NULL, NULL), NULL, '{}', NULL, NULL, NULL, NULL),
        (4, NULL, ('Side', NULL), NULL, 'x', '{c}', '', 'empty');
    CREATE TABLE zone (id int PRIMARY KEY, area box, spot point, ring circle, shape polygon, track path, edge lseg, spots point[]);
    INSERT INTO zone VALUES
        (1, '(1,1),(0,0)', '(1,2)', '<(0,0),1>', '((0,0),(1,0),(0,1))', '((0,0),(1,1))', '[(0,0),(1,1)]', '{"(1,2)"}'),
        (2, '(5,5),(4,4)', '(2,1)', '<(5,5),1>', '((0,0),(2,0),(0,2))', '((3,3),(4,4))', '[(0,0),(2,2)]', '{"(2,1)"}'),
        (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    """

/// Equality and missing values, for types for which PostgreSQL's `=` and `IS NULL` mean something else.
@Suite struct ConditionEqualityTests {
    private func ids(
        _ context: DatabaseContext, _ entity: String, _ condition: String, _ arguments: (any PropertyValue)?...
    ) async throws -> [PostgresValue?] {
        try await context.fetch(entity).where(condition, arguments: arguments).sorted("id").all().map { $0["id"] }
    }

    private func address(_ street: String?, _ zip: String?) -> PostgresValue {
        .composite(
            PostgresComposite([
                "street": street.map { .string($0) }, "zip": zip.map { .string($0) },
            ]))
    }

    @Test(.database(.sql(fixture))) func aCompositeWithMissingFieldsIsThere() async throws {
        try await withDatabase { database, context, other async throws in
            #expect(try await ids(context, "person", "home != nil") == [1, 2, 3])
            #expect(try await ids(context, "person", "home == nil") == [4])
            #expect(try await ids(context, "person", "NOT (home == nil)") == [1, 2, 3])
            #expect(try await ids(context, "person", "second == nil") == [3])
            #expect(try await ids(context, "person", "second != nil") == [1, 2, 4])
            #expect(try await ids(context, "person", "ANY homes == nil") == [2])
            #expect(try await ids(context, "person", "ANY homes != nil") == [1, 2])
            #expect(try await ids(context, "person", "ALL homes != nil AND homes.@count > 0") == [1])
            for id in 1...4 {
                let person = try #require(try await context.find("person", id))
                let found = try await ids(context, "person", "home != nil AND id == \(id)")
                #expect(found.isEmpty == (person["home"] == nil))
            }
        }
    }

    @Test(.database(.sql(fixture))) func compositesAreSoughtInListsAndArrays() async throws {
        try await withDatabase { database, context, other async throws in
            let (main, half, none) = (address("Main", "1"), address("Main", nil), address(nil, nil))
            #expect(try await ids(context, "person", "home == %@", main) == [1])
            #expect(try await ids(context, "person", "home IN %@", [main, none]) == [1, 3])
            #expect(try await ids(context, "person", "home IN %@", [half, nil]) == [2, 4])
            #expect(try await ids(context, "person", "second IN %@", [address("Side", "2")]) == [1])
            #expect(try await ids(context, "person", "ANY homes == %@", main) == [1])
            #expect(try await ids(context, "person", "ANY homes IN %@", [none, main]) == [1, 2])
            #expect(try await ids(context, "person", "homes CONTAINS %@", [main, address("Side", nil)]) == [1])
            #expect(try await ids(context, "person", "tags IN %@", [PostgresHStore(["a": "1"])]) == [1])
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { _ = try await ids(context, "person", "ANY more == %@", main) }
                await expectError(.wrongType) { _ = try await ids(context, "person", "ANY more IN %@", [main]) }
            }
            let spans = try #require(try await context.find("person", 2)?["span"])
            #expect(try await ids(context, "person", "span IN %@", [spans]) == [2])
        }
    }

    @Test(.database(.sql(fixture))) func pagesGoOverCompositesWithMissingFields() async throws {
        try await withDatabase { database, context, other async throws in
            let request = try context.fetch("person").sorted("home").sorted("id")
            let all = try await request.all().map { $0["id"] }
            var (seen, cursor): ([PostgresValue?], PageCursor?) = ([], nil)
            repeat {
                let page = try await request.page(size: 1, after: cursor)
                seen += page.objects.map { $0["id"] }
                cursor = page.next
            } while cursor != nil
            #expect(seen == all)
        }
    }

    @Test(.database(.sql(fixture))) func textsThatIgnoreCaseAreTextsInADomainToo() async throws {
        try await withDatabase { database, context, other async throws in
            #expect(try await ids(context, "person", "mail ENDSWITH %@", "EXAMPLE.ORG") == [1, 2])
            #expect(try await ids(context, "person", "mail LIKE %@", "ANN*") == [1])
            #expect(try await ids(context, "person", "mail == %@", "BOB@example.org") == [2])
            #expect(try await ids(context, "person", "mail IN %@", ["ann@example.org", "X"]) == [1, 4])
            #expect(try await ids(context, "person", "ANY mails BEGINSWITH %@", "B") == [1])
        }
    }

    @Test(.database(.sql(fixture))) func figuresAreComparedByTheirPlaces() async throws {
        try await withDatabase { database, context, other async throws in
            let zones = try await context.fetch("zone").sorted("id").all()
            for key in ["area", "spot", "ring", "shape", "edge"] {
                for (number, zone) in zones.prefix(2).enumerated() {
                    let value = try #require(zone[key])
                    let id = PostgresValue.integer(Int64(number + 1))
                    let others = [1, 2, 3].filter { $0 != number + 1 }.map { PostgresValue?.some(.integer(Int64($0))) }
                    #expect(try await ids(context, "zone", "\(key) == %@", value) == [id], "\(key)")
                    #expect(try await ids(context, "zone", "\(key) != %@", value) == others, "\(key)")
                    #expect(try await ids(context, "zone", "\(key) IN %@", [value]) == [id], "\(key)")
                    #expect(try await ids(context, "zone", "\(key) IN %@", [value, nil]) == [id, 3], "\(key)")
                }
                #expect(try await ids(context, "zone", "\(key) == \(key)") == [1, 2, 3], "\(key)")
                #expect(try await ids(context, "zone", "\(key) != \(key)") == [], "\(key)")
            }
            let spot = try #require(zones[0]["spot"])
            #expect(try await ids(context, "zone", "ANY spots == %@", spot) == [1])
            #expect(try await ids(context, "zone", "spots CONTAINS %@", spot) == [1])
            try await expectStatements([]) { () async throws in
                let track = try #require(zones[0]["track"])
                await expectError(.wrongType) { _ = try await ids(context, "zone", "track == %@", track) }
                await expectError(.wrongType) { _ = try await ids(context, "zone", "track IN %@", [track]) }
                let spots = try #require(zones[0]["spots"])
                await expectError(.wrongType) { _ = try await ids(context, "zone", "spots == %@", spots) }
            }
            #expect(try await ids(context, "zone", "track != nil AND spots != nil") == [1, 2])
        }
    }

    @Test(.database(.sql(fixture)))
    func regularExpressionsMayBeginWithOptionsAndHoldBrackets() async throws {
        try await withDatabase { database, context, other async throws in
            try await other.query("CREATE TABLE word (id int PRIMARY KEY, text text)")
            try await other.query("INSERT INTO word VALUES (1, 'ABC'), (2, 'a(]'), (3, 'abc' || chr(10) || 'x')")
        }
        try await withDatabase { database, context, other async throws in
            #expect(try await ids(context, "word", "text MATCHES %@", "(?i)abc") == [1])
            #expect(try await ids(context, "word", "text MATCHES %@", "(?n)abc") == [])
            #expect(try await ids(context, "word", "text MATCHES %@", "(?ix) a b c # letters") == [1])
            #expect(try await ids(context, "word", "text MATCHES %@", "[[:alpha:](]+[]]") == [2])
            #expect(try await ids(context, "word", "text MATCHES %@", "a[](]+") == [2])
            #expect(try await ids(context, "word", "text MATCHES %@", "(?:ABC)") == [1])
            #expect(try await ids(context, "word", "text MATCHES %@", "(?#:()ABC(?# [)") == [1])
            #expect(try await ids(context, "word", "text MATCHES %@", "(?x)A #[(\nBC") == [1])
            let open = ["a)|(b", "(?i)a)|(b", "[a", "[[:alpha:]", "(?#[)A)|(?:B(?:C])", "(?x)A #[\n)|(B]", "(?#"]
            for pattern in open + ["(?q)a", "(?b)a"] {
                await expectError(.invalidCondition) { _ = try await ids(context, "word", "text MATCHES %@", pattern) }
            }
        }
    }
}
