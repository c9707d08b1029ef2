extension Codec {
    /// Appends a value of a less frequent built-in type, and returns the format.
    ///
    /// A string that the library cannot parse goes to the server, whose grammar is richer.
    static func encodeScalar(
        _ value: PostgresValue, as type: PostgresDataType, into bytes: inout [UInt8]
    ) throws -> PostgresFormat {
        switch (type, value) {
        case (.inet, .inet(let address)): address.appendBinary(to: &bytes)
        case (.cidr, .inet(let network)):
            guard network.isNetwork else {
                throw PostgresError(.invalidParameter, "A cidr has no bits to the right of its mask")
            }
            network.appendBinary(isCIDR: true, to: &bytes)
        case (.macaddr, .macAddress(let address)) where !address.isEUI64: address.appendBinary(to: &bytes)
        case (.macaddr8, .macAddress(let address)) where address.isEUI64: address.appendBinary(to: &bytes)
        case (.bit, .bits(let bits)), (.varbit, .bits(let bits)): bits.appendBinary(to: &bytes)
        case (.money, .money(let money)): money.appendBinary(to: &bytes)
        case (.point, .point(let point)): point.appendBinary(to: &bytes)
        case (.line, .line(let line)): line.appendBinary(to: &bytes)
        case (.lseg, .lineSegment(let segment)): segment.appendBinary(to: &bytes)
        case (.box, .box(let box)): box.appendBinary(to: &bytes)
        case (.path, .path(let path)): path.appendBinary(to: &bytes)
        case (.polygon, .polygon(let polygon)): polygon.appendBinary(to: &bytes)
        case (.circle, .circle(let circle)): circle.appendBinary(to: &bytes)
        case (.tsvector, .tsVector(let vector)): vector.appendBinary(to: &bytes)
        // The server accepts an empty query only as text.
        case (.tsquery, .tsQuery(.empty)): return try appendText(value, &bytes)
        case (.tsquery, .tsQuery(let query)): query.appendBinary(to: &bytes)
        case (_, .integer) where type.isCatalogReference:
            bytes.appendBigEndian(try integer(value, type) as UInt32)
        case (_, .other(let raw)) where raw.dataType == type && raw.format == .text:
            return try appendText(value, &bytes)
        case (_, .string(let text)):
            if let read = TextDecoder.value(text, type), read != value, read.hasBinaryForm {
                return try encodeScalar(read, as: type, into: &bytes)
            }
            return try appendText(value, &bytes)
        default: throw mismatch(value, type)
        }
        return .binary
    }
}

extension PostgresDataType {
    /// Whether its values are OIDs of catalog rows, or other 32-bit numbers that are only identifiers.
    var isCatalogReference: Bool {
        switch self {
        case .regproc, .regprocedure, .regoper, .regoperator, .regclass, .regtype, .regrole, .regnamespace, .regconfig,
            .regdictionary, .regcollation, .xid, .cid:
            true
        default: false
        }
    }
}

extension PostgresValue {
    /// Whether the library can encode the value itself; the server has to parse other texts.
    var hasBinaryForm: Bool {
        if case .other(let raw) = self { raw.format == .binary } else { true }
    }

    /// Whether the server can parse `description` as the value.
    var hasText: Bool {
        switch self {
        case .other(let raw): raw.text != nil
        case .array(let array): array.elements.allSatisfy { $0?.hasText ?? true }
        case .composite(let composite): composite.fields.allSatisfy { $0.value?.hasText ?? true }
        case .range(let range): range.hasText
        case .multirange(let multirange): multirange.ranges.allSatisfy(\.hasText)
        default: true
        }
    }
}

extension PostgresRange<PostgresValue> {
    fileprivate var hasText: Bool { (lower.bound?.hasText ?? true) && (upper.bound?.hasText ?? true) }
}
