#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads one value in binary form.
///
/// Throws for bytes of the wrong length or shape.
struct BinaryDecoder {
    private let bytes: ByteView
    private let type: PostgresDataType
    private var position = 0

    init(_ bytes: ByteView, _ type: PostgresDataType) {
        self.bytes = bytes
        self.type = type
    }

    private var malformed: PostgresError { Codec.malformed(type) }

    /// The value of a built-in type other than an array; nil for every other type.
    func scalar() throws -> PostgresValue? {
        switch type {
        case .int4: .integer(Int64(try whole(Int32.self)))
        case .int8: .integer(try whole(Int64.self))
        case .text, .varchar, .bpchar, .name, .xml, .unknown: .string(try Codec.string(bytes))
        case .bool: .bool(try whole(UInt8.self) != 0)
        case .int2: .integer(Int64(try whole(Int16.self)))
        case .oid: .integer(Int64(try whole(UInt32.self)))
        case .float8: .double(Double(bitPattern: try whole(UInt64.self)))
        case .float4: .float(Float(bitPattern: try whole(UInt32.self)))
        case .numeric: .numeric(try numeric())
        case .timestamp: .timestamp(try timestamp())
        case .timestamptz: .timestampTZ(try timestamp())
        case .date: .date(try date())
        case .uuid: .uuid(try uuid())
        case .json: .json(PostgresJSON(text: try Codec.string(bytes)))
        case .jsonb: .json(try jsonb())
        case .bytea: .bytes(bytes.array)
        case .time: .time(try time())
        case .timetz: .timeTZ(try timeTZ())
        case .interval: .interval(try interval())
        case .char: .string(Self.character(try whole(UInt8.self)))
        default: type.isKnownScalar ? try otherScalar() : nil
        }
    }

    /// The value of a less frequent built-in type.
    private func otherScalar() throws -> PostgresValue {
        let value: PostgresValue? =
            switch type {
            case .inet, .cidr: PostgresInet(binary: bytes).map(PostgresValue.inet)
            case .macaddr, .macaddr8: PostgresMACAddress(binary: bytes, type).map(PostgresValue.macAddress)
            case .bit, .varbit: PostgresBits(binary: bytes).map(PostgresValue.bits)
            case .money: PostgresMoney(binary: bytes).map(PostgresValue.money)
            case .point: PostgresPoint(binary: bytes).map(PostgresValue.point)
            case .line: PostgresLine(binary: bytes).map(PostgresValue.line)
            case .lseg: PostgresLineSegment(binary: bytes).map(PostgresValue.lineSegment)
            case .box: PostgresBox(binary: bytes).map(PostgresValue.box)
            case .path: PostgresPath(binary: bytes).map(PostgresValue.path)
            case .polygon: PostgresPolygon(binary: bytes).map(PostgresValue.polygon)
            case .circle: PostgresCircle(binary: bytes).map(PostgresValue.circle)
            case .tsvector: PostgresTSVector(binary: bytes).map(PostgresValue.tsVector)
            case .tsquery: PostgresTSQuery(binary: bytes).map(PostgresValue.tsQuery)
            // The rest are OIDs of catalog rows and transaction numbers of 32 bits.
            default: .integer(Int64(try whole(UInt32.self)))
            }
        guard let value else { throw malformed }
        return value
    }

    /// An array of any dimensions whose elements are of the given type.
    func array(
        of element: PostgresDataType,
        _ types: TypeRegistry? = nil,
        _ decode: (ByteView) throws -> PostgresValue
    ) throws -> PostgresArray {
        var reader = self
        let dimensionCount = try reader.next(Int32.self)
        _ = try reader.next(Int32.self)
        let found = PostgresDataType(rawValue: try reader.next(UInt32.self))
        guard (0...6).contains(dimensionCount), found == element || types?.isSame(found, as: element) == true else {
            throw malformed
        }
        var dimensions: [PostgresArray.Dimension] = []
        var size = dimensionCount == 0 ? 0 : 1
        for _ in 0..<dimensionCount {
            let dimension = PostgresArray.Dimension(
                count: Int(try reader.next(Int32.self)),
                lowerBound: Int(try reader.next(Int32.self))
            )
            let (product, isTooLarge) = size.multipliedReportingOverflow(by: dimension.count)
            // Every element has a length prefix of four bytes.
            guard dimension.isValid, !isTooLarge, product <= bytes.count / 4 else { throw malformed }
            size = product
            dimensions.append(dimension)
        }
        var elements: [PostgresValue?] = []
        elements.reserveCapacity(size)
        for _ in 0..<size {
            let length = try reader.next(Int32.self)
            elements.append(length < 0 ? nil : try decode(try reader.next(Int(length))))
        }
        guard reader.position == bytes.count else { throw malformed }
        return try PostgresArray(elementType: element, dimensions: dimensions, elements: elements)
    }

    /// A `numeric`.
    func numeric() throws -> PostgresNumeric {
        let count = bytes.count / 2 - 4
        guard count >= 0, bytes.count % 2 == 0, Int(word(0)) == count else { throw malformed }
        let weight = Int(Int16(bitPattern: word(1)))
        let sign = PostgresNumeric.Sign(rawValue: word(2))
        let scale = Int(word(3))
        switch sign {
        case .notANumber where count == 0: return .notANumber
        case .positiveInfinity where count == 0: return .infinity
        case .negativeInfinity where count == 0: return .negativeInfinity
        case .positive, .negative: break
        default: throw malformed
        }
        var groups: [UInt16] = []
        groups.reserveCapacity(count)
        for position in 4..<4 + count {
            let group = word(position)
            guard group < 10_000 else { throw malformed }
            groups.append(group)
        }
        let number = PostgresNumeric(isNegative: sign == .negative, groups: groups, weight: weight, scale: scale)
        guard let number else { throw malformed }
        return number
    }

    /// A word of a number; there must be one at the position.
    @inline(__always)
    private func word(_ position: Int) -> UInt16 { bytes.bigEndian(at: 2 * position, as: UInt16.self) }

    /// Whether `numeric()` can decode the bytes; most numbers are checked without decoding.
    var isNumeric: Bool {
        let count = bytes.count / 2 - 4
        if count > 0, bytes.count % 2 == 0, Int(word(0)) == count, word(2) == PostgresNumeric.Sign.positive.rawValue,
            word(4) != 0, word(3 + count) != 0, (4..<4 + count).allSatisfy({ word($0) < 10_000 }),
            PostgresNumeric.neededScale(
                count: count, last: word(3 + count), weight: Int16(bitPattern: word(1))) <= word(3),
            word(3) <= PostgresNumeric.maximumScale
        {
            return true
        }
        return (try? numeric()) != nil
    }

    private func date() throws -> PostgresDate {
        switch try whole(Int32.self) {
        case .max: return .infinity
        case .min: return .negativeInfinity
        case let days:
            guard let date = PostgresDate(daysSince2000: Int64(days)) else { throw malformed }
            return date
        }
    }

    private func timestamp() throws -> PostgresTimestamp {
        switch try whole(Int64.self) {
        case .max: return .infinity
        case .min: return .negativeInfinity
        case let microseconds:
            guard let timestamp = PostgresTimestamp(microsecondsSince2000: microseconds) else { throw malformed }
            return timestamp
        }
    }

    private func time() throws -> PostgresTime {
        guard let time = PostgresTime(microseconds: try whole(Int64.self)) else { throw malformed }
        return time
    }

    private func timeTZ() throws -> PostgresTimeTZ {
        var reader = self
        guard bytes.count == 12, let time = PostgresTime(microseconds: try reader.next(Int64.self)),
            // The server counts seconds west of Greenwich.
            let timeTZ = PostgresTimeTZ(time: time, secondsFromGMT: -Int(try reader.next(Int32.self)))
        else { throw malformed }
        return timeTZ
    }

    private func interval() throws -> PostgresInterval {
        var reader = self
        guard bytes.count == 16 else { throw malformed }
        let microseconds = try reader.next(Int64.self)
        let days = try reader.next(Int32.self)
        return PostgresInterval(months: try reader.next(Int32.self), days: days, microseconds: microseconds)
    }

    private func uuid() throws -> UUID {
        guard let uuid = bytes.uuid else { throw malformed }
        return uuid
    }

    /// A version byte, then the text.
    private func jsonb() throws -> PostgresJSON {
        guard bytes.first == 1 else { throw malformed }
        return PostgresJSON(text: try Codec.string(ByteView(rebasing: bytes.dropFirst())))
    }

    /// The text of a `"char"`, as the server prints it: nothing for zero, an octal number beyond ASCII.
    static func character(_ byte: UInt8) -> String {
        switch byte {
        case 0: ""
        case 1..<0x80: String(Unicode.Scalar(byte))
        default: "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
        }
    }

    /// The integer that fills all the bytes.
    private func whole<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws -> T {
        guard bytes.count == MemoryLayout<T>.size else { throw malformed }
        return bytes.bigEndian(as: T.self)
    }

    private mutating func next<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws -> T {
        guard bytes.count - position >= MemoryLayout<T>.size else { throw malformed }
        defer { position += MemoryLayout<T>.size }
        return bytes.bigEndian(at: position, as: T.self)
    }

    private mutating func next(_ count: Int) throws -> ByteView {
        guard count <= bytes.count - position else { throw malformed }
        defer { position += count }
        return bytes.part(position..<position + count)
    }
}
