/// The memory of a row: one allocation for the object, the columns and the bytes behind them.
///
/// Making an array of bytes costs more than the rest of a row: the standard library looks up its class each time. With the
/// columns inside, a row is one reference, and so cheap to copy. Filled once, before it is shared, and immutable
/// afterwards.
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt8> {
    struct Header {
        /// Retained by the buffer for its lifetime, so that readers borrow it; a strong reference would be retained and
        /// released at each access.
        let columns: Unmanaged<RowColumns>
        /// The number of values.
        let count: Int32
        /// The number of bytes.
        let size: Int
    }

    /// A buffer whose bytes `fill` sets, all of them.
    static func filled(
        _ columns: RowColumns, count: Int, size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> RowBuffer {
        let header = Header(columns: Unmanaged.passRetained(columns), count: Int32(clamping: count), size: size)
        let buffer = unsafeDowncast(create(minimumCapacity: size) { _ in header }, to: RowBuffer.self)
        buffer.withUnsafeMutablePointerToElements { bytes in
            fill(UnsafeMutableRawBufferPointer(start: bytes, count: size))
        }
        return buffer
    }

    deinit {
        withUnsafeMutablePointerToHeader { $0.pointee.columns.release() }
    }

    var columns: RowColumns { withUnsafeMutablePointerToHeader { $0.pointee.columns.takeUnretainedValue() } }

    /// The kind of a column's values; the column must exist.
    func kind(at column: Int) -> RowColumns.Kind {
        withUnsafeMutablePointerToHeader { $0.pointee.columns._withUnsafeGuaranteedRef { $0.kind(at: column) } }
    }

    /// The number of values.
    var count: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.count) } }

    /// Lends the bytes.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withUnsafeMutablePointers { header, bytes in
            try body(UnsafeRawBufferPointer(start: bytes, count: header.pointee.size))
        }
    }
}
