/// A `path` from point to point, open or closed.
public struct PostgresPath: Sendable, Hashable {
    /// The points, one at least.
    public let points: [PostgresPoint]
    /// Whether the last point is connected with the first.
    public let isClosed: Bool

    /// A path; nil without a point.
    public init?(points: [PostgresPoint], isClosed: Bool) {
        guard !points.isEmpty else { return nil }
        self.points = points
        self.isClosed = isClosed
    }
}

extension PostgresPath: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let closed = reader.next(UInt8.self), let count = reader.next(Int32.self),
            let points = [PostgresPoint](count: Int(count), binary: &reader)
        else { return nil }
        self.init(points: points, isClosed: closed != 0)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.append(isClosed ? 1 : 0)
        bytes.appendBigEndian(Int32(clamping: points.count))
        points.appendBinary(to: &bytes)
    }
}

extension PostgresPath: LosslessStringConvertible {
    /// The path of a text such as `[(0,0),(1,1)]`, or of `((0,0),(1,1))` if it is closed.
    public init?(_ text: String) {
        var scanner = GeometryScanner(text)
        let isClosed = scanner.skip("(")
        guard isClosed || scanner.skip("["), let points = scanner.points(), scanner.skip(isClosed ? ")" : "]"),
            scanner.isAtEnd
        else { return nil }
        self.init(points: points, isClosed: isClosed)
    }

    /// The path as the server prints it.
    public var description: String { isClosed ? "(\(points.listed))" : "[\(points.listed)]" }
}

extension PostgresPath: NeutralValue {
    /// The origin alone.
    public static var neutralValue: PostgresPath { PostgresPath() }

    private init() { (points, isClosed) = ([.neutralValue], false) }
}
