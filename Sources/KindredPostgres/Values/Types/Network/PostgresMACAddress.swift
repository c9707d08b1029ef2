/// A `macaddr` of 6 bytes or a `macaddr8` of 8 bytes.
public struct PostgresMACAddress: Sendable, Hashable {
    private let address: UInt64
    private let length: UInt8

    /// An address; nil unless there are 6 or 8 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 6 || bytes.count == 8 else { return nil }
        address = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        length = UInt8(bytes.count)
    }

    /// The address's bytes, 6 or 8.
    public var bytes: [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: address >> (8 * UInt64($0))) }
    }

    /// Whether the address has 8 bytes.
    public var isEUI64: Bool { length == 8 }

    /// The address as 8 bytes; six are extended as the server does, with FF and FE in the middle.
    public var eui64: PostgresMACAddress {
        if isEUI64 { return self }
        return PostgresMACAddress(bytes[..<3] + [0xFF, 0xFE] + bytes[3...]) ?? self
    }
}

extension PostgresMACAddress: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let bytes = reader.next(reader.count) else { return nil }
        self.init(bytes)
    }

    /// Reads the binary form of one of the two types.
    init?(binary bytes: ByteView, _ type: PostgresDataType) {
        guard bytes.count == (type == .macaddr8 ? 8 : 6) else { return nil }
        self.init(bytes)
    }

    func appendBinary(to bytes: inout [UInt8]) { bytes += self.bytes }
}

extension PostgresMACAddress: LosslessStringConvertible, Comparable {
    /// The address that a text such as `08:00:2b:01:02:03` names; dashes may stand for the colons.
    public init?(_ text: String) {
        let separator = text.utf8.contains(UInt8(ascii: "-")) ? UInt8(ascii: "-") : UInt8(ascii: ":")
        var bytes: [UInt8] = []
        for part in text.utf8.split(separator: separator, omittingEmptySubsequences: false) {
            guard part.count == 2, let high = part.first?.hexDigitValue, let low = part.last?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.init(bytes)
    }

    /// The address as the server prints it: `08:00:2b:01:02:03`.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }

    /// Whether the left address is the lesser number; shorter addresses come first.
    public static func < (left: PostgresMACAddress, right: PostgresMACAddress) -> Bool {
        (left.length, left.address) < (right.length, right.address)
    }
}

extension PostgresMACAddress: NeutralValue {
    /// Six zeros.
    public static var neutralValue: PostgresMACAddress { PostgresMACAddress() }

    private init() { (address, length) = (0, 6) }
}
