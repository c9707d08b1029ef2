package import Foundation
package import KindredPostgres

/// Random values of every type that the library reads and writes, the edges of their ranges more often than chance.
package enum RandomValue {
    /// The types whose values have one natural form, arrays left out.
    ///
    /// No server reads values of the type `record`.
    package static let scalars =
        PostgresDataType.knownScalars.filter { $0 != .unknown }
        + PostgresDataType.structuredTypes.filter { $0 != .record }

    package static func value(of type: PostgresDataType, _ generator: inout some RandomNumberGenerator) -> PostgresValue
    {
        switch type {
        case .bool: .bool(Bool.random(using: &generator))
        case .int2: .integer(Int64(generator.integer(Int16.self)))
        case .int4: .integer(Int64(generator.integer(Int32.self)))
        case .int8: .integer(generator.integer(Int64.self))
        case .oid: .integer(Int64(generator.integer(UInt32.self)))
        case .float4: .float(float(&generator))
        case .float8: .double(double(&generator))
        case .numeric: .numeric(numeric(&generator))
        case .bytea: .bytes(bytes(&generator))
        case .date: .date(date(&generator))
        case .time: .time(time(&generator))
        case .timetz: .timeTZ(timeTZ(&generator))
        case .timestamp: .timestamp(timestamp(&generator))
        case .timestamptz: .timestampTZ(timestamp(&generator))
        case .interval: .interval(interval(&generator))
        case .uuid: .uuid(uuid(&generator))
        case .json, .jsonb: .json(PostgresJSON(text: json(&generator, depth: 0)))
        case .char:
            .string(generator.once(in: 4) ? "" : String(UnicodeScalar(UInt8.random(in: 1...127, using: &generator))))
        case .name: .string(String(text(&generator).unicodeScalars.prefix(15)))
        case .xml: .string("<a>\(Int.random(in: 0...99, using: &generator))</a>")
        case .text, .varchar, .bpchar: .string(text(&generator))
        default: structured(type, &generator)
        }
    }

    package static func array(
        of type: PostgresDataType, _ generator: inout some RandomNumberGenerator
    ) -> PostgresArray {
        array(of: type, &generator) { value(of: type, &$0) }
    }

    /// An array of up to three dimensions whose elements are made by the given function.
    package static func array<Generator: RandomNumberGenerator>(
        of type: PostgresDataType,
        _ generator: inout Generator,
        _ make: (inout Generator) throws -> PostgresValue
    ) rethrows -> PostgresArray {
        let dimensions = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            PostgresArray.Dimension(
                count: Int.random(in: 1...4, using: &generator),
                lowerBound: generator.once(in: 3) ? Int.random(in: -5...5, using: &generator) : 1
            )
        }
        let count = dimensions.isEmpty ? 0 : dimensions.reduce(1) { $0 * $1.count }
        let elements = try (0..<count).map { _ in generator.once(in: 5) ? nil : try make(&generator) }
        let array = try? PostgresArray(elementType: type, dimensions: dimensions, elements: elements)
        return array ?? PostgresArray(elementType: type, elements: elements)
    }

    package static func numeric(_ generator: inout some RandomNumberGenerator) -> PostgresNumeric {
        if generator.once(in: 20) { return generator.pick([.notANumber, .infinity, .negativeInfinity, .zero]) }
        let before =
            generator.once(in: 40)
            ? Int.random(in: 0...2000, using: &generator) : Int.random(in: 0...20, using: &generator)
        let after =
            generator.once(in: 40)
            ? Int.random(in: 0...2000, using: &generator) : Int.random(in: 0...20, using: &generator)
        var text = Bool.random(using: &generator) ? "-" : ""
        // Runs of zeros are where groups of four digits go wrong.
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in generator.once(in: 2) ? "0" : generator.pick(Array("0123456789")) })
        }
        text += before == 0 ? "0" : digits(before)
        if after > 0 { text += "." + digits(after) }
        return PostgresNumeric(text) ?? .notANumber
    }

    package static func text(_ generator: inout some RandomNumberGenerator) -> String {
        if generator.once(in: 10) {
            return generator.pick([
                "", " ", "NULL", "null", "\"", "\\", "{}", "{a,b}", "a\tb\nc\rd", "'", "é", "e\u{301}",
            ])
        }
        var text = ""
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            let scalar =
                switch Int.random(in: 0...9, using: &generator) {
                case 0: UInt32.random(in: 1...31, using: &generator)
                case 1: UInt32.random(in: 0x80...0x7FF, using: &generator)
                case 2: UInt32.random(in: 0xE000...0xFFFD, using: &generator)
                case 3: UInt32.random(in: 0x10000...0x10FFFF, using: &generator)
                default: UInt32.random(in: 32...126, using: &generator)
                }
            if let scalar = UnicodeScalar(scalar) { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    package static func date(_ generator: inout some RandomNumberGenerator) -> PostgresDate {
        if generator.once(in: 10) {
            return generator.pick(
                [.infinity, .negativeInfinity]
                    + ["4714-11-24 BC", "5874897-12-31", "0001-01-01", "0001-12-31 BC"]
                    .compactMap { PostgresDate($0) })
        }
        let days =
            generator.once(in: 4)
            ? Int64.random(in: -2_451_545...2_145_031_948, using: &generator)
            : Int64.random(in: -40_000...20_000, using: &generator)
        return PostgresDate(daysSince2000: days) ?? .infinity
    }

    package static func time(_ generator: inout some RandomNumberGenerator) -> PostgresTime {
        let end: Int64 = 86_400_000_000
        let microseconds =
            generator.once(in: 10) ? generator.pick([0, end, end - 1]) : Int64.random(in: 0...end, using: &generator)
        return PostgresTime(microseconds: roundedAtTimes(microseconds, &generator)) ?? .midnight
    }

    package static func timeTZ(_ generator: inout some RandomNumberGenerator) -> PostgresTimeTZ {
        let offset =
            generator.once(in: 2)
            ? Int.random(in: -57_599...57_599, using: &generator) : 1800 * Int.random(in: -31...31, using: &generator)
        let time = time(&generator)
        return PostgresTimeTZ(time: time, secondsFromGMT: offset) ?? RandomValue.timeTZ(&generator)
    }

    package static func timestamp(_ generator: inout some RandomNumberGenerator) -> PostgresTimestamp {
        if generator.once(in: 10) {
            return generator.pick(
                [.infinity, .negativeInfinity]
                    + ["4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "0001-12-31 23:59:59.999999 BC"]
                    .compactMap { PostgresTimestamp($0) })
        }
        let microseconds =
            generator.once(in: 4)
            ? Int64.random(in: -211_813_488_000_000_000..<9_223_371_331_200_000_000, using: &generator)
            : Int64.random(in: -3_000_000_000_000_000...3_000_000_000_000_000, using: &generator)
        return PostgresTimestamp(microsecondsSince2000: roundedAtTimes(microseconds, &generator)) ?? .infinity
    }

    /// Infinities left out, and the least number of microseconds: servers before PostgreSQL 17 cannot read their own
    /// output for them.
    package static func interval(_ generator: inout some RandomNumberGenerator) -> PostgresInterval {
        let interval = PostgresInterval(
            months: generator.integer(Int32.self),
            days: generator.integer(Int32.self),
            microseconds: max(.min + 1, generator.integer(Int64.self))
        )
        return interval == .infinity ? PostgresInterval() : interval
    }

    package static func double(_ generator: inout some RandomNumberGenerator) -> Double {
        if generator.once(in: 8) {
            return generator.pick([
                0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
                9_007_199_254_740_992, 1e15, 1e16, 1e-5, 123_456.789,
            ])
        }
        return Double(bitPattern: generator.next())
    }

    package static func float(_ generator: inout some RandomNumberGenerator) -> Float {
        if generator.once(in: 8) {
            return generator.pick([
                0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 16_777_216,
                1e6, 1e7, 1e-5,
            ])
        }
        return Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
    }

    package static func bytes(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    package static func uuid(_ generator: inout some RandomNumberGenerator) -> UUID {
        let (high, low) = (generator.next(), generator.next())
        return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// A document in the form in which `jsonb` prints it.
    package static func json(_ generator: inout some RandomNumberGenerator, depth: Int) -> String {
        switch Int.random(in: 0...(depth < 3 ? 5 : 3), using: &generator) {
        case 0: return generator.pick(["null", "true", "false"])
        case 1: return "\(generator.integer(Int64.self))"
        case 2: return "12.50"
        case 3: return "\"\(generator.pick(["", "a", "é", "\\\"", "\\n", "😀"]))\""
        case 4:
            let items = (0..<Int.random(in: 0...3, using: &generator)).map { _ in json(&generator, depth: depth + 1) }
            return "[\(items.joined(separator: ", "))]"
        default:
            let items = (0..<Int.random(in: 0...3, using: &generator)).map { key in
                "\"k\(key)\": \(json(&generator, depth: depth + 1))"
            }
            return "{\(items.joined(separator: ", "))}"
        }
    }

    /// Whole seconds and milliseconds have shorter texts.
    private static func roundedAtTimes(_ value: Int64, _ generator: inout some RandomNumberGenerator) -> Int64 {
        let unit: Int64 = generator.pick([1, 1, 1000, 1_000_000, 10])
        return value / unit * unit
    }
}
