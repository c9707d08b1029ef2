/// An `lseg`: the part of a line between two points.
public struct PostgresLineSegment: Sendable, Hashable {
    /// The first end.
    public let start: PostgresPoint
    /// The other end.
    public let end: PostgresPoint

    /// A segment between two points.
    public init(start: PostgresPoint, end: PostgresPoint) {
        self.start = start
        self.end = end
    }
}

extension PostgresLineSegment: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let points = [PostgresPoint](count: 2, binary: &reader) else { return nil }
        self.init(start: points[0], end: points[1])
    }

    func appendBinary(to bytes: inout [UInt8]) { [start, end].appendBinary(to: &bytes) }
}

extension PostgresLineSegment: LosslessStringConvertible {
    /// The segment of a text such as `[(0,0),(1,1)]`.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        guard scanner.skip("["), let points = scanner.points(), points.count == 2, scanner.skip("]"), scanner.isAtEnd
        else { return nil }
        self.init(start: points[0], end: points[1])
    }

    /// The segment as the server prints it: `[(0,0),(1,1)]`.
    public var description: String { "[\(start),\(end)]" }
}
