/// Reads geometric values as the server prints them.
struct GeometryScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text.utf8[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number() -> Double? {
        let digits = rest.prefix { !"(),[]{}<>".utf8.contains($0) }
        guard let number: Double = NumberText.number(String(Substring(digits))) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    mutating func point() -> PostgresPoint? {
        guard skip("("), let x = number(), skip(","), let y = number(), skip(")") else { return nil }
        return PostgresPoint(x: x, y: y)
    }

    /// Points with commas between them, one at least.
    mutating func points() -> [PostgresPoint]? {
        var points: [PostgresPoint] = []
        repeat {
            guard let point = point() else { return nil }
            points.append(point)
        } while skip(",")
        return points
    }
}

extension [PostgresPoint] {
    /// Reads so many points.
    init?(count: Int, binary reader: inout ByteReader) {
        guard count >= 0, count <= reader.count / 16 else { return nil }
        self = []
        reserveCapacity(count)
        for _ in 0..<count {
            guard let point = PostgresPoint(binary: &reader) else { return nil }
            append(point)
        }
    }

    func appendBinary(to bytes: inout [UInt8]) {
        for point in self { point.appendBinary(to: &bytes) }
    }

    /// The points with commas between them.
    var listed: String { map(\.description).joined(separator: ",") }
}
