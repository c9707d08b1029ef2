package import KindredPostgres

extension RandomValue {
    /// Values of the types that Swift has none for.
    static func structured(
        _ type: PostgresDataType, _ generator: inout some RandomNumberGenerator
    ) -> PostgresValue {
        switch type {
        case .inet: .inet(inet(&generator, isNetwork: false))
        case .cidr: .inet(inet(&generator, isNetwork: true))
        case .macaddr: .macAddress(macAddress(&generator, length: 6))
        case .macaddr8: .macAddress(macAddress(&generator, length: 8))
        case .bit: .bits(PostgresBits([Bool.random(using: &generator)]))
        case .varbit: .bits(bits(&generator))
        case .money: .money(PostgresMoney(units: generator.integer(Int64.self)))
        case .point: .point(point(&generator))
        case .line: .line(line(&generator))
        case .lseg: .lineSegment(PostgresLineSegment(start: point(&generator), end: point(&generator)))
        case .box: .box(PostgresBox(point(&generator), point(&generator)))
        case .path: path(&generator)
        case .polygon: polygon(&generator)
        case .circle: circle(&generator)
        case .tsvector: .tsVector(tsVector(&generator))
        case .tsquery: .tsQuery(tsQuery(&generator, depth: 0))
        case .xid, .cid: .integer(Int64(generator.integer(UInt32.self)))
        case .int4range: .range(range(of: .int4, &generator))
        case .int8range: .range(range(of: .int8, &generator))
        case .numrange: .range(range(of: .numeric, &generator))
        case .tsrange: .range(range(of: .timestamp, &generator))
        case .tstzrange: .range(range(of: .timestamptz, &generator))
        case .daterange: .range(range(of: .date, &generator))
        case PostgresDataType(rawValue: 4451): .multirange(multirange(of: .int4, &generator))
        case PostgresDataType(rawValue: 4532): .multirange(multirange(of: .numeric, &generator))
        case PostgresDataType(rawValue: 4533): .multirange(multirange(of: .timestamp, &generator))
        case PostgresDataType(rawValue: 4534): .multirange(multirange(of: .timestamptz, &generator))
        case PostgresDataType(rawValue: 4535): .multirange(multirange(of: .date, &generator))
        case PostgresDataType(rawValue: 4536): .multirange(multirange(of: .int8, &generator))
        case .jsonpath: .string(generator.pick([#"$."a""#, "$[*]", "($ + 1)", #"$?(@ == "x")"#]))
        // OIDs that no catalog gives out for a long time: the server prints others by name.
        default: .integer(Int64.random(in: 4_000_000_000...4_294_967_295, using: &generator))
        }
    }

    static func inet(_ generator: inout some RandomNumberGenerator, isNetwork: Bool) -> PostgresInet {
        let count = Bool.random(using: &generator) ? 4 : 16
        let prefix = generator.once(in: 2) ? 8 * count : Int.random(in: 0...8 * count, using: &generator)
        // Runs of zeros are what the text of an IPv6 address leaves out.
        var bytes = (0..<count / 2).flatMap { _ in
            generator.once(in: 2)
                ? [0, 0] : [UInt8.random(in: 0...255, using: &generator), generator.pick([0, 1, 255])]
        }
        if isNetwork {
            for bit in prefix..<8 * count { bytes[bit / 8] &= ~(0x80 >> UInt8(bit % 8)) }
        }
        return PostgresInet(address: bytes, prefixLength: prefix) ?? inet(&generator, isNetwork: isNetwork)
    }

    static func macAddress(_ generator: inout some RandomNumberGenerator, length: Int) -> PostgresMACAddress {
        let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return PostgresMACAddress(bytes) ?? macAddress(&generator, length: 6)
    }

    static func bits(_ generator: inout some RandomNumberGenerator) -> PostgresBits {
        PostgresBits((0..<Int.random(in: 0...40, using: &generator)).map { _ in Bool.random(using: &generator) })
    }

    static func point(_ generator: inout some RandomNumberGenerator) -> PostgresPoint {
        PostgresPoint(x: double(&generator), y: double(&generator))
    }

    private static func points(_ generator: inout some RandomNumberGenerator) -> [PostgresPoint] {
        (0..<Int.random(in: 1...5, using: &generator)).map { _ in point(&generator) }
    }

    private static func line(_ generator: inout some RandomNumberGenerator) -> PostgresLine {
        PostgresLine(a: double(&generator), b: double(&generator), c: double(&generator)) ?? line(&generator)
    }

    private static func path(_ generator: inout some RandomNumberGenerator) -> PostgresValue {
        let path = PostgresPath(points: points(&generator), isClosed: Bool.random(using: &generator))
        return path.map(PostgresValue.path) ?? self.path(&generator)
    }

    private static func polygon(_ generator: inout some RandomNumberGenerator) -> PostgresValue {
        PostgresPolygon(points: points(&generator)).map(PostgresValue.polygon) ?? polygon(&generator)
    }

    private static func circle(_ generator: inout some RandomNumberGenerator) -> PostgresValue {
        let circle = PostgresCircle(center: point(&generator), radius: double(&generator).magnitude)
        return circle.map(PostgresValue.circle) ?? self.circle(&generator)
    }

    private static func word(_ generator: inout some RandomNumberGenerator) -> String {
        let text = text(&generator)
        return text.isEmpty ? "a" : text
    }

    package static func hstore(_ generator: inout some RandomNumberGenerator) -> PostgresHStore {
        var values: [String: String?] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            // A dictionary holds only one of two spellings of a key.
            let key = text(&generator).unicodeScalars.filter(\.isASCII).map(String.init).joined()
            values.updateValue(generator.once(in: 4) ? nil : text(&generator), forKey: key)
        }
        return PostgresHStore(values)
    }

    private static func tsVector(_ generator: inout some RandomNumberGenerator) -> PostgresTSVector {
        var words: [[UInt8]: PostgresTSVector.Lexeme] = [:]
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let places = Set(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    generator.once(in: 10) ? 16_383 : Int.random(in: 1...200, using: &generator)
                })
            let positions = places.sorted().compactMap {
                PostgresTSVector.Position($0, weight: generator.pick([.a, .b, .c, .d]))
            }
            let word = word(&generator)
            words[Array(word.utf8)] = PostgresTSVector.Lexeme(word, positions: positions)
        }
        do {
            return try PostgresTSVector(Array(words.values))
        } catch {
            return tsVector(&generator)
        }
    }

    private static func tsQuery(_ generator: inout some RandomNumberGenerator, depth: Int) -> PostgresTSQuery {
        do {
            switch Int.random(in: 0...(depth < 4 ? 7 : 3), using: &generator) {
            case 4: return .not(tsQuery(&generator, depth: depth + 1))
            // The text does not tell a & (b & c) from (a & b) & c.
            case 5: return .and(tsQuery(&generator, depth: depth + 1), tsQuery(&generator, depth: 9))
            case 6: return .or(tsQuery(&generator, depth: depth + 1), tsQuery(&generator, depth: 9))
            case 7:
                let (left, right) = (tsQuery(&generator, depth: depth + 1), tsQuery(&generator, depth: depth + 1))
                return try .phrase(left, right, distance: generator.pick([0, 1, 2, 16_384]))
            default:
                let weights = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    generator.pick([PostgresTSVector.Weight.a, .b, .c, .d])
                }
                return try .word(word(&generator), weights: Set(weights), isPrefix: generator.once(in: 3))
            }
        } catch {
            return .empty
        }
    }

    /// A range between two values in the form in which the server keeps it; the lesser value has to be below the greater.
    package static func range(
        _ lesser: PostgresValue, _ greater: PostgresValue, isDiscrete: Bool,
        _ generator: inout some RandomNumberGenerator
    ) -> PostgresRange<PostgresValue> {
        if generator.once(in: 10) { return .empty }
        let isLowerInclusive = isDiscrete || Bool.random(using: &generator)
        let isUpperInclusive = !isDiscrete && Bool.random(using: &generator)
        return PostgresRange(
            lower: generator.once(in: 6) ? .unbounded : isLowerInclusive ? .inclusive(lesser) : .exclusive(lesser),
            upper: generator.once(in: 6) ? .unbounded : isUpperInclusive ? .inclusive(greater) : .exclusive(greater))
    }

    /// A range of a type's values.
    package static func range(
        of type: PostgresDataType, _ generator: inout some RandomNumberGenerator
    ) -> PostgresRange<PostgresValue> {
        while true {
            let (first, second) = (value(of: type, &generator), value(of: type, &generator))
            let isDiscrete = [.int4, .int8, .date].contains(type)
            if let isLess = isLess(first, second), first != second {
                let (lesser, greater) = isLess ? (first, second) : (second, first)
                return range(lesser, greater, isDiscrete: isDiscrete, &generator)
            }
        }
    }

    /// Ranges in ascending order with gaps between them.
    package static func multirange(
        of type: PostgresDataType, _ generator: inout some RandomNumberGenerator
    ) -> PostgresMultirange<PostgresValue> {
        var bounds: [PostgresValue] = []
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let value = value(of: type, &generator)
            if !bounds.contains(value), isLess(value, value) != nil { bounds.append(value) }
        }
        bounds.sort { isLess($0, $1) == true }
        return PostgresMultirange(
            stride(from: 0, to: bounds.count - 1, by: 2).map {
                PostgresRange(lower: .inclusive(bounds[$0]), upper: .exclusive(bounds[$0 + 1]))
            })
    }

    private static func isLess(_ left: PostgresValue, _ right: PostgresValue) -> Bool? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a < b
        case (.numeric(let a), .numeric(let b)): a < b
        case (.timestamp(let a), .timestamp(let b)), (.timestampTZ(let a), .timestampTZ(let b)): a < b
        case (.date(let a), .date(let b)): a.isFinite && b.isFinite ? a < b : nil
        default: nil
        }
    }
}
