import Foundation
import KindredPostgres
import Testing

/// Each value in a column of another type becomes exactly the expected value, or an error.
@Suite struct ConversionTests {
    @Test(
        arguments: [
            (5, .int2, 5), (5, .int4, 5), (5, .oid, 5), (5, .numeric, .numeric(5)), (5, .float8, 5.0),
            (5, .float4, .float(5)),
            (.numeric(7), .int4, 7), (7.0, .int2, 7), (.float(-7), .int8, -7), (.float(0.5), .float8, 0.5),
            (0.1, .float4, .float(0.1)), (0.1, .numeric, numeric("0.1")), (.float(0.1), .numeric, numeric("0.1")),
            (numeric("0.1"), .float8, 0.1), (numeric("0.10"), .float4, .float(0.1)),
            (.numeric(.infinity), .float8, .double(.infinity)),
            (.double(.nan), .numeric, .numeric(.notANumber)), (.double(.infinity), .float4, .float(.infinity)),
            ("a", .varchar, "a"), ("a", .bpchar, "a"), ("a", .name, "a"), ("a", .char, "a"), ("", .char, ""),
            ("\\377", .char, "\\377"),
            ("{}", .json, json("{}")), (json("[1]"), .json, json("[1]")), ("2024-02-29", .date, date("2024-02-29")),
            (timestamp("2024-02-29 00:00:00"), .date, date("2024-02-29")),
            (.timestamp(.infinity), .date, .date(.infinity)),
            (.timestampTZ(.negativeInfinity), .date, .date(.negativeInfinity)),
            (date("2024-02-29"), .timestamp, timestamp("2024-02-29 00:00:00")),
            (.date(.negativeInfinity), .timestamp, .timestamp(.negativeInfinity)),
            (timestamp("2024-02-29 12:00:00"), .timestamptz, timestampTZ("2024-02-29 12:00:00")),
            (timestampTZ("2024-02-29 12:00:00"), .timestamp, timestamp("2024-02-29 12:00:00")),
            ("2024-02-29T12:00:00+01:00", .timestamptz, timestampTZ("2024-02-29 11:00:00")),
            ("12:34", .time, .time(PostgresTime(hour: 12, minute: 34)!)),
            ("2 days", .interval, .interval(PostgresInterval(days: 2))),
            (
                "550E8400-e29b-41d4-a716-446655440000", .uuid,
                .uuid(UUID(uuidString: "550e8400-e29b-41d4-a716-446655440000")!)
            ),
            (
                .array(PostgresArray(elementType: .int8, elements: [1, nil])), .int2Array,
                .array(PostgresArray(elementType: .int2, elements: [1, nil]))
            ),
            (
                .array(PostgresArray(elementType: .text, elements: ["2024-02-29"])), .dateArray,
                .array(PostgresArray(elementType: .date, elements: [date("2024-02-29")]))
            ),
        ] as [(PostgresValue, PostgresDataType, PostgresValue)])
    func whatIsExactIsConverted(value: PostgresValue, type: PostgresDataType, expected: PostgresValue) throws {
        var bytes: [UInt8] = []
        #expect(try Codec.encode(value, as: type, into: &bytes) == .binary)
        #expect(try decoded(bytes, type) == expected)
    }

    @Test(
        arguments: [
            // Out of the range
            (32_768, .int2), (-32_769, .int2), (2_147_483_648, .int4), (-1, .oid), (4_294_967_296, .oid),
            (1e300, .float4),
            (numeric("9223372036854775808"), .int8), (1e19, .int8), (.double(.nan), .int4), (.double(.infinity), .int8),
            // Beyond the precision
            (0.5, .int4), (numeric("1.5"), .int8), (9_007_199_254_740_993, .float8), (16_777_217, .float4),
            (16_777_217.0, .float4),
            (.double(1.0 / 3), .float4), (numeric("0.1000000000000000055511151231257827"), .float8),
            (numeric("1e400"), .float8),
            (numeric("1e-400"), .float8), (numeric("0.12345678901"), .float4),
            (timestamp("2024-02-29 00:00:00.000001"), .date),
            (date("5874897-12-31"), .timestamp), ("ab", .char), ("\u{0}", .char), ("é", .char), ("\\077", .char),
            ("\\999", .char),
            // Another kind of value
            ("5", .int4), ("5", .numeric), ("1.5", .float8), ("t", .bool), (1, .bool), (true, .int4), (5, .text),
            (true, .text),
            (.bytes([1]), .text), ("\\x01", .bytea), (json("{}"), .text), (.uuid(UUID()), .text),
            (.uuid(UUID()), .bytea),
            (.time(.midnight), .timetz), (.time(.midnight), .interval), (date("2024-01-01"), .time), (5, .date),
            (5, .json),
            (5, .interval), (5, .uuid), (.array(PostgresArray(elementType: .int4, elements: [1])), .int4),
            (5, .int4Array), ("{1}", .int4Array),
            (.array(PostgresArray(elementType: .text, elements: ["x"])), .int4Array),
            // Texts that spell nothing
            ("yesterday", .date), ("2024-02-30", .date), ("2024-01-01 12:00+02", .timestamp), ("25:00", .time),
            ("12:00", .timetz),
            ("soon", .interval), ("{550e8400-e29b-41d4-a716-446655440000}", .uuid),
            ("550e8400e29b41d4a716446655440000", .uuid), ("", .uuid),
        ] as [(PostgresValue, PostgresDataType)])
    func everythingElseIsAnErrorNamingBothTypes(value: PostgresValue, type: PostgresDataType) throws {
        var bytes: [UInt8] = []
        let error = try #require(expectError(.invalidParameter) { try Codec.encode(value, as: type, into: &bytes) })
        #expect(error.message.contains((type.elementType ?? type).description), "\(error.message)")
        #expect(error.message.contains(value.kindName) || type.elementType != nil, "\(error.message)")
    }

    @Test func errorsDoNotShowTheValue() throws {
        var bytes: [UInt8] = []
        for (value, type) in [("s3cr3t", .date), (31_415_926_535, .int2), (27.1828, .int4)]
            as [(PostgresValue, PostgresDataType)]
        {
            let error = try #require(expectError(.invalidParameter) { try Codec.encode(value, as: type, into: &bytes) })
            for text in [error.description, error.debugDescription, String(reflecting: error)] {
                #expect(!text.contains(value.description), "\(text)")
            }
        }
    }

    @Test func textWithANULIsAnErrorForEveryType() {
        for type: PostgresDataType in [
            .text, .varchar, .bpchar, .name, .json, .jsonb, .xml, PostgresDataType(rawValue: 70_000),
        ] {
            var bytes: [UInt8] = []
            expectError(.invalidParameter) { try Codec.encode("ab\u{0}cd", as: type, into: &bytes) }
        }
        var bytes: [UInt8] = []
        let array = PostgresArray(elementType: .text, elements: ["a\u{0}"])
        expectError(.invalidParameter) { try Codec.encode(.array(array), as: .textArray, into: &bytes) }
        expectError(.invalidParameter) {
            try Codec.encode(.array(array), as: PostgresDataType(rawValue: 70_001), into: &bytes)
        }
    }

    @Test(arguments: [#""\u0000""#, #"{"a\u0000": 1}"#, #"["\\\u0000"]"#])
    func anEscapedNULInJSONIsRefusedWherePostgreSQLCannotStoreIt(text: String) throws {
        var bytes: [UInt8] = []
        for value in [PostgresValue.json(PostgresJSON(text: text)), .string(text)] {
            expectError(.invalidParameter) { try Codec.encode(value, as: .jsonb, into: &bytes) }
        }
        let array = PostgresArray(elementType: .jsonb, elements: [.json(PostgresJSON(text: text))])
        expectError(.invalidParameter) { try Codec.encode(.array(array), as: .jsonbArray, into: &bytes) }
        // The type json keeps the text as it is.
        #expect(throws: Never.self) { try Codec.encode(.string(text), as: .json, into: &bytes) }
    }

    @Test(arguments: [#""\\u0000""#, #""\u0001\\\\u0000""#, #""u0000 \" u0000""#, "\"\\"])
    func whatOnlyLooksLikeAnEscapedNULIsTaken(text: String) {
        var bytes: [UInt8] = []
        #expect(throws: Never.self) { try Codec.encode(.string(text), as: .jsonb, into: &bytes) }
        #expect(bytes == [1] + Array(text.utf8))
    }

    @Test func typesOfTheCatalogAreFollowed() throws {
        let types = TypeRegistry()
        let (mood, moods) = (PostgresDataType(rawValue: 70_000), PostgresDataType(rawValue: 70_001))
        let (age, ages) = (PostgresDataType(rawValue: 70_002), PostgresDataType(rawValue: 70_003))
        let year = PostgresDataType(rawValue: 70_004)
        types.register(mood, as: .textLike)
        types.register(moods, as: .array(element: mood))
        types.register(age, as: .domain(base: .int4))
        types.register(ages, as: .array(element: age))
        types.register(year, as: .domain(base: age))
        let values: [(PostgresValue, PostgresDataType)] = [
            ("happy", mood), (.array(PostgresArray(elementType: mood, elements: ["sad", nil])), moods), (5, age),
            (5, year),
            (.array(PostgresArray(elementType: age, elements: [5, nil])), ages),
        ]
        for (value, type) in values {
            #expect(types.isKnown(type))
            var bytes: [UInt8] = []
            #expect(try Codec.encode(value, as: type, types: types, into: &bytes) == .binary)
            #expect(try decoded(bytes, type, types: types) == value)
            #expect(try decoded(Array(value.description.utf8), type, .text, types: types) == value)
        }
        var bytes: [UInt8] = []
        expectError(.invalidParameter) { try Codec.encode(5, as: mood, types: types, into: &bytes) }
        expectError(.invalidParameter) { try Codec.encode("five", as: year, types: types, into: &bytes) }
    }

    @Test func unknownTypesAreKeptAsTheyCame() throws {
        let unknown = PostgresDataType(rawValue: 70_009)
        guard case .other(let raw) = try decoded(Array("10.0.0.1".utf8), unknown, .text) else {
            Issue.record("it was read as something")
            return
        }
        #expect(raw.text == "10.0.0.1" && raw.dataType == unknown && raw.format == .text)
        var bytes: [UInt8] = []
        #expect(try Codec.encode(.other(raw), as: unknown, into: &bytes) == .text)
        #expect(bytes == Array("10.0.0.1".utf8))
        expectError(.invalidParameter) { try Codec.encode(.other(raw), as: .text, into: &bytes) }
        bytes = []
        #expect(try Codec.encode("10.0.0.1", as: unknown, into: &bytes) == .text)
        guard case .other(let binary) = try decoded([2, 32, 0, 4], unknown) else { return }
        #expect(binary.text == nil && binary.bytes == [2, 32, 0, 4])
    }
}

private func numeric(_ text: String) -> PostgresValue { .numeric(PostgresNumeric(text)!) }
private func json(_ text: String) -> PostgresValue { .json(PostgresJSON(text: text)) }
private func date(_ text: String) -> PostgresValue { .date(PostgresDate(text)!) }
private func timestamp(_ text: String) -> PostgresValue { .timestamp(PostgresTimestamp(text)!) }
private func timestampTZ(_ text: String) -> PostgresValue { .timestampTZ(PostgresTimestamp(text)!) }
