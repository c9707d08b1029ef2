import Foundation
import Kindred
import KindredTesting
import Testing

/// Texts that Swift holds equal and PostgreSQL does not, because their bytes differ, are two texts.
@Suite(
    .database(
        .sql(
            """
            CREATE EXTENSION hstore;
            CREATE TYPE word AS ENUM (U&'\\00E9', 'a');
            CREATE TABLE thing (id integer PRIMARY KEY, name text UNIQUE, store hstore, words tsvector, query tsquery,
                doc jsonb, label word, names text[]);
            CREATE TABLE place (name text PRIMARY KEY, size integer);
            CREATE TABLE visit (id integer PRIMARY KEY, place text CONSTRAINT place REFERENCES place);
            COMMENT ON CONSTRAINT place ON visit IS '@kindred {"inverse": "visits"}';
            INSERT INTO place VALUES (U&'\\00E9', 1), (U&'e\\0301', 2);
            INSERT INTO visit VALUES (1, U&'\\00E9'), (2, U&'e\\0301');
            INSERT INTO thing VALUES (1, U&'\\00E9', hstore(ARRAY[U&'\\00E9', U&'e\\0301'], ARRAY['1', '2']),
                to_tsvector('simple', U&'\\00E9'), to_tsquery('simple', U&'\\00E9'), '{}', 'a', ARRAY[U&'\\00E9']);
            """)))
struct CanonicalTextTests {
    private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")

    @Test func keysOfStoresStay() async throws {
        try await withDatabase { (database, context, other) async throws in
            let thing = try #require(try await context.find("thing", 1))
            guard case .hstore(let store)? = thing["store"] else { return #expect(Bool(false)) }
            #expect(store.entries.count == 2 && store[Self.composed] == "1" && store[Self.decomposed] == "2")
            let entries = store.entries + [("a", nil)]
            try await thing.setValue(PostgresHStore(entries: entries), forKey: "store")
            #expect(try await other.value("SELECT array_length(akeys(store), 1) FROM thing") == 3)
            thing["store"] = .hstore(PostgresHStore(entries: [(Self.decomposed, Self.composed)]))
            try await context.save()
            thing["store"] = .hstore(PostgresHStore(entries: [(Self.composed, Self.composed)]))
            #expect(thing.hasStagedChanges)
            try await context.save()
            #expect(try await other.value("SELECT store ? U&'\\00E9' FROM thing") == true)
            #expect(PostgresHStore([Self.composed: nil]) != PostgresHStore([Self.decomposed: nil]))
            #expect(PostgresHStore(["a": Self.composed]) != PostgresHStore(["a": Self.decomposed]))
            #expect(PostgresHStore(entries: [("a", "1"), ("a", "2")]) == ["a": "2"])
            #expect(PostgresHStore(#""a"=>"1", "b"=>NULL"#) == ["b": nil, "a": "1"])
        }
    }

    @Test func changesBetweenThemAreWritten() async throws {
        try await withDatabase { (database, context, other) async throws in
            let thing = try #require(try await context.find("thing", 1))
            for key in ["name", "words", "query", "names"] { thing[key] = Self.value(key, Self.decomposed) }
            #expect(Set(thing.stagedValues.keys) == ["name", "words", "query", "names"])
            try await context.save()
            #expect(
                try await other.value(
                    """
                    SELECT name = U&'e\\0301' AND names = ARRAY[U&'e\\0301'] AND words = array_to_tsvector(ARRAY[U&'e\\0301'])
                        AND query::text = U&'''e\\0301''' FROM thing
                    """) == true)
            for key in ["words", "query", "names"] {
                #expect(Self.value(key, Self.decomposed) != Self.value(key, Self.composed), "\(key)")
            }
            // The enum has one spelling only.
            thing["label"] = .string(Self.decomposed)
            await expectError(.unknownLabel) { try await context.save() }
            context.rollback()
            thing["label"] = .string(Self.composed)
            try await context.save()
        }
    }

    private static func value(_ key: String, _ text: String) -> PostgresValue? {
        switch key {
        case "words": PostgresTSVector("'\(text)'").map(PostgresValue.tsVector)
        case "query": (try? PostgresTSQuery.word(text)).map(PostgresValue.tsQuery)
        case "names": .array(PostgresArray(elementType: .text, elements: [.string(text)]))
        default: .string(text)
        }
    }

    @Test func rowsWithSuchKeysAreTwo() async throws {
        try await withDatabase { (database, context, other) async throws in
            let first = try #require(try await context.find("place", Self.composed))
            let second = try #require(try await context.find("place", Self.decomposed))
            #expect(first !== second && first["size"] == 1 && second["size"] == 2 && first.objectID != second.objectID)
            for (place, id) in [(first, 1), (second, 2)] {
                let visits = try await place.set(forKey: "visits").objects
                #expect(visits.map { $0["id"] } == [.integer(Int64(id))])
                let found = try await database.makeContext().get(try #require(place.objectID))
                #expect(found["size"] == place["size"])
            }
            // One takes the other's value in one save.
            let thing = try #require(try await context.find("thing", 1))
            thing["name"] = .string(Self.decomposed)
            try context.add("thing", ["id": 2, "name": Self.composed])
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM thing") == 2)
            #expect(try await context.fetch("thing").where("name = %@", Self.composed).one()["id"] == 2)
        }
    }
}
