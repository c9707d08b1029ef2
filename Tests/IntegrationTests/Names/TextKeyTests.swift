import Kindred
import KindredLive
import KindredTesting
import Testing

private let wordSchema = """
    CREATE TABLE shelf (id bigint PRIMARY KEY);
    CREATE TABLE word (
        spelling text PRIMARY KEY, code text NOT NULL UNIQUE, kind text NOT NULL, shelf_id bigint REFERENCES shelf);
    COMMENT ON TABLE word IS '@kindred {"filter": "kind IN {\\"\(Spelling.composed)\\", \\"plain\\"}"}';
    CREATE TABLE note (id bigint PRIMARY KEY, word_spelling text NOT NULL REFERENCES word ON UPDATE CASCADE, kind text NOT NULL);
    INSERT INTO shelf VALUES (1);
    INSERT INTO word VALUES ('\(Spelling.composed)', '\(Spelling.composed)', 'plain', 1), ('\(Spelling.decomposed)', '\(Spelling.decomposed)', 'plain', 1), ('cafe', 'cafe', 'plain', 1);
    INSERT INTO note VALUES (1, '\(Spelling.composed)', '\(Spelling.composed)'), (2, '\(Spelling.decomposed)', '\(Spelling.decomposed)'), (3, '\(Spelling.decomposed)', '\(Spelling.composed)'), (4, 'cafe', '\(Spelling.decomposed)');
    """

/// Texts that are two spellings of one word as keys of objects, in conditions, lists, orders, sections, filters and unique claims.
@Suite(.database(.sql(wordSchema)), .timeLimit(.minutes(10))) struct TextKeyTests {
    private static let (c, d) = (Spelling.composed, Spelling.decomposed)

    @Test func eachSpellingIsAnObject() async throws {
        try await withDatabase { _, context, other in
            let words = try await context.fetch("word").sorted("spelling").all()
            let right = try await other.values("SELECT spelling FROM word ORDER BY spelling")
            #expect(words.map { $0["spelling"] } == right)
            let (first, second) = (try await context.get("word", Self.c), try await context.get("word", Self.d))
            #expect(first !== second && first["code"] == .string(Self.c) && second["code"] == .string(Self.d))
            #expect(Set(words.compactMap(\.objectID)).count == 3)
            for (word, spelling) in [(first, Self.c), (second, Self.d)] {
                #expect(try await context.get(try #require(word.objectID)) === word)
                let right = try await other.values("SELECT id FROM note WHERE word_spelling = \(spelling) ORDER BY id")
                let notes = try await word.set(forKey: "noteSet").sorted("id").all()
                #expect(notes.map { $0["id"] } == right)
            }
            _ = try await context.upsert(
                "word", Spelling.both.map { ["spelling": $0, "code": $0, "kind": "plain"] },
                on: "spelling")
            #expect(try await other.value("SELECT count(*) FROM word") == 3)
            // A key that becomes another spelling of a word is another key, in memory too.
            let plain = try await context.get("word", "cafe")
            try await plain.setValue("\u{e9}", forKey: "spelling")
            #expect(try await context.find("word", "e\u{301}") == nil)
            #expect(try await context.find("word", "\u{e9}") === plain)
        }
    }

    @Test func conditionsFindWhatTheServerFinds() async throws {
        try await withDatabase { _, context, other in
            for (format, sql) in [
                ("spelling == %@", "spelling = $"), ("spelling < %@", "spelling < $"),
                ("spelling >= %@", "spelling >= $"),
                ("spelling BEGINSWITH %@", "starts_with(spelling, $)"),
                ("NOT spelling IN %@", "NOT spelling = ANY (ARRAY[$])"),
                ("spelling IN %@", "spelling = ANY (ARRAY[$])"),
                ("ANY noteSet.kind == %@", "spelling IN (SELECT word_spelling FROM note WHERE kind = $)"),
            ] {
                for text in Spelling.both + ["cafe"] {
                    var value: any PropertyValue = text
                    if format.contains(" IN ") { value = [text] }
                    let found = try await context.fetch("word").where(format, value).sorted("spelling").all()
                    let right = try await other.values(
                        SQL(
                            unsafeRaw:
                                "SELECT spelling FROM word WHERE \(sql.replacing("$", with: "'\(text)'")) ORDER BY spelling"
                        ))
                    #expect(found.map { $0["spelling"] } == right, "\(format) \(Array(text.utf8))")
                }
            }
            let groups = try await context.fetch("note").group(by: "kind", aggregates: .count).all()
            #expect(Set(groups.map { $0["kind"] }).count == 2)
        }
    }

    @Test func memoryTellsThemApartInFiltersAndOrders() async throws {
        try await withDatabase { _, context, other in
            let shelf = try await context.get("shelf", 1)
            let set = try await shelf.set(forKey: "wordSet")
            #expect(try await set.objects.count == 3)
            let word = try await context.get("word", Self.c)
            try await word.setValue(Self.d, forKey: "kind")
            #expect(try await set.objects.count == 2)
            try await word.setValue(Self.c, forKey: "kind")
            #expect(try await set.objects.count == 3)
            #expect(try await other.value("SELECT count(*) FROM word WHERE kind IN (\(Self.c), 'plain')") == 3)
        }
    }

    @Test func uniqueTextsGoFromOneToTheOther() async throws {
        try await withDatabase { _, context, other in
            let (first, second) = (try await context.get("word", Self.c), try await context.get("word", Self.d))
            first["code"] = "gone"
            second["code"] = .string(Self.c)
            try await context.save()
            let codes = try await other.values("SELECT code FROM word ORDER BY spelling COLLATE \"C\"")
            #expect(codes == ["cafe", .string(Self.c), "gone"])
            // A new object may have a value that no other object has by its bytes.
            let plain = try await context.get("word", "cafe")
            plain["code"] = "e\u{301}"
            try context.add("word", ["spelling": "new", "code": "\u{e9}", "kind": "plain"])
            try context.add("word", ["spelling": "\u{e9}", "code": "a", "kind": "plain"])
            try context.add("word", ["spelling": "e\u{301}", "code": "b", "kind": "plain"])
            try await context.save()
            #expect(try await other.value("SELECT count(DISTINCT code) FROM word") == 6)
        }
    }

    @Test func liveListsAndSectionsFollowThem() async throws {
        try await withLive("note", "word") { _, context, other in
            var equal = try await context.fetch("note").where("kind == %@", Self.c).sorted("id").live()
                .makeAsyncIterator()
            #expect(try await equal.update().integers() == [1, 3])
            let live = try await context.fetch("note").sorted("kind").sorted("id").live()
            var sections = try live.sections(by: "kind").makeAsyncIterator()
            func ids(_ update: LiveSectionsUpdate<DatabaseObject>) -> Set<[PostgresValue?]> {
                Set(update.sections.map { $0.objects.map { $0["id"] } })
            }
            var update = try #require(try await sections.next())
            #expect(ids(update) == [[.integer(2), .integer(4)], [.integer(1), .integer(3)]])
            try await other.query("UPDATE note SET kind = \(Self.d) WHERE id = 3")
            #expect(try await equal.update().integers() == [1])
            update = try #require(try await sections.next())
            #expect(ids(update) == [[.integer(2), .integer(3), .integer(4)], [.integer(1)]])
        }
    }
}
