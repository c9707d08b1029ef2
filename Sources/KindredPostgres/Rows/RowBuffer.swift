/// The memory of a row: one allocation for the object, the columns and the bytes behind them.
///
/// An array of bytes would do, but to make one costs more than the rest of a row: the standard library looks its class up
/// each time. With the columns in it a row is one reference, which is what a copy of it costs. Filled once, before anybody
/// else sees it, and never changed.
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt8> {
    struct Header {
        /// Retained by the buffer as long as it is there: whoever reads a value borrows it, where a strong reference would
        /// be retained and released each time.
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

    /// What can be known of a column's values at once; the caller knows that it is there.
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
