import Foundation

@testable import KindredPostgres

/// A generator whose numbers are the same in every run, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Random values of every type with a codec, the ends of the ranges often among them.
struct RandomValues {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func value(of type: PostgresDataType) -> PostgresValue {
        switch type {
        case .bool: .bool(Bool.random(using: &generator))
        case .int2: .integer(Int64(Int16(truncatingIfNeeded: integer())))
        case .int4: .integer(Int64(Int32(truncatingIfNeeded: integer())))
        case .int8: .integer(integer())
        case .oid: .integer(Int64(UInt32(truncatingIfNeeded: integer())))
        case .float4: .float(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())).canonical)
        case .float8: .double(Double(bitPattern: generator.next()).canonical)
        case .numeric: .numeric(numeric())
        case .bytea: .bytes((0..<Int.random(in: 0...40, using: &generator)).map { _ in byte() })
        case .date: .date(date())
        case .time: .time(time())
        case .timetz: .timeTZ(timeTZ())
        case .timestamp: .timestamp(timestamp())
        case .timestamptz: .timestampTZ(timestamp())
        case .interval: .interval(interval())
        case .uuid: .uuid(UUID(uuid: uuidBytes()))
        case .json, .jsonb: .json(PostgresJSON(text: json(depth: 0)))
        case .char: .string(BinaryDecoder.character(byte()))
        case .name: .string(text(maximumLength: 12))
        case .xml: .string("<a>\(Int.random(in: 0...9, using: &generator))</a>")
        default:
            if let element = type.elementType { .array(array(of: element)) } else { .string(text(maximumLength: 30)) }
        }
    }

    mutating func integer() -> Int64 {
        let bits = Int64(bitPattern: generator.next())
        switch Int.random(in: 0...9, using: &generator) {
        case 0:
            return [.min, .max, 0, 1, -1, 1 << 31, -1 << 31, 1 << 15, -1 << 15].randomElement(using: &generator) ?? 0
        case 1...5: return bits >> Int64.random(in: 0...63, using: &generator)
        default: return bits
        }
    }

    mutating func numeric() -> PostgresNumeric {
        switch Int.random(in: 0...19, using: &generator) {
        case 0: return .notANumber
        case 1: return .infinity
        case 2: return .negativeInfinity
        default: return PostgresNumeric(numericText()) ?? .zero
        }
    }

    /// Digits with a point somewhere, sometimes none.
    mutating func numericText() -> String {
        func digits(_ count: Int) -> String {
            let isZeros = Int.random(in: 0...4, using: &generator) == 0
            return (0..<count).map { _ in isZeros ? "0" : String(Int.random(in: 0...9, using: &generator)) }.joined()
        }
        let whole = digits(Int.random(in: 1...30, using: &generator))
        let fraction = digits(Int.random(in: 0...30, using: &generator))
        return (Bool.random(using: &generator) ? "-" : "") + whole + (fraction.isEmpty ? "" : ".\(fraction)")
    }

    mutating func date() -> PostgresDate {
        switch Int.random(in: 0...19, using: &generator) {
        case 0: .infinity
        case 1: .negativeInfinity
        case 2: PostgresDate(daysSince2000: -2_451_545) ?? .infinity
        case 3: PostgresDate(daysSince2000: 2_145_031_948) ?? .infinity
        case 4...10:
            PostgresDate(daysSince2000: .random(in: -2_451_545...2_145_031_948, using: &generator)) ?? .infinity
        default: PostgresDate(daysSince2000: .random(in: -800_000...100_000, using: &generator)) ?? .infinity
        }
    }

    mutating func time() -> PostgresTime {
        switch Int.random(in: 0...9, using: &generator) {
        case 0: PostgresTime(microseconds: 86_400_000_000) ?? .midnight
        case 1...4: PostgresTime(microseconds: 1_000_000 * .random(in: 0...86_400, using: &generator)) ?? .midnight
        default: PostgresTime(microseconds: .random(in: 0...86_400_000_000, using: &generator)) ?? .midnight
        }
    }

    mutating func timeTZ() -> PostgresTimeTZ {
        let seconds =
            Bool.random(using: &generator)
            ? 900 * Int.random(in: -63...63, using: &generator) : Int.random(in: -57_599...57_599, using: &generator)
        let time = time()
        return PostgresTimeTZ(time: time, secondsFromGMT: seconds) ?? PostgresTimeTZ("00:00:00+00")!
    }

    mutating func timestamp() -> PostgresTimestamp {
        let first: Int64 = -211_813_488_000_000_000
        let end: Int64 = 9_223_371_331_200_000_000
        return switch Int.random(in: 0...19, using: &generator) {
        case 0: .infinity
        case 1: .negativeInfinity
        case 2: PostgresTimestamp(microsecondsSince2000: first) ?? .infinity
        case 3: PostgresTimestamp(microsecondsSince2000: end - 1) ?? .infinity
        case 4...10: PostgresTimestamp(microsecondsSince2000: .random(in: first..<end, using: &generator)) ?? .infinity
        default:
            PostgresTimestamp(
                microsecondsSince2000: .random(in: -3_000_000_000_000_000...3_000_000_000_000_000, using: &generator))
                ?? .infinity
        }
    }

    mutating func interval() -> PostgresInterval {
        let shift = Int64.random(in: 0...63, using: &generator)
        return PostgresInterval(
            months: Int32(truncatingIfNeeded: integer()) >> Int32.random(in: 0...31, using: &generator),
            days: Int32(truncatingIfNeeded: integer()) >> Int32.random(in: 0...31, using: &generator),
            microseconds: integer() >> shift
        )
    }

    mutating func text(maximumLength: Int) -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "Z", "0", " ", "\"", "\\", "'", "{", "}", ",", "\n", "\t", "é", "e", "\u{301}", "ß", "☃", "\u{1F600}",
            "\u{10FFFF}", "\u{FEFF}", "\u{200D}", "N", "U", "L", "\u{1}", "\u{7F}", "%", "$",
        ]
        if Int.random(in: 0...19, using: &generator) == 0 { return "NULL" }
        var text = ""
        for _ in 0..<Int.random(in: 0...maximumLength, using: &generator) {
            text.unicodeScalars.append(scalars.randomElement(using: &generator) ?? "a")
        }
        return text
    }

    mutating func array(of element: PostgresDataType) -> PostgresArray {
        let counts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 1...3, using: &generator)
        }
        guard !counts.isEmpty else { return PostgresArray(elementType: element, elements: []) }
        let hasBounds = Bool.random(using: &generator)
        let dimensions = counts.map { count in
            PostgresArray.Dimension(count: count, lowerBound: hasBounds ? .random(in: -3...3, using: &generator) : 1)
        }
        let elements: [PostgresValue?] = (0..<counts.reduce(1, *)).map { _ in
            Int.random(in: 0...4, using: &generator) == 0 ? nil : value(of: element)
        }
        return (try? PostgresArray(elementType: element, dimensions: dimensions, elements: elements))
            ?? PostgresArray(elementType: element, elements: [])
    }

    /// A document in the form in which the server stores `jsonb`.
    private mutating func json(depth: Int) -> String {
        switch Int.random(in: depth < 3 ? 0...7 : 0...4, using: &generator) {
        case 0: return "null"
        case 1: return "true"
        case 2: return "\(Int.random(in: -1000...1000, using: &generator))"
        case 3: return "1.50"
        case 4: return "\"é \\\" {x}, \\\\\""
        case 5: return "[\(json(depth: depth + 1)), \(json(depth: depth + 1))]"
        case 6: return "[]"
        default: return "{\"a\": \(json(depth: depth + 1)), \"bb\": \(json(depth: depth + 1))}"
        }
    }

    private mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: generator.next()) }

    private mutating func uuidBytes() -> uuid_t {
        let (high, low) = (generator.next(), generator.next())
        return withUnsafeBytes(of: (high, low)) { $0.loadUnaligned(as: uuid_t.self) }
    }
}

extension BinaryFloatingPoint {
    /// The number itself, or the one NaN that the server prints.
    fileprivate var canonical: Self { isNaN ? .nan : self }
}
