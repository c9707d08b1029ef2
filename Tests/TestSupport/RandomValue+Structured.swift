import KindredPostgres

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
        case .xid, .cid: .integer(Int64(generator.integer(UInt32.self)))
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
}
