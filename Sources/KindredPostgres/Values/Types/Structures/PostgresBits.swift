/// A `bit` or `bit varying`: a string of bits.
public struct PostgresBits: Sendable, Hashable {
    /// The bits, eight to a byte from the left, padded with zeros.
    public let bytes: [UInt8]
    /// The number of bits.
    public let count: Int

    /// PostgreSQL's limit, a signed 32-bit count.
    private static let maximumCount = Int(Int32.max) - 7

    /// The first bits of bytes; nil unless the number of bytes fits and the padding is zero.
    public init?(bytes: [UInt8], count: Int) {
        guard count >= 0, count <= Self.maximumCount, bytes.count == (count + 7) / 8,
            count % 8 == 0 || (bytes.last ?? 0) & (0xFF >> UInt8(count % 8)) == 0
        else { return nil }
        self.bytes = bytes
        self.count = count
    }

    /// The given bits.
    public init(_ bits: some Collection<Bool>) {
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (position, bit) in bits.enumerated() where bit { bytes[position / 8] |= 0x80 >> UInt8(position % 8) }
        self.bytes = bytes
        count = bits.count
    }

    /// The bit at a position from the left; false where there is none.
    public subscript(position: Int) -> Bool {
        position >= 0 && position < count && bytes[position / 8] & 0x80 >> UInt8(position % 8) != 0
    }
}

extension PostgresBits: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let count = reader.next(Int32.self), let bytes = reader.next(reader.count) else { return nil }
        self.init(bytes: Array(bytes), count: Int(count))
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: count))
        bytes += self.bytes
    }
}

extension PostgresBits: LosslessStringConvertible {
    /// The bits of a text such as `0110`.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 | 1 == UInt8(ascii: "1") }), text.utf8.count <= Self.maximumCount else {
            return nil
        }
        self.init(text.utf8.map { $0 == UInt8(ascii: "1") })
    }

    /// The bits as the server prints them: `0110`.
    public var description: String {
        String(decoding: (0..<count).map { UInt8(ascii: self[$0] ? "1" : "0") }, as: UTF8.self)
    }
}
