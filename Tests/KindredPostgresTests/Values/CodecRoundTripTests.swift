import Testing

@testable import KindredPostgres

@Suite struct CodecRoundTripTests {
    // A literal of unknown type cannot be written; every other type can.
    private static let writableTypes = codecTypes.filter { $0 != .unknown }

    @Test(arguments: writableTypes) func binaryFormKeepsEveryValue(_ type: PostgresDataType) throws {
        var values = RandomValues(seed: UInt64(type.rawValue))
        for _ in 0..<150 {
            let value = values.value(of: type)
            let (bytes, format) = try Codec.encoded(value, as: type)
            #expect(format == .binary)
            let back = try Codec.decoded(bytes, as: type, .binary)
            #expect(back == value && back.description == value.description, "\(type): \(value)")
        }
    }

    @Test(arguments: writableTypes) func textFormKeepsEveryValue(_ type: PostgresDataType) throws {
        var values = RandomValues(seed: UInt64(type.rawValue) + 1)
        for _ in 0..<150 {
            let value = values.value(of: type)
            let back = try Codec.decoded(text: value.description, as: type)
            #expect(back == value && back.description == value.description, "\(type): \(value)")
        }
    }

    @Test(arguments: writableTypes) func bytesCutShortOrTooLongAreNoValue(_ type: PostgresDataType) throws {
        var values = RandomValues(seed: UInt64(type.rawValue) + 2)
        let isText = [.text, .varchar, .bpchar, .name, .xml, .json, .jsonb, .bytea].contains(type)
        for _ in 0..<20 where !isText {
            let bytes = try Codec.encoded(values.value(of: type), as: type).bytes
            for count in 0..<bytes.count {
                #expect(throws: PostgresError.self) { try Codec.decoded(Array(bytes[..<count]), as: type, .binary) }
            }
            #expect(throws: PostgresError.self) { try Codec.decoded(bytes + [0], as: type, .binary) }
        }
    }
}
