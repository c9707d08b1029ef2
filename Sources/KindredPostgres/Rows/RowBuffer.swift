/// The memory of a row: one allocation for the object, the columns and the bytes behind them.
///
/// The bytes are the end offset of each value, with the highest bit set for NULL; then the values. A protocol message is
/// shorter than 2 GiB, so an offset fits in 31 bits. A row that leaves columns out has NULL for them, and a bit for each
/// column behind the values.
///
/// Making an array of bytes costs more than the rest of a row: the standard library looks up its class each time. With the
/// columns inside, a row is one reference, and so cheap to copy.
///
/// Safe: filled once, by a writer that keeps to the bounds and leaves offsets that ascend up to the size, before the buffer
/// is shared; immutable afterwards.
@safe
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt8> {
    @safe
    struct Header {
        /// Retained by the buffer for its lifetime, so that readers borrow it; a strong reference would be retained and
        /// released at each access.
        let columns: Unmanaged<RowColumns>
        /// The number of values.
        let count: Int32
        /// Whether columns are left out; in the padding behind the count.
        let leavesOut: Bool
        /// The number of bytes.
        var size: Int
    }

    static let null: UInt32 = 1 << 31

    /// The number of bytes behind the values of a row that leaves columns out: a bit for each column.
    static func marksSize(_ count: Int) -> Int { (count + 7) / 8 }

    /// A buffer that has nothing in it yet, for at most `Int32.max` values.
    @inline(__always)
    private static func made(_ columns: RowColumns, count: Int, bytes: Int, leavesOut: Bool = false) -> RowBuffer {
        let header = unsafe Header(
            columns: Unmanaged.passRetained(columns), count: Int32(count), leavesOut: leavesOut, size: bytes)
        // `create` makes an object of the class that it is called on.
        return unsafe unsafeDowncast(create(minimumCapacity: bytes) { _ in header }, to: RowBuffer.self)
    }

    /// A buffer for `count` values of `size` bytes together, which `fill` writes; values that it does not write are NULL.
    ///
    /// - Parameter leavesOut: whether columns may be left out.
    @inline(__always)
    static func filled(
        _ columns: RowColumns, count: Int, size: Int, leavesOut: Bool = false, _ fill: (inout Writer) -> Void
    ) -> RowBuffer {
        let count = max(0, min(count, Int(Int32.max)))
        let marks = leavesOut ? marksSize(count) : 0
        let bytes = 4 * count + max(0, size) + marks
        let buffer = made(columns, count: count, bytes: bytes, leavesOut: leavesOut)
        unsafe buffer.withUnsafeMutablePointerToElements { start in
            var writer = unsafe Writer(
                UnsafeMutableRawBufferPointer(start: start, count: bytes), count: count, marksSize: marks)
            fill(&writer)
            while writer.column < count { writer.appendNull() }
            // Nothing behind the last value is read.
            if writer.size != size {
                let used = 4 * count + writer.size
                if marks > 0 {
                    let memory = UnsafeMutableRawPointer(start)
                    unsafe memory.advanced(by: used).copyMemory(
                        from: memory.advanced(by: bytes - marks), byteCount: marks)
                }
                unsafe buffer.withUnsafeMutablePointerToHeader { unsafe $0.pointee.size = used + marks }
            }
        }
        return buffer
    }

    /// A buffer for values of the given numbers of bytes, -1 for NULL, which `lend` gives; bounds are checked once for all of
    /// them, where a writer checks them for each.
    ///
    /// - Parameter lend: the first byte of a value that has bytes; if it is nil, they are zero.
    @inline(__always)
    @unsafe
    static func filled(
        _ columns: RowColumns, lengths: UnsafeMutableBufferPointer<Int32>, _ lend: (Int) -> UnsafePointer<CChar>?
    ) -> RowBuffer? {
        var size = 0
        for place in lengths.indices { unsafe size += Int(max(0, lengths[place])) }
        guard size <= Row.maximumSize, lengths.count <= Int(Int32.max) else { return nil }
        let places = 4 * lengths.count
        let buffer = made(columns, count: lengths.count, bytes: places + size)
        unsafe buffer.withUnsafeMutablePointerToElements { start in
            // Four bytes for each column, and then as many as all lengths make together: no value goes beyond them.
            let (ends, values) = unsafe (UnsafeMutableRawPointer(start), UnsafeMutableRawPointer(start) + places)
            var end = 0
            for column in lengths.indices {
                let length = unsafe Int(lengths[column])
                if length > 0 {
                    if let bytes = unsafe lend(column) {
                        unsafe (values + end).copyMemory(from: bytes, byteCount: length)
                    } else {
                        unsafe (values + end).initializeMemory(as: UInt8.self, repeating: 0, count: length)
                    }
                    end += length
                }
                let mark = length < 0 ? UInt32(end) | null : UInt32(end)
                unsafe ends.storeBytes(of: mark, toByteOffset: 4 * column, as: UInt32.self)
            }
        }
        return buffer
    }

    /// Writes the values of a row, in the order of their columns.
    @safe
    struct Writer {
        private let memory: UnsafeMutableRawBufferPointer
        private let count: Int
        /// The bytes at the end of the memory with a bit for each column.
        private let marksSize: Int
        /// The column that is written next.
        private(set) var column = 0
        /// The size of the values written.
        private(set) var size = 0

        @unsafe
        fileprivate init(_ memory: UnsafeMutableRawBufferPointer, count: Int, marksSize: Int) {
            (unsafe self.memory, self.count, self.marksSize) = unsafe (memory, count, marksSize)
            for place in 0..<marksSize { unsafe memory[memory.count - 1 - place] = 0 }
        }

        /// Appends NULL.
        @inline(__always)
        mutating func appendNull() { end(null) }

        /// Leaves the next column out; NULL in a row that leaves none out.
        mutating func leaveOut() {
            guard column < count else { return }
            if marksSize > 0 {
                let place = unsafe memory.count - marksSize + column / 8
                unsafe memory[place] |= 1 << UInt8(column % 8)
            }
            appendNull()
        }

        /// Appends a value; NULL if there is no room for it.
        @inline(__always)
        mutating func append(_ bytes: ByteView) {
            let start = 4 * count + size
            guard column < count, unsafe bytes.count <= memory.count - marksSize - start,
                size + bytes.count <= Row.maximumSize
            else { return appendNull() }
            // The guard has compared the places; the checks of a slice would be paid for each value.
            if let source = unsafe bytes.memory.baseAddress, let memory = unsafe memory.baseAddress {
                unsafe memory.advanced(by: start).copyMemory(from: source, byteCount: bytes.count)
            }
            size += bytes.count
            end(0)
        }

        /// Ends a value, which has room in the row if there is such a column.
        @inline(__always)
        private mutating func end(_ flag: UInt32) {
            guard column < count else { return }
            // At most `Row.maximumSize`, which fits, and the memory begins with four bytes for each column.
            unsafe memory.baseAddress?.storeBytes(
                of: UInt32(size) | flag, toByteOffset: 4 * column, as: UInt32.self)
            column += 1
        }
    }

    deinit {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.columns.release() }
    }

    var columns: RowColumns {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.columns.takeUnretainedValue() }
    }

    /// The kind of a column's values; the column must exist.
    func kind(at column: Int) -> RowColumns.Kind {
        unsafe withUnsafeMutablePointerToHeader {
            unsafe $0.pointee.columns._withUnsafeGuaranteedRef { $0.kind(at: column) }
        }
    }

    /// The number of values.
    var count: Int { unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.count) } }

    /// Whether columns are left out.
    var leavesOut: Bool { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.leavesOut } }

    /// The bytes, of offsets, values and marks of columns that are left out.
    @inline(__always)
    func withBytes<T>(_ body: (ByteView) throws -> T) rethrows -> T {
        try unsafe withUnsafeMutablePointers { header, bytes in
            try unsafe body(ByteView(lending: UnsafeRawBufferPointer(start: bytes, count: header.pointee.size)))
        }
    }
}

/// The value as the type by which generic code knows it; nil if the types differ.
///
/// `as?` would look up their metadata at run time, which costs more than most values.
@inline(__always)
func sameValue<Value, Same>(_ value: Value) -> Same? {
    // Sound: the types are the same.
    Value.self == Same.self ? unsafe unsafeBitCast(value, to: Same.self) : nil
}
