/// A `money`: an amount in the smallest unit of the server's currency, such as cents.
///
/// The server's setting `lc_monetary` decides which currency that is, and how many units it has.
public struct PostgresMoney: Sendable, Hashable, Comparable {
    /// The amount in the smallest unit.
    public let units: Int64

    /// An amount in the smallest unit.
    public init(units: Int64) {
        self.units = units
    }

    /// Whether the left amount is less.
    public static func < (left: PostgresMoney, right: PostgresMoney) -> Bool { left.units < right.units }
}

extension PostgresMoney: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let units: Int64 = reader.next() else { return nil }
        self.init(units: units)
    }

    func appendBinary(to bytes: inout [UInt8]) { bytes.appendBigEndian(units) }
}

extension PostgresMoney: LosslessStringConvertible {
    /// Parses the amount as servers print it if `lc_monetary` is `C`: `$1,234.56`.
    public init?(_ text: String) {
        let isNegative = text.hasPrefix("-")
        var rest = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard rest.popFirst() == UInt8(ascii: "$") else { return nil }
        let parts = rest.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 2 else { return nil }
        let groups = parts[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard (1...3).contains(groups[0].count), groups.dropFirst().allSatisfy({ $0.count == 3 }) else { return nil }
        let digits = Array(groups.joined()) + Array(parts[1])
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let units = Int64((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(units: units)
    }

    /// The amount as servers print it if `lc_monetary` is `C`: `$1,234.56`.
    public var description: String {
        let units = self.units.magnitude
        var text = Array(String(units / 100))
        for position in stride(from: text.count - 3, to: 0, by: -3) { text.insert(",", at: position) }
        return "\(self.units < 0 ? "-" : "")$\(String(text)).\(CivilDate.padded(Int64(units % 100), 2))"
    }
}
