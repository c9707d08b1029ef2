import Kindred
import KindredTesting
import Testing

/// Numbers of patches: what the server makes of the text that the client sent, or its refusal.
@Suite struct PatchNumberTests {
    private static let many = "0.1234567890123456789012345678901234567890123456789"

    /// The types `amount` and `points` are unknown to the library, as extensions' types are.
    private static let schema = """
        CREATE TYPE amount;
        CREATE FUNCTION amount_in(cstring) RETURNS amount IMMUTABLE STRICT LANGUAGE internal AS 'int4in';
        CREATE FUNCTION amount_out(amount) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'int4out';
        CREATE TYPE amount (INPUT = amount_in, OUTPUT = amount_out, LIKE = int4, CATEGORY = 'N');
        CREATE TYPE points;
        CREATE FUNCTION points_in(cstring) RETURNS points IMMUTABLE STRICT LANGUAGE internal AS 'textin';
        CREATE FUNCTION points_out(points) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
        CREATE TYPE points (INPUT = points_in, OUTPUT = points_out, LIKE = text);
        CREATE DOMAIN rate AS real;
        CREATE TYPE pair AS (x real, y numeric);
        CREATE TABLE thing (id integer PRIMARY KEY, i2 smallint, i4 integer, i8 bigint, o oid, f4 real, f8 double precision,
            n numeric, rate rate, f4s real[], pair pair, j json, jb jsonb, jbs jsonb[], amount amount, points points,
            t text, b boolean, d date, u uuid, m money, bits bit(4), cost numeric(6, 2));
        INSERT INTO thing (id) VALUES (1);
        """

    private static let numbers = [
        "0", "-0", "5", "-7", "1.50", "0.1", "300.00", "40000", "70000", "3000000000", "-3000000000", "1e3", "1e-7",
        "1e20",
        "1e38", "1e39", "-1e39", "1e-45", "1e-46", "1e-60", "1e300", "1e308", "1e309", "-1e309", "1e-320", "1e-400",
        "1e400",
        "16777217", "9007199254740993", "9223372036854775807", "9223372036854775808", "99999999999999999999",
        "0.30000001192092895508", "1.00000017881393432617187499",
        "123456789012345678901234567890123456789012345678901234567890",
        many, "1" + String(repeating: "0", count: 200), "12345678901234567890.12345678901234567890123456789e100",
    ]

    private static func patch(_ text: String) throws -> ObjectPatch {
        try ObjectPatch(json: text.utf8)
    }

    /// Applies a patch and saves: the code of the refusal, or nil.
    private static func code(
        _ text: String, to thing: DatabaseObject, in context: DatabaseContext
    ) async throws -> KindredError.Code? {
        do {
            try thing.apply(try patch(text))
            try await context.save()
            return nil
        } catch let error as KindredError {
            context.rollback()
            return error.problems.first?.code ?? error.code
        }
    }

    @Test(.database(.sql(schema))) func aNumberIsWhatTheServerMakesOfItsTextOrItsRefusal() async throws {
        try await withDatabase { (database, context, other) async throws in
            let thing = try await context.get("thing", 1)
            try await other.query(
                """
                CREATE FUNCTION read(number text, type text) RETURNS text LANGUAGE plpgsql AS $$
                DECLARE result text;
                BEGIN EXECUTE format('SELECT (%L::%s)::text', number, type) INTO result; RETURN result;
                EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$
                """)
            let columns = [
                "f4": "real", "f8": "double precision", "n": "numeric", "rate": "rate", "j": "json", "jb": "jsonb",
            ]
            for number in Self.numbers {
                for (column, type) in columns {
                    let right = try await other.value("SELECT read(\(number), \(type))")?.description
                    let code = try await Self.code(#"{"\#(column)": \#(number)}"#, to: thing, in: context)
                    let stored = try await other.value(
                        "SELECT \(unsafeRaw: column)::text FROM thing")?.description
                    if right == "22003" {
                        #expect(code == .valueTooLarge && stored == nil, "\(number) in \(column)")
                    } else {
                        #expect(code == nil && stored == right, "\(number) in \(column): \(right ?? "-")")
                    }
                    thing[column] = nil
                    try await context.save()
                }
            }
        }
    }

    @Test(.database(.sql(schema))) func wholeNumbersAreStoredOrOutOfRange() async throws {
        try await withDatabase { (database, context, other) async throws in
            let thing = try await context.get("thing", 1)
            let ends: [(String, String, String)] = [
                ("i2", "-32768", "32768"), ("i4", "2147483647", "-2147483649"),
                ("i8", "-9223372036854775808", "9223372036854775808"), ("o", "4294967295", "-1"),
                ("i8", "300.00", "1e300"),
                ("i8", "1e18", "99999999999999999999"), ("amount", "2147483647", "2147483648"),
            ]
            for (column, last, beyond) in ends {
                #expect(try await Self.code(#"{"\#(column)": \#(last)}"#, to: thing, in: context) == nil, "\(last)")
                #expect(
                    try await other.value("SELECT \(unsafeRaw: column)::text::numeric = \(last)::numeric FROM thing")
                        == true, "\(column): \(last)")
                let code = try await Self.code(#"{"\#(column)": \#(beyond)}"#, to: thing, in: context)
                #expect(code == .valueTooLarge, "\(column): \(beyond)")
            }
            #expect(try await Self.code(#"{"i4": 1.5}"#, to: thing, in: context) == .wrongType)
            #expect(try await Self.code(#"{"cost": 12345.6}"#, to: thing, in: context) == .valueTooLarge)
            for column in ["t", "b", "d", "u", "m", "bits", "points", "pair"] {
                #expect(
                    try await Self.code(#"{"\#(column)": 1}"#, to: thing, in: context) == .wrongType, "\(column)")
            }
        }
    }

    @Test(.database(.sql(schema))) func numbersWithinValuesKeepTheirText() async throws {
        try await withDatabase { (database, context, other) async throws in
            let thing = try await context.get("thing", 1)
            let long = Self.many
            let patch = """
                {"f4s": [16777217, 0.30000001192092895508, null], "pair": {"x": 0.1, "y": \(long)}, "points": [1.50, 300.00],
                 "j": {"b": [\(long), 1e400, "x/\\u00e9\\n\\"", true, null], "a": 12.50}, "jbs": [\(long), {"a": 1e-400}]}
                """
            #expect(try await Self.code(patch, to: thing, in: context) == nil)
            #expect(
                try await other.value("SELECT f4s = '{16777217,0.30000001192092895508,NULL}'::real[] FROM thing")
                    == true)
            #expect(try await other.value("SELECT pair = ROW(0.1::real, \(long)::numeric)::pair FROM thing") == true)
            #expect(try await other.value("SELECT points::text FROM thing") == "[1.50,300.00]")
            #expect(
                try await other.value("SELECT j::text FROM thing")?.description
                    == #"{"b":[\#(long),1e400,"x/\u00e9\n\"",true,null],"a":12.50}"#)
            #expect(
                try await other.value("SELECT jbs = ARRAY[\(long), '{\"a\": 1e-400}']::jsonb[] FROM thing") == true)
            for patch in [#"{"f4s": [1, 1e39]}"#, #"{"pair": {"x": 1e-60, "y": 1}}"#] {
                #expect(try await Self.code(patch, to: thing, in: context) == .valueTooLarge, "\(patch)")
            }
        }
    }
}
