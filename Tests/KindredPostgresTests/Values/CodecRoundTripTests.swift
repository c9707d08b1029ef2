import KindredPostgres
import TestSupport
import Testing

@Suite struct CodecRoundTripTests {
    @Test(arguments: RandomValue.scalars)
    func everyValueComesBackInBinaryForm(type: PostgresDataType) throws {
        var generator = SeededGenerator(seed: UInt64(type.rawValue))
        for _ in 0..<2000 {
            let value = RandomValue.value(of: type, &generator)
            #expect(try encoded(value, as: type) == value, "\(type)")
        }
    }

    @Test(arguments: RandomValue.scalars)
    func everyValueComesBackFromItsText(type: PostgresDataType) throws {
        var generator = SeededGenerator(seed: UInt64(type.rawValue))
        for _ in 0..<2000 {
            let value = RandomValue.value(of: type, &generator)
            let text = value.description
            #expect(try decoded(Array(text.utf8), type, .text) == value, "\(type): \(text)")
        }
    }

    @Test(arguments: RandomValue.scalars.filter { $0.arrayType != nil })
    func everyArrayComesBackInBothForms(type: PostgresDataType) throws {
        let arrayType = try #require(type.arrayType)
        var generator = SeededGenerator(seed: UInt64(type.rawValue))
        for _ in 0..<300 {
            let value = PostgresValue.array(RandomValue.array(of: type, &generator))
            #expect(try encoded(value, as: arrayType) == value, "\(type)")
            let text = value.description
            #expect(try decoded(Array(text.utf8), arrayType, .text) == value, "\(type): \(text)")
        }
    }

    @Test(arguments: RandomValue.scalars)
    func bytesCutShortOrTooLongAreNoValue(type: PostgresDataType) throws {
        let isText = [.text, .varchar, .bpchar, .name, .xml, .json, .jsonb, .bytea, .jsonpath].contains(type)
        var generator = SeededGenerator(seed: UInt64(type.rawValue))
        for _ in 0..<20 where !isText {
            var bytes: [UInt8] = []
            _ = try Codec.encode(RandomValue.value(of: type, &generator), as: type, into: &bytes)
            for end in bytes.indices { expectDecodingFailed { try decoded(Array(bytes[..<end]), type) } }
            expectDecodingFailed { try decoded(bytes + [0], type) }
        }
    }

    @Test func numericsKeepTheirScale() throws {
        for text in ["1.00", "0.000", "-12.3400", "100", "0.00000000000000000000"] {
            let number = try #require(PostgresNumeric(text))
            guard case .numeric(let back) = try encoded(.numeric(number), as: .numeric) else {
                Issue.record("no numeric came back")
                return
            }
            #expect(back.description == text)
        }
    }

    @Test func signsAndPayloadsOfFloatsAreKept() throws {
        guard case .double(let zero) = try encoded(.double(-0.0), as: .float8) else { return }
        #expect(zero.sign == .minus)
        let odd = Double(bitPattern: 0x7FF8_0000_DEAD_BEEF)
        guard case .double(let nan) = try encoded(.double(odd), as: .float8) else { return }
        #expect(nan.bitPattern == odd.bitPattern)
    }

    /// Writes a value and reads it again.
    private func encoded(_ value: PostgresValue, as type: PostgresDataType) throws -> PostgresValue {
        var bytes: [UInt8] = []
        let format = try Codec.encode(value, as: type, into: &bytes)
        #expect(format == .binary)
        return try decoded(bytes, type, format)
    }
}

/// Reads a value from bytes that stand at an odd address.
func decoded(
    _ bytes: [UInt8],
    _ type: PostgresDataType,
    _ format: PostgresFormat = .binary,
    types: TypeRegistry? = nil
) throws -> PostgresValue {
    try ([0] + bytes).withBytes {
        try Codec.decode(ByteView(rebasing: $0.dropFirst()), type: type, format: format, types: types)
    }
}
