/// The memory of a row: one allocation for the object and the bytes behind it.
///
/// An array of bytes would do, but to make one costs more than the rest of a row: the standard library looks its class up
/// each time. Filled once, before anybody else sees it, and never changed.
final class RowBuffer: ManagedBuffer<Int, UInt8> {
    /// A buffer whose bytes `fill` sets, all of them.
    static func filled(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) -> RowBuffer {
        let buffer = unsafeDowncast(create(minimumCapacity: count) { _ in count }, to: RowBuffer.self)
        buffer.withUnsafeMutablePointerToElements { bytes in
            fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
        }
        return buffer
    }

    /// Lends the bytes.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withUnsafeMutablePointers { count, bytes in
            try body(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
        }
    }
}
