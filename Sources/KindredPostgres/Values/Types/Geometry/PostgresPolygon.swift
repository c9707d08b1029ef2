/// A `polygon`.
public struct PostgresPolygon: Sendable, Hashable {
    /// The corners, one at least.
    public let points: [PostgresPoint]

    /// A polygon; nil without a point.
    public init?(points: [PostgresPoint]) {
        guard !points.isEmpty else { return nil }
        self.points = points
    }
}

extension PostgresPolygon: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let count = reader.next(Int32.self), let points = [PostgresPoint](count: Int(count), binary: &reader)
        else { return nil }
        self.init(points: points)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: points.count))
        points.appendBinary(to: &bytes)
    }
}

extension PostgresPolygon: LosslessStringConvertible {
    /// The polygon of a text such as `((0,0),(1,1),(1,0))`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard scanner.skip("("), let points = scanner.points(), scanner.skip(")"), scanner.isAtEnd else { return nil }
        self.init(points: points)
    }

    /// The polygon as the server prints it: `((0,0),(1,1),(1,0))`.
    public var description: String { "(\(points.listed))" }
}

extension PostgresPolygon: NeutralValue {
    /// The origin alone.
    public static var neutralValue: PostgresPolygon { PostgresPolygon() }

    private init() { points = [.neutralValue] }
}
