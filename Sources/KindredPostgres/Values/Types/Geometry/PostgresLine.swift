/// A `line` without ends: the points where Ax + By + C is 0.
public struct PostgresLine: Sendable {
    /// The factor of x.
    public let a: Double
    /// The factor of y.
    public let b: Double
    /// The constant.
    public let c: Double

    /// PostgreSQL treats numbers up to this as zero.
    private static let epsilon = 1e-6

    /// A line; nil if both factors are zero, or as small as PostgreSQL's tolerance.
    public init?(a: Double, b: Double, c: Double) {
        guard !(abs(a) <= Self.epsilon && abs(b) <= Self.epsilon) else { return nil }
        self.a = a
        self.b = b
        self.c = c
    }
}

extension PostgresLine: Hashable {
    /// Whether the numbers are the same; NaN is the same as NaN.
    public static func == (left: PostgresLine, right: PostgresLine) -> Bool {
        left.a.isSame(as: right.a) && left.b.isSame(as: right.b) && left.c.isSame(as: right.c)
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for number in [a, b, c] { number.hashSame(into: &hasher) }
    }
}

extension PostgresLine: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let a = reader.nextDouble(), let b = reader.nextDouble(), let c = reader.nextDouble() else { return nil }
        self.init(a: a, b: b, c: c)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        for number in [a, b, c] { bytes.appendBigEndian(number.bitPattern) }
    }
}

extension PostgresLine: LosslessStringConvertible {
    /// The line of a text such as `{1,-1,0}`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard scanner.skip("{"), let a = scanner.number(), scanner.skip(","), let b = scanner.number(),
            scanner.skip(","), let c = scanner.number(), scanner.skip("}"), scanner.isAtEnd
        else { return nil }
        self.init(a: a, b: b, c: c)
    }

    /// The line as the server prints it: `{1,-1,0}`.
    public var description: String { "{\([a, b, c].map { NumberText.text($0) }.joined(separator: ","))}" }
}

extension PostgresLine: NeutralValue {
    /// The x axis.
    public static var neutralValue: PostgresLine { PostgresLine() }

    private init() { (a, b, c) = (0, 1, 0) }
}
