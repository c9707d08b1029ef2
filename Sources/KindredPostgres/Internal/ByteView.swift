#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Bytes that are lent for the length of a call, such as the bytes of a value in a row or of a text.
///
/// Safe within its bounds: each access checks them, in release builds too. Safe in time: a view is made only by the
/// functions that lend it to a closure, for as long as the memory lives and does not change; as with the buffers that
/// the standard library lends, the closure does not let the view out. With `RawSpan` the compiler would prove that, but
/// a reader cannot store a span without lifetime annotations, which are experimental in Swift 6.2, and it is no
/// collection.
@safe
package struct ByteView: RandomAccessCollection {
    @usableFromInline let memory: UnsafeRawBufferPointer

    /// A view of memory that the caller keeps alive and unchanged for as long as the view is used.
    @inlinable
    @unsafe
    package init(lending memory: UnsafeRawBufferPointer) {
        unsafe self.memory = memory
    }

    /// The bytes of a slice, counted from 0.
    @inlinable
    package init(rebasing slice: Slice<ByteView>) {
        // Slices are made within bounds only.
        self = unsafe ByteView(lending: UnsafeRawBufferPointer(rebasing: slice.base.memory[slice.indices]))
    }

    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { unsafe memory.count }
    @inlinable package var count: Int { unsafe memory.count }

    @inlinable
    package subscript(position: Int) -> UInt8 {
        precondition(position >= 0 && position < count, "A byte beyond the bytes that were lent")
        return unsafe memory[position]
    }

    /// The bytes of a range, counted from 0.
    @inlinable
    package func part(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Bytes beyond those that were lent")
        return unsafe ByteView(lending: UnsafeRawBufferPointer(rebasing: memory[range]))
    }

    /// The integer at an offset, most significant byte first, as the server sends it.
    @inlinable
    @inline(__always)
    package func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int = 0, as type: T.Type) -> T {
        T(bigEndian: load(at: offset, as: type))
    }

    /// The integer at an offset, in the machine's own order.
    @inlinable
    @inline(__always)
    package func load<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int = 0, as type: T.Type) -> T {
        precondition(
            offset >= 0 && count - offset >= MemoryLayout<T>.size, "An integer beyond the bytes that were lent")
        // Every pattern of bits is an integer.
        return unsafe memory.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// The UUID that the bytes are; nil unless there are 16.
    package var uuid: UUID? {
        // Any 16 bytes are a UUID.
        count == 16 ? UUID(uuid: unsafe memory.loadUnaligned(as: uuid_t.self)) : nil
    }

    /// A copy of the bytes.
    package var array: [UInt8] { unsafe Array(memory) }

    /// Whether both hold the same bytes.
    package func isEqual(to other: ByteView) -> Bool {
        guard count == other.count else { return false }
        guard let address = unsafe memory.baseAddress, let otherAddress = unsafe other.memory.baseAddress else {
            return true
        }
        return unsafe memcmp(address, otherAddress, count) == 0
    }

    /// Whether the bytes come before other bytes: in the order of `memcmp`, and a prefix before the longer bytes.
    package func precedes(_ other: ByteView) -> Bool {
        let common = Swift.min(count, other.count)
        if common > 0, let address = unsafe memory.baseAddress, let otherAddress = unsafe other.memory.baseAddress {
            let difference = unsafe memcmp(address, otherAddress, common)
            if difference != 0 { return difference < 0 }
        }
        return count < other.count
    }

    /// Hashes the bytes, without their number.
    package func hash(into hasher: inout Hasher) { unsafe hasher.combine(bytes: memory) }

    /// The first position of a byte at or behind another.
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start >= 0, start < count, let address = unsafe memory.baseAddress,
            let found = unsafe memchr(address + start, Int32(byte), count - start)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - address
    }

    /// Lends the bytes to the standard library's algorithms, which copy them at once then.
    @inlinable
    package func withContiguousStorageIfAvailable<T>(_ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T? {
        try unsafe memory.withMemoryRebound(to: UInt8.self, body)
    }

    /// Lends the bytes as a span.
    @inlinable
    package func withSpan<T>(_ body: (RawSpan) throws -> T) rethrows -> T { try unsafe body(memory.bytes) }
}

extension String {
    /// Lends the bytes; nearly all strings store them contiguously, so nothing is copied.
    @inline(__always)
    package func withBytes<T>(_ body: (ByteView) throws -> T) rethrows -> T {
        let result = try unsafe utf8.withContiguousStorageIfAvailable {
            try unsafe body(ByteView(lending: UnsafeRawBufferPointer($0)))
        }
        if let result { return result }
        var text = self
        return try text.withUTF8 { try unsafe body(ByteView(lending: UnsafeRawBufferPointer($0))) }
    }
}

extension StaticString {
    /// Lends the bytes.
    @inline(__always)
    package func withBytes<T>(_ body: (ByteView) -> T) -> T {
        withUTF8Buffer { unsafe body(ByteView(lending: UnsafeRawBufferPointer($0))) }
    }
}

extension RawSpan {
    /// The integer that fills the bytes.
    @inline(__always)
    func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) -> T? {
        guard byteCount == MemoryLayout<T>.size else { return nil }
        // Every pattern of bits is an integer.
        return T(bigEndian: unsafe unsafeLoadUnaligned(as: T.self))
    }

    /// Lends the bytes as a view.
    @inline(__always)
    package func withBytes<T>(_ body: (ByteView) throws -> T) rethrows -> T {
        try unsafe withUnsafeBytes { try unsafe body(ByteView(lending: $0)) }
    }
}

extension [UInt8] {
    /// Lends the bytes.
    @inline(__always)
    package func withBytes<T>(_ body: (ByteView) throws -> T) rethrows -> T {
        try unsafe withUnsafeBytes { try unsafe body(ByteView(lending: $0)) }
    }

    /// Appends an integer, most significant byte first.
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }

    /// Appends bytes in one piece.
    mutating func append(_ bytes: ByteView) { unsafe append(contentsOf: bytes.memory) }

    /// Appends bytes behind their number.
    mutating func appendCell(_ cell: ByteView) {
        appendBigEndian(Int32(clamping: cell.count))
        append(cell)
    }

    /// Overwrites bytes that were appended before.
    mutating func replaceBigEndian(_ value: Int32, at offset: Int) {
        // The buffer checks its bounds in debug builds only.
        precondition(offset >= 0 && count - offset >= 4, "An integer beyond the bytes that were appended")
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self)
        }
    }

    /// Appends the 16 bytes of a UUID.
    mutating func append(_ uuid: UUID) {
        unsafe Swift.withUnsafeBytes(of: uuid.uuid) { unsafe append(contentsOf: $0) }
    }
}
