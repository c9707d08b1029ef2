/// A `box`: a rectangle whose sides are parallel to the axes.
public struct PostgresBox: Sendable, Hashable {
    /// The corner with the greater coordinates.
    public let upperRight: PostgresPoint
    /// The corner with the lesser coordinates.
    public let lowerLeft: PostgresPoint

    /// The box between any two opposite corners.
    public init(_ corner: PostgresPoint, _ opposite: PostgresPoint) {
        // The server orders corners the same way; NaN sorts after every number.
        func isLess(_ a: Double, _ b: Double) -> Bool { b.isNaN ? !a.isNaN : a < b }
        func sorted(_ a: Double, _ b: Double) -> (high: Double, low: Double) { isLess(a, b) ? (b, a) : (a, b) }
        let x = sorted(corner.x, opposite.x)
        let y = sorted(corner.y, opposite.y)
        upperRight = PostgresPoint(x: x.high, y: y.high)
        lowerLeft = PostgresPoint(x: x.low, y: y.low)
    }
}

extension PostgresBox: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let points = [PostgresPoint](count: 2, binary: &reader) else { return nil }
        self.init(points[0], points[1])
    }

    func appendBinary(to bytes: inout [UInt8]) { [upperRight, lowerLeft].appendBinary(to: &bytes) }
}

extension PostgresBox: LosslessStringConvertible {
    /// The box of a text such as `(1,1),(0,0)`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard let points = scanner.points(), points.count == 2, scanner.isAtEnd else { return nil }
        self.init(points[0], points[1])
    }

    /// The box as the server prints it: `(1,1),(0,0)`.
    public var description: String { "\(upperRight),\(lowerLeft)" }
}
