/// A `vector` of the extension pgvector.
public struct PostgresVector: Sendable, Hashable {
    /// The numbers.
    public let elements: [Float]

    /// A vector; nil unless it has 1 to 16,000 finite numbers.
    public init?(_ elements: [Float]) {
        guard (1...16_000).contains(elements.count), elements.allSatisfy(\.isFinite) else { return nil }
        self.elements = elements
    }
}

extension PostgresVector: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        guard let count = reader.next(Int16.self), reader.next(Int16.self) == 0, reader.count == 4 * Int(count) else {
            return nil
        }
        self.init((0..<count).compactMap { _ in reader.nextFloat() })
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int16(clamping: elements.count))
        bytes.appendBigEndian(0 as Int16)
        for element in elements { bytes.appendBigEndian(element.bitPattern) }
    }
}

extension PostgresVector: LosslessStringConvertible {
    /// The vector of a text such as `[1,2.5,3]`.
    public init?(_ text: String) {
        guard text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count > 2 else { return nil }
        let parts = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 16_000 else { return nil }
        let elements = parts.compactMap { NumberText.number(String($0)) as Float? }
        guard elements.count == parts.count else { return nil }
        self.init(elements)
    }

    /// The vector as the server prints it: `[1,2.5,3]`.
    public var description: String { "[\(elements.map { NumberText.text($0) }.joined(separator: ","))]" }
}

extension PostgresVector: PostgresEncodable, PostgresDecodable {
    /// A `vector`.
    public var postgresValue: PostgresValue? { .vector(self) }

    /// Reads a `vector`.
    public init(postgresValue value: PostgresValue) throws {
        if case .vector(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresVector: NeutralValue {
    /// One zero, since a vector is never empty.
    public static var neutralValue: PostgresVector { PostgresVector() }

    private init() { elements = [0] }
}
