import Kindred
import KindredTesting
import Testing

/// Objects by key, with values of every kind that a key may have.
@Suite struct FindTests {
    private static let keys = """
        CREATE DOMAIN code AS integer CHECK (VALUE > 0);
        CREATE TABLE small (id smallint PRIMARY KEY);
        CREATE TABLE middle (id integer PRIMARY KEY);
        CREATE TABLE large (id bigint PRIMARY KEY);
        CREATE TABLE coded (note text, id code PRIMARY KEY);
        CREATE TABLE amount (id numeric(6, 2) PRIMARY KEY);
        CREATE TABLE word (note text, id text PRIMARY KEY);
        CREATE TABLE seat (row integer, number smallint, PRIMARY KEY (number, row));
        CREATE TABLE place (row integer, code text, PRIMARY KEY (row, code));
        CREATE TABLE guest (id integer PRIMARY KEY, row integer, code text, FOREIGN KEY (row, code) REFERENCES place);
        CREATE VIEW heap AS SELECT 1 AS id;
        INSERT INTO small VALUES (-32768), (32767);
        INSERT INTO middle VALUES (-2147483648), (2147483647);
        INSERT INTO large VALUES (-9223372036854775808), (9223372036854775807);
        INSERT INTO coded VALUES (NULL, 7);
        INSERT INTO amount VALUES (1.50);
        INSERT INTO word VALUES (NULL, '7');
        INSERT INTO seat VALUES (1, 2);
        INSERT INTO place VALUES (1, 'a'), (1, 'b');
        """

    @Test(.database(.sql(keys))) func integersOfEveryWidthAreFoundUpToTheirLimits() async throws {
        try await withDatabase { database, context, other in
            for (name, limits) in [
                ("small", Int(Int16.min)...Int(Int16.max)), ("middle", Int(Int32.min)...Int(Int32.max)),
                ("large", Int.min...Int.max),
            ] {
                for limit in [limits.lowerBound, limits.upperBound] {
                    let found = try #require(await context.find(name, limit))
                    #expect(found["id"] == .integer(Int64(limit)))
                    #expect(try await context.find(name, limit) === found)
                }
                #expect(try await context.find(name, 1) == nil)
            }
            #expect(try await context.find("small", Int16(-32_768))?["id"] == -32_768)
            #expect(try await context.find("coded", 7)?["id"] == 7)
        }
    }

    @Test(.database(.sql(keys))) func whatDoesNotFitTheKeyIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { _ = try await context.find("small", 32_768) }
                await expectError(.wrongType) { _ = try await context.find("small", -32_769) }
                await expectError(.wrongType) { _ = try await context.find("middle", 1 << 31) }
                await expectError(.wrongType) { _ = try await context.find("coded", 1 << 31) }
                await expectError(.wrongType) { _ = try await context.find("middle", "7") }
                await expectError(.wrongType) { _ = try await context.find("large", 1.5) }
                await expectError(.wrongType) { _ = try await context.find("word", 7) }
                await expectError(.invalidRequest) { _ = try await context.find("middle", 1, 2) }
                await expectError(.invalidRequest) { _ = try await context.find("seat", 1) }
                await expectError(.readOnly) { _ = try await context.find("heap", 1) }
                await expectError(.unknownEntity) { _ = try await context.find("larg", 1) }
            }
        }
    }

    @Test(.database(.sql(keys))) func getThrowsWhereThereIsNoRow() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["SELECT"]) { () async throws in
                let found = try await context.get("word", "7")
                let again = try await context.get("word", "7")
                #expect(found["id"] == "7" && again === found)
            }
            try await expectStatements(["SELECT"]) { () async throws in
                let error = await expectError(.notFound) { _ = try await context.get("seat", 9, 9) }
                #expect(error?.category == .notFound && error?.entity == "public.seat")
            }
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try await context.get("seat", 1) }
                await expectError(.wrongType) { _ = try await context.get("middle", [1, 2]) }
            }
        }
    }

    @Test(.database(.sql(keys))) func keysAreEqualWhereTheDatabaseHoldsThemEqual() async throws {
        try await withDatabase { database, context, other in
            let amount = try #require(await context.find("amount", PostgresNumeric("1.5")))
            #expect(try await context.find("amount", PostgresNumeric("1.500")) === amount)
            #expect(try await context.find("word", "7")?["id"] == "7")
            // In the order of the key's columns.
            #expect(try await context.find("seat", 2, 1)?["row"] == 1)
            #expect(try await context.find("seat", 1, 2) == nil)
        }
    }

    @Test(.database(.sql(keys))) func anArrayOfKeysIsOneStatement() async throws {
        try await withDatabase { database, context, other in
            _ = try await other.query("INSERT INTO middle SELECT generate_series(1, 2000)")
            let first = try #require(try await context.find("middle", 7))
            try await expectStatements(["SELECT"]) { () async throws in
                let found = try await context.find("middle", [9, 7, 8, 5000, 7])
                #expect(found.map { $0["id"] } == [9, 7, 8] && found[1] === first)
                // Objects in memory are not read again.
                #expect(try await context.find("middle", [7, 9]).count == 2)
                #expect(try await context.find("middle", [] as [Int]) == [])
            }
            let ids = Array(1...2000)
            try await expectStatements(["SELECT"]) { () async throws in
                let all: [DatabaseObject] = try await context.find("middle", ids)
                #expect(all.map { $0["id"] } == ids.map { .integer(Int64($0)) })
            }
            #expect(try await context.find("word", ["7", "8"]).count == 1)
            #expect(try await context.find("amount", [PostgresNumeric("1.500")]).count == 1)
        }
    }

    @Test(.database(.sql(keys))) func keysOfSeveralColumnsAreArrays() async throws {
        try await withDatabase { database, context, other in
            _ = try await other.query("INSERT INTO seat VALUES (1, 3), (5, 2)")
            try await expectStatements(["SELECT"]) { () async throws in
                let found = try await context.find("seat", [[3, 1], [2, 1], [9, 9]])
                #expect(found.map { $0["number"] } == [3, 2])
            }
            let mixed: [[any PropertyValue]] = [[1, "b"], [1, "a"]]
            #expect(try await context.find("place", mixed).map { $0["code"] } == ["b", "a"])
            #expect(try await context.find("place", [[1, "b"], [2, "b"]]).count == 1)
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try await context.find("seat", [3, 1]) }
                await expectError(.invalidRequest) { _ = try await context.find("middle", [[1, 2]]) }
                await expectError(.wrongType) { _ = try await context.find("middle", ["a"]) }
                await expectError(.wrongType) { _ = try await context.find("place", [["a", "b"]]) }
                await expectError(.readOnly) { _ = try await context.find("heap", [1]) }
            }
        }
    }

    @Test(.database(.sql(keys))) func objectsThatWereFoundTogetherStayTogether() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.find("seat", [[2, 1], [3, 1]])
            #expect(seats.count == 1)
            let places = try await context.find("place", [[1, "a"], [1, "b"]])
            try await expectStatements(["SELECT"]) { () async throws in
                for place in places { _ = try await place.set(forKey: "guestSet").objects }
            }
        }
    }
}
