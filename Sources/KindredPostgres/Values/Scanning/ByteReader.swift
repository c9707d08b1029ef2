/// Reads numbers and slices from the front of encoded bytes; nil if too few are left.
struct ByteReader {
    private var rest: Slice<ByteView>

    init(_ bytes: ByteView) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The number of bytes that are left.
    var count: Int { rest.count }

    mutating func next<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) -> T? {
        next(MemoryLayout<T>.size).map { $0.bigEndian(as: T.self) }
    }

    mutating func nextDouble() -> Double? {
        next(UInt64.self).map(Double.init(bitPattern:))
    }

    mutating func nextFloat() -> Float? {
        next(UInt32.self).map(Float.init(bitPattern:))
    }

    mutating func next(_ count: Int) -> ByteView? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return ByteView(rebasing: rest.prefix(count))
    }

    /// Text that ends with a NUL.
    mutating func nextText() -> String? {
        guard let end = rest.firstIndex(of: 0) else { return nil }
        let text = nextText(end - rest.startIndex)
        rest = rest.dropFirst()
        return text
    }

    /// Text of so many bytes.
    mutating func nextText(_ count: Int) -> String? {
        next(count).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A value with its length before it; nil for NULL.
    mutating func nextField() -> ByteView?? {
        guard let length = next(Int32.self) else { return nil }
        if length < 0 { return .some(nil) }
        return next(Int(length)).map { $0 }
    }
}
