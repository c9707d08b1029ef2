import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE house (id integer PRIMARY KEY, "a.b" text, "no" integer, yes boolean, "self" integer, "not" integer);
    CREATE TABLE room (id integer PRIMARY KEY, name text, "the.house" integer CONSTRAINT "in.house" REFERENCES house);
    INSERT INTO house VALUES (1, 'Red', 1, true, 5, 6), (2, 'Blue', 2, false, 7, 8);
    INSERT INTO room VALUES (1, 'Hall', 1), (2, 'Attic', 2), (3, NULL, NULL);
    """

/// Keys that hold dots or are spelled like a word of the format, and `IN[c]`.
@Suite(.database(.sql(schema))) struct FormatKeyTests {
    private func ids(_ request: FetchRequest<DatabaseObject>) async throws -> [PostgresValue?] {
        try await request.sorted("id").all().map { $0["id"] }
    }

    @Test func aPathQuotesAKeyWithADot() async throws {
        try await withDatabase { (_, context, _) async throws in
            let rooms = try await context.fetch("room").sorted("id").prefetch(#""in.house""#).all()
            try await expectStatements([]) { () async throws in
                let value = try await rooms[0].value(forKeyPath: #""in.house"."a.b""#)
                #expect(value?.attribute == "Red")
                #expect(try await rooms[0].value(forKeyPath: #""in.house".id"#)?.attribute == 1)
            }
            let error = await expectError(.unknownKey) { _ = try await rooms[0].value(forKeyPath: "in.house") }
            #expect(error?.key == "in")
            for format in [
                #"#"in.house"."a.b" = 'Red'"#, #""in.house"."a.b" = 'Red'"#, #"'in.house'.'a.b' = 'Red'"#,
            ] {
                #expect(try await ids(context.fetch("room").where(format)) == [1], "\(format)")
            }
            #expect(try await ids(context.fetch("room").where("%K = %@", #""in.house"."a.b""#, "Blue")) == [2])
            #expect(try await ids(context.fetch("house").where(#"#"a.b" = "Blue""#)) == [2])
            let sorted = try await context.fetch("room").sorted(#""in.house"."a.b""#).all()
            #expect(sorted.map { $0["id"] } == [2, 1, 3])
            let selected = try await context.fetch("room").sorted("id").select(#""in.house"."a.b""#).all()
            #expect(selected.count == 3)
        }
    }

    @Test func aWordOfTheFormatThatIsAKeyGetsTheRemedy() async throws {
        try await withDatabase { (_, context, _) async throws in
            for word in ["no", "yes", "self"] {
                for format in ["\(word) = 1", "\(word) == nil", "id = 1 AND (\(word) != 1)", "\(word) IN {1}"] {
                    let error = await expectError(.invalidCondition) {
                        _ = try await ids(context.fetch("house").where(format))
                    }
                    #expect(
                        error?.message.contains("write \"#\(word)\" for the key") == true, "\(error?.message ?? "")")
                    #expect(error?.key == word && error?.entity == "public.house")
                }
            }
            let error = await expectError(.invalidCondition) {
                _ = try await ids(context.fetch("house").where("not = 6"))
            }
            #expect(error?.message.contains("write \"#not\" for a key of this name") == true, "\(error?.message ?? "")")
            #expect(
                try await ids(context.fetch("house").where("#no = 1 AND #yes = yes AND #self = 5 AND #not = 6")) == [1])
            // As values the words keep their meaning.
            #expect(try await ids(context.fetch("house").where("#yes = no")) == [2])
            #expect(try await ids(context.fetch("house").where("%K = 2", "no")) == [2])
            #expect(try await ids(context.fetch("room").where("no = yes")) == [])
        }
    }

    @Test func aTextIsFoundInATextWhateverTheCase() async throws {
        try await withDatabase { (_, context, _) async throws in
            func rooms(_ format: String, _ arguments: (any PropertyValue)?...) async throws -> [PostgresValue?] {
                try await ids(context.fetch("room").where(format, arguments: arguments))
            }
            #expect(try await rooms("'BB' IN[c] 'aabbccdd'") == [1, 2, 3])
            #expect(try await rooms("'BB' IN 'aabbccdd'") == [])
            #expect(try await rooms("'aL' IN[c] name") == [1])
            #expect(try await rooms("name IN[c] 'the HALL and the attic'") == [1, 2])
            #expect(try await rooms("name IN[c] {'hall', 'x'}") == [1])
            #expect(try await rooms("name IN[c] %@", ["ATTIC", "hall"]) == [1, 2])
            #expect(try await rooms("name IN[c] {'hall', nil}") == [1, 3])
            #expect(try await rooms("NOT name IN[c] {'hall'}") == [2, 3])
            #expect(try await rooms("name IN[c] {}") == [])
            #expect(try await rooms("name IN[c] {#\"in.house\".\"a.b\", 'ATTIC'}") == [2, 3])
            #expect(try await ids(context.fetch("house").where("'HALL' IN[c] roomSet.name")) == [1])
            #expect(try await rooms("'%' IN[c] 'ab'") == [])
            await expectError(.wrongType) { _ = try await rooms("id IN[c] {1}") }
            await expectError(.invalidCondition) { _ = try await rooms("name BETWEEN[c] {'a', 'b'}") }
        }
    }
}
