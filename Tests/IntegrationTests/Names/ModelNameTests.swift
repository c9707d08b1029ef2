import Kindred
import KindredTesting
import Testing

private let spelledSchema = """
    CREATE TABLE pair ("\(Spelling.composed)" text, "\(Spelling.decomposed)" text, n integer NOT NULL DEFAULT 0, PRIMARY KEY ("\(Spelling.composed)", "\(Spelling.decomposed)"));
    CREATE TABLE use (
        id bigint PRIMARY KEY, a text, b text,
        CONSTRAINT "\(Spelling.composed)" FOREIGN KEY (a, b) REFERENCES pair, CONSTRAINT "\(Spelling.decomposed)" CHECK (a <> 'z'));
    CREATE TABLE "\(Spelling.composed)" (id bigint PRIMARY KEY, "\(Spelling.composed)" integer NOT NULL DEFAULT 0, "\(Spelling.decomposed)" integer NOT NULL DEFAULT 0);
    CREATE TABLE "\(Spelling.decomposed)" (LIKE "\(Spelling.composed)" INCLUDING ALL);
    CREATE SCHEMA "\(Spelling.composed)";
    CREATE SCHEMA "\(Spelling.decomposed)";
    CREATE TABLE "\(Spelling.composed)".t (id bigint PRIMARY KEY);
    CREATE TABLE "\(Spelling.decomposed)".t (id bigint PRIMARY KEY);
    INSERT INTO pair VALUES ('1', '2'), ('2', '1'), ('1', '1');
    INSERT INTO use VALUES (1, '1', '2'), (2, '2', '1'), (3, '1', '1'), (4, NULL, NULL);
    INSERT INTO "\(Spelling.composed)" VALUES (1, 10, 20);
    INSERT INTO "\(Spelling.decomposed)" VALUES (1, 30, 40), (2, 50, 60);
    INSERT INTO "\(Spelling.composed)".t VALUES (1);
    INSERT INTO "\(Spelling.decomposed)".t VALUES (1), (2);
    """

/// Schemas, tables, columns and constraints whose names are two spellings of one word, and texts that are such spellings: each stands
/// for itself, as in the server.
@Suite(.database(.sql(spelledSchema))) struct ModelNameTests {
    private static let (c, d) = (Spelling.composed, Spelling.decomposed)

    @Test func tablesAndColumnsAreFoundByTheirBytes() async throws {
        try await withDatabase { database, context, other in
            #expect(try await context.fetch(Self.c).count() == 1)
            #expect(try await context.fetch(Self.d).count() == 2)
            let object = try await context.get(Self.d, 1)
            #expect(object[Self.c] == .integer(30) && object[Self.d] == .integer(40))
            try await object.setValue(41, forKey: Self.d)
            object[Self.c] = .integer(31)
            try await context.save()
            try await context.fetch(Self.d).where("%K == 50", Self.c).update([Self.d: 61])
            #expect(
                try await other.values("SELECT ROW (t.*)::text FROM \(identifier: Self.d) AS t ORDER BY id")
                    == ["(1,31,41)", "(2,50,61)"])
            #expect(try await other.value("SELECT ROW (t.*)::text FROM \(identifier: Self.c) AS t") == "(1,10,20)")
            let rows = try await context.fetch(Self.d).sorted(Self.d, ascending: false).all()
            #expect(rows.map { $0["id"] } == [.integer(2), .integer(1)])
        }
    }

    @Test func schemasAreFoundByTheirBytes() async throws {
        try await withDatabase { plain, _, _ in
            var configuration = plain.client.configuration
            configuration.searchPath = Spelling.both
            try await lend(try await Database.connect(configuration)) { database in
                let context = database.makeContext()
                let all = try await context.fetch("t").count()
                #expect(all == 1)
                for (name, count) in zip(Spelling.both, [1, 2]) {
                    let found = try await context.fetch("\(name).t").count()
                    #expect(found == count)
                }
                // The first schema of the path decides.
                let found = try database.schema.entity(named: "t").name.schema
                #expect(found.utf8.elementsEqual(Self.c.utf8))
            }
        }
    }

    @Test func columnsOfAReferencedKeyAreTakenFromTheOwnRow() async throws {
        try await withDatabase { database, context, other in
            let name = try #require(try database.schema.entity(named: "use").relationships.first?.name)
            for (column, own) in [(Self.c, "a"), (Self.d, "b")] {
                for value in ["1", "2"] {
                    let found = try await context.fetch("use").where("%K == %@", "\(name).\(column)", value).sorted(
                        "id"
                    ).all()
                    let right = try await other.values(
                        "SELECT id FROM use WHERE \(identifier: own) = \(value) ORDER BY id")
                    #expect(found.map { $0["id"] } == right, "\(own) = \(value)")
                }
            }
            let use = try await context.get("use", 1)
            let end = try #require(try await use.object(forKey: name))
            #expect(end[Self.c] == "1" && end[Self.d] == "2")
            await #expect(throws: KindredError.self) { try await use.setValue("z", forKey: "a") }
        }
    }
}
