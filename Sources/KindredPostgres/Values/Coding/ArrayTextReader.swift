/// Reads arrays as the server prints them: `{1,NULL,"a b"}`, `[0:1]={…}`, nested braces for several dimensions.
struct ArrayTextReader {
    private let bytes: ByteView
    private var position = 0
    /// The number of items at each depth, once a pair of braces of that depth has closed.
    private var counts: [Int?] = []
    private var elements: [PostgresValue?] = []
    private var item: [UInt8] = []
    private let delimiter: UInt8
    private let decode: (ByteView) throws -> PostgresValue

    private static let maximumDepth = 6

    /// Reads the whole array, its elements by the given function.
    static func read(
        _ bytes: ByteView,
        as type: PostgresDataType,
        of element: PostgresDataType,
        decode: (ByteView) throws -> PostgresValue
    ) throws -> PostgresArray {
        try withoutActuallyEscaping(decode) { decode in
            var reader = ArrayTextReader(bytes: bytes, delimiter: element == .box ? ";" : ",", decode: decode)
            guard let dimensions = try reader.array() else { throw Codec.malformed(type) }
            return try PostgresArray(elementType: element, dimensions: dimensions, elements: reader.elements)
        }
    }

    private init(
        bytes: ByteView,
        delimiter: Unicode.Scalar,
        decode: @escaping (ByteView) throws -> PostgresValue
    ) {
        self.bytes = bytes
        self.delimiter = UInt8(ascii: delimiter)
        self.decode = decode
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func array() throws -> [PostgresArray.Dimension]? {
        var bounds: [ClosedRange<Int>] = []
        while next == UInt8(ascii: "[") {
            guard let bound = bound() else { return nil }
            bounds.append(bound)
        }
        if !bounds.isEmpty { guard skip("=") else { return nil } }
        guard try braces(depth: 0), position == bytes.count else { return nil }
        let counts = counts.compactMap(\.self)
        guard bounds.isEmpty || bounds.map(\.count) == counts else { return nil }
        return counts.enumerated().map { depth, count in
            PostgresArray.Dimension(count: count, lowerBound: bounds.isEmpty ? 1 : bounds[depth].lowerBound)
        }
    }

    /// The bounds of a dimension: `[0:1]`.
    private mutating func bound() -> ClosedRange<Int>? {
        guard bytes.count - position > 4,
            let end = bytes[position..<min(bytes.count, position + 26)].firstIndex(of: UInt8(ascii: "]"))
        else { return nil }
        let parts = bytes[position + 1..<end].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { Int32(String(decoding: $0, as: UTF8.self)) }
        guard parts.count == 2, let lower = parts[0], let upper = parts[1], lower <= upper, upper < .max else {
            return nil
        }
        position = end + 1
        return Int(lower)...Int(upper)
    }

    private mutating func braces(depth: Int) throws -> Bool {
        guard depth < Self.maximumDepth, skip("{") else { return false }
        if skip("}") { return depth == 0 }
        if counts.count == depth { counts.append(nil) }
        var count = 0
        repeat {
            count += 1
            // All items of one depth are arrays, or none is; the count of the next depth tells.
            if next == UInt8(ascii: "{") {
                guard counts.count > depth + 1 || elements.isEmpty, try braces(depth: depth + 1) else { return false }
            } else {
                guard counts.count == depth + 1, try element() else { return false }
            }
        } while skip(Unicode.Scalar(delimiter))
        guard skip("}"), counts[depth] ?? count == count else { return false }
        counts[depth] = count
        return true
    }

    private mutating func element() throws -> Bool {
        item.removeAll(keepingCapacity: true)
        let isQuoted = skip("\"")
        while let byte = next {
            if isQuoted ? byte == UInt8(ascii: "\"") : byte == delimiter || byte == UInt8(ascii: "}") { break }
            position += 1
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next else { return false }
                item.append(escaped)
                position += 1
            } else {
                // The server quotes text with any of these bytes.
                guard isQuoted || byte != UInt8(ascii: "{") && byte != UInt8(ascii: "\"") else { return false }
                item.append(byte)
            }
        }
        guard isQuoted ? skip("\"") : !item.isEmpty else { return false }
        let isNull = !isQuoted && item.elementsEqual("NULL".utf8)
        elements.append(isNull ? nil : try item.withBytes(decode))
        return true
    }
}
