#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads values in binary form.
///
/// Gives nil for bytes of the wrong length or shape.
struct BinaryDecoder {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func value(of type: PostgresDataType, _ types: TypeRegistry?) throws -> PostgresValue? {
        switch type {
        case .int4: whole(Int32.self).map { .integer(Int64($0)) }
        case .int8: whole(Int64.self).map(PostgresValue.integer)
        case .text, .varchar, .bpchar, .name, .xml, .unknown, .char: .string(try Codec.string(bytes))
        case .bool: bytes.count == 1 ? .bool(bytes[0] != 0) : nil
        case .int2: whole(Int16.self).map { .integer(Int64($0)) }
        case .oid: whole(UInt32.self).map { .integer(Int64($0)) }
        case .float8: whole(UInt64.self).map { .double(Double(bitPattern: $0)) }
        case .float4: whole(UInt32.self).map { .float(Float(bitPattern: $0)) }
        case .numeric: numeric().map(PostgresValue.numeric)
        case .timestamp: timestamp().map(PostgresValue.timestamp)
        case .timestamptz: timestamp().map(PostgresValue.timestampTZ)
        case .date: date().map(PostgresValue.date)
        case .uuid: bytes.count == 16 ? .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) : nil
        case .json: .json(PostgresJSON(text: try Codec.string(bytes)))
        case .jsonb:
            bytes.first == 1
                ? .json(PostgresJSON(text: try Codec.string(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())))) : nil
        case .bytea: .bytes(Array(bytes))
        case .time: whole(Int64.self).flatMap(PostgresTime.init(microseconds:)).map(PostgresValue.time)
        case .timetz: timeTZ().map(PostgresValue.timeTZ)
        case .interval: interval().map(PostgresValue.interval)
        default: try array(types).map(PostgresValue.array)
        }
    }

    /// An array of any dimensions; its element type stands in it.
    func array(_ types: TypeRegistry?) throws -> PostgresArray? {
        var reader = self
        guard let dimensionCount = reader.next(Int32.self), (0...6).contains(dimensionCount),
            reader.next(Int32.self) != nil, let element = reader.next(UInt32.self)
        else { return nil }
        let elementType = PostgresDataType(rawValue: element)
        var dimensions: [PostgresArray.Dimension] = []
        var size = dimensionCount == 0 ? 0 : 1
        for _ in 0..<dimensionCount {
            guard let count = reader.next(Int32.self), count >= 0, let lowerBound = reader.next(Int32.self) else {
                return nil
            }
            let (product, overflow) = size.multipliedReportingOverflow(by: Int(count))
            // Every element has a length of four bytes at least.
            guard !overflow, product <= bytes.count / 4 else { return nil }
            size = product
            dimensions.append(.init(count: Int(count), lowerBound: Int(lowerBound)))
        }
        var elements: [PostgresValue?] = []
        elements.reserveCapacity(size)
        for _ in 0..<size {
            guard let length = reader.next(Int32.self) else { return nil }
            if length < 0 {
                elements.append(nil)
            } else {
                guard let slice = reader.next(Int(length)) else { return nil }
                elements.append(try Codec.decode(slice, type: elementType, format: .binary, types: types))
            }
        }
        guard reader.position == bytes.count else { return nil }
        return try PostgresArray(elementType: elementType, dimensions: dimensions, elements: elements)
    }

    private func numeric() -> PostgresNumeric? {
        var reader = self
        guard let count = reader.next(Int16.self), let weight = reader.next(Int16.self),
            let sign = reader.next(UInt16.self).flatMap(PostgresNumeric.Sign.init(rawValue:)),
            let scale = reader.next(Int16.self), count >= 0, bytes.count == 8 + 2 * Int(count),
            (0...16_383).contains(scale)
        else { return nil }
        var groups: [UInt16] = []
        groups.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let group = reader.next(UInt16.self), group < 10_000 else { return nil }
            groups.append(group)
        }
        guard sign == .positive || sign == .negative || groups.isEmpty else { return nil }
        return PostgresNumeric(sign: sign, groups: groups, weight: Int(weight), scale: Int(scale))
    }

    private func date() -> PostgresDate? {
        switch whole(Int32.self) {
        case nil: nil
        case Int32.max?: .infinity
        case Int32.min?: .negativeInfinity
        case let days?: PostgresDate(days: Int64(days))
        }
    }

    private func timestamp() -> PostgresTimestamp? {
        switch whole(Int64.self) {
        case nil: nil
        case Int64.max?: .infinity
        case Int64.min?: .negativeInfinity
        case let microseconds?: PostgresTimestamp(microsecondsSince2000: microseconds)
        }
    }

    private func timeTZ() -> PostgresTimeTZ? {
        var reader = self
        guard bytes.count == 12, let time = reader.next(Int64.self).flatMap(PostgresTime.init(microseconds:)),
            let west = reader.next(Int32.self)
        else { return nil }
        return PostgresTimeTZ(time: time, secondsFromGMT: -Int(west))
    }

    private func interval() -> PostgresInterval? {
        var reader = self
        guard bytes.count == 16, let microseconds = reader.next(Int64.self), let days = reader.next(Int32.self),
            let months = reader.next(Int32.self)
        else { return nil }
        return PostgresInterval(months: months, days: days, microseconds: microseconds)
    }

    /// The integer that fills all the bytes.
    private func whole<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        guard bytes.count == MemoryLayout<T>.size else { return nil }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }

    private mutating func next<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        guard bytes.count - position >= MemoryLayout<T>.size else { return nil }
        defer { position += MemoryLayout<T>.size }
        return T(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
    }

    private mutating func next(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }
}
