/// The memory of a row: one allocation for the object, the columns and the bytes behind them.
///
/// An array of bytes would do, but to make one costs more than the rest of a row: the standard library looks its class up
/// each time. With the columns in it a row is one reference, which is what a copy of it costs. Filled once, before anybody
/// else sees it, and never changed.
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt8> {
    struct Header {
        let columns: RowColumns
        /// The number of values.
        let count: Int32
        /// The number of bytes.
        let size: Int
    }

    /// A buffer whose bytes `fill` sets, all of them.
    static func filled(
        _ columns: RowColumns, count: Int, size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> RowBuffer {
        let header = Header(columns: columns, count: Int32(clamping: count), size: size)
        let buffer = unsafeDowncast(create(minimumCapacity: size) { _ in header }, to: RowBuffer.self)
        buffer.withUnsafeMutablePointerToElements { bytes in
            fill(UnsafeMutableRawBufferPointer(start: bytes, count: size))
        }
        return buffer
    }

    var columns: RowColumns { withUnsafeMutablePointerToHeader { $0.pointee.columns } }

    /// The number of values.
    var count: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.count) } }

    /// Lends the bytes.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withUnsafeMutablePointers { header, bytes in
            try body(UnsafeRawBufferPointer(start: bytes, count: header.pointee.size))
        }
    }
}
