/// An `inet` or a `cidr`: an IPv4 or IPv6 address and the length of its network's prefix.
public struct PostgresInet: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64
    private let prefix: UInt8
    /// Whether it is an IPv6 address.
    public let isIPv6: Bool

    /// The number of bits, from the left, that name the network: 32 or 128 for a single host.
    public var prefixLength: Int { Int(prefix) }

    /// An address of 4 or 16 bytes; nil for any other number of bytes, or a prefix longer than the address.
    ///
    /// - Parameters:
    ///   - address: the bytes of the address, the most significant first.
    ///   - prefixLength: the bits that name the network; nil is all of them.
    public init?(address: some Collection<UInt8>, prefixLength: Int? = nil) {
        let bits = address.count * 8
        guard bits == 32 || bits == 128, (0...bits).contains(prefixLength ?? bits) else { return nil }
        high = address.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = address.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
        isIPv6 = bits == 128
        prefix = UInt8(prefixLength ?? bits)
    }

    /// The address's bytes, 4 or 16.
    public var address: [UInt8] {
        let bytes = [high, low].flatMap { word in
            (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
        return isIPv6 ? bytes : Array(bytes[4..<8])
    }

    /// Whether no bit is set after the prefix, as a `cidr` requires.
    public var isNetwork: Bool {
        address.enumerated().allSatisfy { position, byte in
            let bits = prefixLength - 8 * position
            return bits >= 8 || byte & (bits <= 0 ? 0xFF : 0xFF >> UInt8(bits)) == 0
        }
    }
}

extension PostgresInet: PostgresScalar {
    /// The server's own numbers for the families of addresses.
    private static let ipv4: UInt8 = 2
    private static let ipv6: UInt8 = 3

    init?(binary reader: inout ByteReader) {
        guard let family = reader.next(UInt8.self), let prefix = reader.next(UInt8.self),
            reader.next(UInt8.self) != nil, let count = reader.next(UInt8.self),
            count == (family == Self.ipv4 ? 4 : family == Self.ipv6 ? 16 : 0), let bytes = reader.next(Int(count))
        else { return nil }
        self.init(address: bytes, prefixLength: Int(prefix))
    }

    func appendBinary(to bytes: inout [UInt8]) { appendBinary(isCIDR: false, to: &bytes) }

    func appendBinary(isCIDR: Bool, to bytes: inout [UInt8]) {
        bytes += [isIPv6 ? Self.ipv6 : Self.ipv4, prefix, isCIDR ? 1 : 0, isIPv6 ? 16 : 4]
        bytes += address
    }
}

extension PostgresInet: LosslessStringConvertible {
    /// The address that a text such as `192.168.0.1`, `10.0.0.0/8` or `2001:db8::1/64` names.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = Self.ipv4(parts[0]) ?? Self.ipv6(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self.init(address: address)
            return
        }
        guard (1...3).contains(parts[1].utf8.count), let prefix = UInt8(parts[1]), !parts[1].hasPrefix("+") else {
            return nil
        }
        self.init(address: address, prefixLength: Int(prefix))
    }

    private static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func ipv6(_ text: Substring) -> [UInt8]? {
        guard let gap = text.utf8.firstRange(of: "::".utf8) else {
            return words(text).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let before = words(text[..<gap.lowerBound]), let after = words(text[gap.upperBound...]),
            before.count + after.count <= 14
        else { return nil }
        return before + Array(repeating: 0, count: 16 - before.count - after.count) + after
    }

    /// Words of 16 bits in hexadecimal, the last two of them possibly as an IPv4 address.
    private static func words(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (position, part) in parts.enumerated() {
            if position == parts.count - 1, let last = ipv4(part) {
                bytes += last
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0.hexDigitValue != nil }),
                    let word = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(word >> 8), UInt8(word & 0xFF)]
            }
        }
        return bytes
    }

    /// The address as the server prints an `inet`: without its prefix where that is the whole address.
    public var description: String {
        let text = isIPv6 ? ipv6Text : address.map(String.init).joined(separator: ".")
        return prefixLength == (isIPv6 ? 128 : 32) ? text : "\(text)/\(prefixLength)"
    }

    /// The longest run of zero words is left out.
    private var ipv6Text: String {
        let bytes = address
        let words = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var gap = 0..<0
        var start = 0
        for position in 0...8 where position == 8 || words[position] != 0 {
            if position - start > max(gap.count, 1) { gap = start..<position }
            start = position + 1
        }
        // An IPv4 address in the last two words is printed as one.
        let isMapped = gap == 0..<6 || gap == 0..<5 && words[5] == 0xFFFF
        let end = isMapped ? 6 : 8
        func text(_ range: Range<Int>) -> [String] { range.map { String(words[$0], radix: 16) } }
        let tail = isMapped ? [bytes[12...].map(String.init).joined(separator: ".")] : []
        if gap.isEmpty { return text(0..<8).joined(separator: ":") }
        let after = (text(min(gap.upperBound, end)..<end) + tail).joined(separator: ":")
        return "\(text(0..<gap.lowerBound).joined(separator: ":"))::\(after)"
    }
}

extension PostgresInet: NeutralValue {
    /// The address 0.0.0.0.
    public static var neutralValue: PostgresInet { PostgresInet() }

    private init() { (high, low, prefix, isIPv6) = (0, 0, 32, false) }
}
