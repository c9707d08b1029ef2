import Foundation
import KindredPostgres
import Testing

@Suite struct DecodableTests {
    enum Mood: String, PostgresEncodable, PostgresDecodable {
        case happy, sad
    }

    @Test func valuesAreReadAsTheirSwiftTypes() throws {
        #expect(try Int(postgresValue: 5) == 5)
        #expect(try Int8(postgresValue: -128) == -128)
        #expect(try UInt64(postgresValue: .numeric(PostgresNumeric(UInt64.max))) == .max)
        #expect(try Double(postgresValue: .float(0.5)) == 0.5)
        #expect(try Double(postgresValue: 9_007_199_254_740_992) == 9_007_199_254_740_992)
        #expect(try String(postgresValue: .json(PostgresJSON(text: "[ ]"))) == "[ ]")
        #expect(try Mood(postgresValue: "sad") == .sad)
        #expect(try Data(postgresValue: .bytes([1, 2])) == Data([1, 2]))
        #expect(try [UInt8](postgresValue: .bytes([1, 2])) == [1, 2])
        #expect(try [Int](postgresValue: .array(PostgresArray(elementType: .int4, elements: [1, 2]))) == [1, 2])
        #expect(try [String](postgresValue: .array(PostgresArray(elementType: .int4, elements: []))) == [])
        #expect(try Decimal(postgresValue: .numeric(12)) == 12)
        let date = Date(timeIntervalSince1970: 1_700_000_000.123456)
        #expect(try Date(postgresValue: #require(try date.postgresValue)).timeIntervalSince(date).magnitude < 1e-6)
    }

    @Test func whatDoesNotFitIsAnError() throws {
        expectDecodingFailed { try Int8(postgresValue: 128) }
        expectDecodingFailed { try UInt(postgresValue: -1) }
        expectDecodingFailed { try Int(postgresValue: "5") }
        expectDecodingFailed { try Int(postgresValue: 5.0) }
        expectDecodingFailed { try Double(postgresValue: 9_007_199_254_740_993) }
        expectDecodingFailed { try Float(postgresValue: 16_777_217) }
        expectDecodingFailed { try Float(postgresValue: 0.5) }
        expectDecodingFailed { try Double(postgresValue: .numeric(1)) }
        expectDecodingFailed { try Decimal(postgresValue: .numeric(.notANumber)) }
        expectDecodingFailed { try Bool(postgresValue: 1) }
        expectDecodingFailed { try String(postgresValue: 1) }
        expectDecodingFailed { try Mood(postgresValue: "angry") }
        expectDecodingFailed { try Date(postgresValue: .timestampTZ(.infinity)) }
        // Without time zone it is taken as UTC.
        let day = try Date(postgresValue: .timestamp(#require(PostgresTimestamp("2024-01-01"))))
        #expect(day.timeIntervalSince1970 == 1_704_067_200)
        expectDecodingFailed { try Date(postgresValue: .string("2024-01-01")) }
        expectDecodingFailed {
            try [Int](postgresValue: .array(PostgresArray(elementType: .int4, elements: [1, nil])))
        }
        let nested = try PostgresArray(
            elementType: .int4, dimensions: [.init(count: 1), .init(count: 1)], elements: [1])
        expectDecodingFailed { try [Int](postgresValue: .array(nested)) }
        let raw = try decoded([1, 2], PostgresDataType(rawValue: 70_009))
        expectDecodingFailed { try String(postgresValue: raw) }
    }

    @Test func swiftValuesBecomeTheirPostgresValues() throws {
        expectError(.invalidParameter) { try UInt64.max.postgresValue }
        #expect(try UInt64(5).postgresValue == 5)
        #expect(Mood.happy.encoded == "happy")
        #expect([1 as UInt8, 2].encoded == .bytes([1, 2]))
        #expect([1, nil].encoded == .array(PostgresArray(elementType: .int8, elements: [1, nil])))
        #expect([Int]().encoded == .array(PostgresArray(elementType: .int8, elements: [])))
        #expect([Mood]().encoded == .array(PostgresArray(elementType: .text, elements: [])))
        #expect([PostgresValue]().encoded == .array(PostgresArray(elementType: .unspecified, elements: [])))
        #expect("abc".dropFirst().encoded == "bc")
        #expect(Int?.none.encoded == nil)
        #expect(Int??.some(.none).encoded == nil)
        #expect(Data([1]).encoded == .bytes([1]))
    }

    @Test func jsonHoldsCodableValues() throws {
        struct Point: Codable, Equatable { var x: Int, y: Int }
        let json = try PostgresJSON(encoding: Point(x: 1, y: 2))
        #expect(try json.decode(Point.self) == Point(x: 1, y: 2))
        let error = expectError(.decodingFailed) {
            try PostgresJSON(text: #"{"x": "s3cr3t", "y": 2}"#).decode(Point.self)
        }
        #expect(error?.message.contains("Point") == true && error?.message.contains("x") == true)
        #expect(error?.debugDescription.contains("s3cr3t") == false)
        expectDecodingFailed { try PostgresJSON(text: "{").decode(Point.self) }
        expectError(.invalidParameter) { try PostgresJSON(encoding: Double.nan) }
    }

    @Test func stringsAreTheirBytes() {
        let (composed, decomposed) = (PostgresValue.string("\u{E9}"), PostgresValue.string("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, "a", "a"]).count == 3)
        #expect(PostgresJSON(text: "\"\u{E9}\"") != PostgresJSON(text: "\"e\u{301}\""))
        #expect(PostgresValue.double(.nan) == .double(.nan) && PostgresValue.double(0) == .double(-0.0))
        #expect(PostgresValue.double(0).hashValue == PostgresValue.double(-0.0).hashValue)
    }
}

extension PostgresEncodable {
    fileprivate var encoded: PostgresValue? { try? postgresValue }
}
