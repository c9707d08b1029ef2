import KindredPostgres
import TestSupport
import Testing

/// Bytes that no server should send are errors, never traps: the process survives this suite or it fails.
@Suite struct HostileBytesTests {
    private static let types: TypeRegistry = {
        let types = TypeRegistry()
        types.register(enumeration, as: .textLike)
        types.register(enumerations, as: .array(element: enumeration))
        types.register(domain, as: .domain(base: .int4Array))
        types.register(domains, as: .array(element: domain))
        types.register(composite, as: .composite(fields))
        types.register(composites, as: .array(element: composite))
        types.register(range, as: .range(bound: .text))
        types.register(multirange, as: .multirange(range: range))
        types.register(store, as: .hstore)
        types.register(vector, as: .vector)
        types.register(tree, as: .versionedText)
        // A catalog that makes no sense.
        types.register(circle, as: .domain(base: circle))
        types.register(circles, as: .array(element: circles))
        return types
    }()
    private static let enumeration = PostgresDataType(rawValue: 70_000)
    private static let enumerations = PostgresDataType(rawValue: 70_001)
    private static let domain = PostgresDataType(rawValue: 70_002)
    private static let domains = PostgresDataType(rawValue: 70_003)
    private static let circle = PostgresDataType(rawValue: 70_004)
    private static let circles = PostgresDataType(rawValue: 70_005)
    private static let composite = PostgresDataType(rawValue: 70_007)
    private static let composites = PostgresDataType(rawValue: 70_008)
    private static let range = PostgresDataType(rawValue: 70_009)
    private static let multirange = PostgresDataType(rawValue: 70_010)
    private static let store = PostgresDataType(rawValue: 70_011)
    private static let vector = PostgresDataType(rawValue: 70_012)
    private static let tree = PostgresDataType(rawValue: 70_013)
    private static let fields = [
        TypeRegistry.Field(name: "a", type: .text), TypeRegistry.Field(name: "b", type: .int4Array),
        TypeRegistry.Field(name: "c", type: range),
    ]
    private static let unknown = PostgresDataType(rawValue: 70_006)

    /// How many values of each type are damaged, chosen by `KINDRED_FUZZ` for all types and both formats together.
    private static let count = max(100, Fuzzing.count / (2 * RandomValue.scalars.count * 2))

    private static let all: [PostgresDataType] =
        RandomValue.scalars + RandomValue.scalars.compactMap(\.arrayType) + [.record]
        + [enumeration, enumerations, domain, domains, circle, circles, unknown] + structured

    private static let structured = [composite, composites, range, multirange, store, vector, tree]

    @Test(
        arguments: [
            (PostgresDataType.bool, 1), (.char, 1), (.int2, 2), (.int4, 4), (.int8, 8), (.oid, 4), (.float4, 4),
            (.float8, 8), (.date, 4), (.time, 8), (.timetz, 12), (.timestamp, 8), (.timestamptz, 8), (.interval, 16),
            (.uuid, 16), (.macaddr, 6), (.macaddr8, 8), (.money, 8), (.point, 16), (.line, 24), (.lseg, 32), (.box, 32),
            (.circle, 24), (.regclass, 4), (.xid, 4),
        ] as [(PostgresDataType, Int)])
    func valuesOfAFixedLengthHaveThatLength(type: PostgresDataType, length: Int) throws {
        let zeros = [UInt8](repeating: 0, count: 40)
        for count in 0...40 {
            let bytes = Array(zeros.prefix(count))
            let isRead = (try? bytes.withBytes { try Codec.decode($0, type: type, format: .binary) }) != nil
            #expect(isRead == (count == length && type != .line), "\(type) of \(count) bytes")
        }
    }

    @Test(arguments: [PostgresFormat.binary, .text])
    func randomBytesAreValuesOrErrors(format: PostgresFormat) throws {
        var generator = SeededGenerator(seed: 1)
        for type in Self.all {
            for _ in 0..<300 {
                let bytes = RandomValue.bytes(&generator)
                try expectValueOrError(bytes, type, format)
            }
        }
    }

    @Test(arguments: [PostgresFormat.binary, .text])
    func damagedValuesAreValuesOrErrors(format: PostgresFormat) throws {
        var generator = SeededGenerator(seed: 2)
        for type in RandomValue.scalars {
            for _ in 0..<Self.count {
                let bytes = try encode(RandomValue.value(of: type, &generator), type, format)
                try expectValueOrError(generator.damaged(bytes), type, format)
                guard let arrayType = type.arrayType else { continue }
                let array = try encode(.array(RandomValue.array(of: type, &generator)), arrayType, format)
                try expectValueOrError(generator.damaged(array), arrayType, format)
            }
        }
    }

    @Test(arguments: [PostgresFormat.binary, .text])
    func damagedValuesOfTheCatalogsTypesAreValuesOrErrors(format: PostgresFormat) throws {
        var generator = SeededGenerator(seed: 4)
        for type in Self.structured {
            for _ in 0..<Self.count {
                let bytes = try encode(Self.value(of: type, &generator), type, format)
                try expectValueOrError(bytes, type, format)
                try expectValueOrError(generator.damaged(bytes), type, format)
            }
        }
    }

    private static func value(of type: PostgresDataType, _ generator: inout SeededGenerator) -> PostgresValue {
        func text() -> PostgresValue { RandomValue.value(of: .text, &generator) }
        switch type {
        case composite:
            return .composite(
                PostgresComposite(
                    fields: [
                        .init(name: "a", value: generator.once(in: 4) ? nil : text()),
                        .init(value: .array(RandomValue.array(of: .int4, &generator))),
                        .init(value: value(of: range, &generator)),
                    ], dataType: composite))
        case composites:
            return .array(PostgresArray(elementType: composite, elements: [value(of: composite, &generator), nil]))
        case range: return .range(RandomValue.range(text(), text(), isDiscrete: false, &generator))
        case multirange:
            let ranges = (0..<3).map { _ in RandomValue.range(text(), text(), isDiscrete: false, &generator) }
            return .multirange(PostgresMultirange(ranges))
        case store: return .hstore(RandomValue.hstore(&generator))
        case vector: return PostgresVector([1, -2.5, 3e-20]).map(PostgresValue.vector) ?? text()
        default: return text()
        }
    }

    @Test func everyShorterPieceOfAValueIsAValueOrAnError() throws {
        var generator = SeededGenerator(seed: 3)
        for type in RandomValue.scalars.compactMap(\.arrayType) {
            guard let element = type.elementType else { continue }
            let bytes = try encode(.array(RandomValue.array(of: element, &generator)), type, .binary)
            for end in bytes.indices { try expectValueOrError(Array(bytes[..<end]), type, .binary) }
        }
    }

    @Test(
        arguments: [
            // 2^31 - 1 elements in 20 bytes
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1],
            // Dimensions whose product is beyond 64 bits
            [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 23]
                + Array(repeating: [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1], count: 3).joined(),
            // A negative number of dimensions, of elements; seven dimensions
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 23], [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 23],
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1],
            // Elements of another type
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25],
            // An element longer than the message; bytes behind the last element
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0],
        ] as [[UInt8]])
    func arrayHeadersThatLieAreErrors(bytes: [UInt8]) {
        expectDecodingFailed { try decoded(bytes, .int4Array) }
    }

    @Test func nestedArrayHeadersDoNotNest() {
        // Each array claims that its element is an array again.
        var bytes: [UInt8] = []
        for _ in 0..<50_000 {
            bytes += [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0xEF, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0]
        }
        expectDecodingFailed { try decoded(bytes, .int4Array) }
        let circles = Self.circles.rawValue.bigEndian
        var circle: [UInt8] = []
        for length in (1...100).reversed() {
            circle += [0, 0, 0, 1, 0, 0, 0, 0]
            withUnsafeBytes(of: circles) { circle += $0 }
            circle += [0, 0, 0, 1, 0, 0, 0, 1]
            withUnsafeBytes(of: Int32(24 * length - 24).bigEndian) { circle += $0 }
        }
        // A type that stands for itself is not known; its bytes are given as they came.
        #expect(throws: Never.self) { try decoded(circle, Self.circles, types: Self.types) }
    }

    @Test(
        arguments: [
            // A digit group of 10,000; digits behind the scale; an unknown sign; NaN with digits; too few groups
            [0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10], [0, 1, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0x12, 0x34, 0, 0],
            [0, 1, 0, 0, 0xC0, 0, 0, 0, 0, 1], [0, 2, 0, 0, 0, 0, 0, 0, 0, 1], [0xFF, 0xFF, 0, 0, 0, 0, 0, 0],
            // A scale of 16,384
            [0, 0, 0, 0, 0, 0, 0x40, 0],
        ] as [[UInt8]])
    func numericsThatLieAreErrors(bytes: [UInt8]) {
        expectDecodingFailed { try decoded(bytes, .numeric) }
    }

    @Test func textThatIsNoUTF8IsAnError() {
        for bytes: [UInt8] in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80]] {
            for type in [PostgresDataType.text, .varchar, .json, .name, .xml, Self.enumeration] {
                expectDecodingFailed { try decoded(bytes, type, .binary, types: Self.types) }
                expectDecodingFailed { try decoded(bytes, type, .text, types: Self.types) }
            }
            expectDecodingFailed { try decoded([1] + bytes, .jsonb) }
        }
    }

    @Test func valuesOutOfRangeAreErrors() {
        expectDecodingFailed { try decoded(bigEndian(Int32(-2_451_546)), .date) }
        expectDecodingFailed { try decoded(bigEndian(Int32(2_145_031_949)), .date) }
        expectDecodingFailed { try decoded(bigEndian(Int64(9_223_371_331_200_000_000)), .timestamp) }
        expectDecodingFailed { try decoded(bigEndian(Int64(-211_813_488_000_000_001)), .timestamptz) }
        expectDecodingFailed { try decoded(bigEndian(Int64(86_400_000_001)), .time) }
        expectDecodingFailed { try decoded(bigEndian(Int64(-1)), .time) }
        expectDecodingFailed { try decoded(bigEndian(Int64(0)) + bigEndian(Int32(57_600)), .timetz) }
        expectDecodingFailed { try decoded(bigEndian(Int64(0)) + bigEndian(Int32.min), .timetz) }
        expectDecodingFailed { try decoded([2, 0x7B, 0x7D], .jsonb) }
    }

    private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }

    private func encode(_ value: PostgresValue, _ type: PostgresDataType, _ format: PostgresFormat) throws -> [UInt8] {
        if format == .text { return Array(value.description.utf8) }
        var bytes: [UInt8] = []
        _ = try Codec.encode(value, as: type, types: Self.types, into: &bytes)
        return bytes
    }

    private func expectValueOrError(_ bytes: [UInt8], _ type: PostgresDataType, _ format: PostgresFormat) throws {
        do {
            let value = try decoded(bytes, type, format, types: Self.types)
            // A value that was read can be printed, hashed and written again.
            var back: [UInt8] = []
            _ = try Codec.encode(value, as: type, types: Self.types, into: &back)
            _ = value.hashValue
            _ = value.description
        } catch let error as PostgresError {
            let isAboutBytes = error.code == .decodingFailed || error.code == .invalidParameter
            // Not `#expect`, which costs more than the check itself.
            if !isAboutBytes { Issue.record("\(type) \(bytes): \(error)") }
        }
    }
}

/// Expects a value that cannot be read.
func expectDecodingFailed(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) {
    expectError(.decodingFailed, sourceLocation: sourceLocation, body)
}

/// Expects a `PostgresError` of a code, and returns it.
@discardableResult
func expectError(
    _ code: PostgresError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) -> PostgresError? {
    do {
        let value = try body()
        Issue.record("\(code) was expected, not \(value)", sourceLocation: sourceLocation)
        return nil
    } catch let error as PostgresError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return nil
    }
}
