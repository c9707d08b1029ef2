/// A `point` of the plane.
public struct PostgresPoint: Sendable {
    /// The distance to the right.
    public let x: Double
    /// The distance upwards.
    public let y: Double

    /// A point.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

extension PostgresPoint: Hashable {
    /// Whether the coordinates are the same; NaN is the same as NaN.
    public static func == (left: PostgresPoint, right: PostgresPoint) -> Bool {
        left.x.isSame(as: right.x) && left.y.isSame(as: right.y)
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        x.hashSame(into: &hasher)
        y.hashSame(into: &hasher)
    }
}

extension PostgresPoint: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let x = reader.nextDouble(), let y = reader.nextDouble() else { return nil }
        self.init(x: x, y: y)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(x.bitPattern)
        bytes.appendBigEndian(y.bitPattern)
    }
}

extension PostgresPoint: LosslessStringConvertible {
    /// The point of a text such as `(1,2.5)`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard let point = scanner.point(), scanner.isAtEnd else { return nil }
        self = point
    }

    /// The point as the server prints it: `(1,2.5)`.
    public var description: String { "(\(NumberText.text(x)),\(NumberText.text(y)))" }
}

extension FloatingPoint where Self: Hashable {
    /// Whether the numbers are the same; NaN is the same as NaN.
    func isSame(as other: Self) -> Bool { self == other || isNaN && other.isNaN }

    /// Hashes the parts that `isSame` compares.
    func hashSame(into hasher: inout Hasher) { hasher.combine(isNaN ? 0 : self) }
}
