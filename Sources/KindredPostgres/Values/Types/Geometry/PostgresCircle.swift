/// A `circle`.
public struct PostgresCircle: Sendable {
    /// The middle.
    public let center: PostgresPoint
    /// The distance from the middle; never negative.
    public let radius: Double

    /// A circle; nil if the radius is negative.
    public init?(center: PostgresPoint, radius: Double) {
        guard !(radius < 0) else { return nil }
        self.center = center
        self.radius = radius
    }
}

extension PostgresCircle: Hashable {
    /// Whether the numbers are the same; NaN is the same as NaN.
    public static func == (left: PostgresCircle, right: PostgresCircle) -> Bool {
        left.center == right.center && left.radius.isSame(as: right.radius)
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(center)
        radius.hashSame(into: &hasher)
    }
}

extension PostgresCircle: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let center = PostgresPoint(binary: &reader), let radius = reader.nextDouble() else { return nil }
        self.init(center: center, radius: radius)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        center.appendBinary(to: &bytes)
        bytes.appendBigEndian(radius.bitPattern)
    }
}

extension PostgresCircle: LosslessStringConvertible {
    /// The circle of a text such as `<(0,0),1>`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard scanner.skip("<"), let center = scanner.point(), scanner.skip(","), let radius = scanner.number(),
            scanner.skip(">"), scanner.isAtEnd
        else { return nil }
        self.init(center: center, radius: radius)
    }

    /// The circle as the server prints it: `<(0,0),1>`.
    public var description: String { "<\(center),\(NumberText.text(radius))>" }
}

extension PostgresCircle: NeutralValue {
    /// The origin alone.
    public static var neutralValue: PostgresCircle { PostgresCircle() }

    private init() { (center, radius) = (.neutralValue, 0) }
}
