import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sending: libpq copies texts and parameters into its buffer before these functions return.
extension ConnectionHandle {
    /// The part of its buffer that libpq could write.
    enum Flushed {
        case all, partly, failed
    }

    /// Writes the buffered bytes, as many as the socket takes.
    func flush() -> Flushed {
        switch unsafe PQflush(pointer) {
        case 0: .all
        case 1: .partly
        default: .failed
        }
    }

    func sendSync() -> Bool { unsafe PQpipelineSync(pointer) == 1 }

    /// Sends a script in the simple protocol.
    func send(script: String) -> Bool { unsafe PQsendQuery(pointer, script) == 1 }

    /// Sends a statement that is not prepared.
    func send(_ text: String, _ bindings: Bindings, resultFormat: Int32 = 0) -> Bool {
        unsafe bindings.withCArrays { types, values, lengths, formats in
            unsafe PQsendQueryParams(
                pointer, text, bindings.cCount, types, values, lengths, formats, resultFormat) == 1
        }
    }

    /// Sends a statement whose parameters are texts of types that the server infers.
    func send(_ text: String, texts: [String]) -> Bool {
        let values = unsafe texts.map { unsafe strdup($0) }
        defer {
            unsafe values.forEach { unsafe free($0) }
        }
        return unsafe PQsendQueryParams(
            pointer, text, Int32(clamping: texts.count), nil, values.map { unsafe UnsafePointer($0) }, nil, nil, 0) == 1
    }

    /// Prepares a statement for parameters of the bindings' types.
    func prepare(_ text: String, _ bindings: Bindings, as name: String) -> Bool {
        unsafe bindings.withCArrays { types, _, _, _ in
            unsafe PQsendPrepare(pointer, name, text, bindings.cCount, types) == 1
        }
    }

    /// Deallocates a prepared statement by the protocol's message; false where the installed libpq is older than 17.
    func closePrepared(_ name: String) -> Bool {
        guard let send = unsafe CloseFunctions.installed?.closePrepared else { return false }
        return unsafe send(pointer, name) == 1
    }

    /// Asks for the columns of a prepared statement.
    func describe(_ name: String) -> Bool { unsafe PQsendDescribePrepared(pointer, name) == 1 }

    /// Executes a prepared statement, whose name ends with a NUL.
    func execute(_ name: [CChar], _ bindings: Bindings, resultFormat: Int32) -> Bool {
        unsafe bindings.withCArrays { _, values, lengths, formats in
            unsafe PQsendQueryPrepared(pointer, name, bindings.cCount, values, lengths, formats, resultFormat) == 1
        }
    }

    // MARK: COPY

    /// Sends data that is copied to the server; at most 2 GiB.
    func sendCopyData(_ bytes: ByteView) -> Bool {
        unsafe bytes.withContiguousStorageIfAvailable { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                unsafe PQputCopyData(pointer, bytes.baseAddress, Int32(clamping: bytes.count)) == 1
            }
        } ?? false
    }

    /// Ends the data; with a failure the server rolls the COPY back.
    func endCopyData(failure: String?) -> Bool { unsafe PQputCopyEnd(pointer, failure) == 1 }

    /// The next piece of data that is copied to the client.
    enum CopiedData {
        case row, nothing, end
    }

    /// Lends the next row of copied data.
    func receiveCopyData(_ body: (ByteView) -> Void) -> CopiedData {
        var buffer: UnsafeMutablePointer<CChar>?
        let count = unsafe PQgetCopyData(pointer, &buffer, 1)
        guard count > 0, let buffer = unsafe buffer else { return count == 0 ? .nothing : .end }
        defer { unsafe PQfreemem(buffer) }
        unsafe body(ByteView(lending: UnsafeRawBufferPointer(start: buffer, count: Int(count))))
        return .row
    }
}

/// The function of libpq 17 that deallocates a prepared statement; an older library lacks it.
@safe
private struct CloseFunctions: Sendable {
    typealias Close = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Int32

    let closePrepared: Close

    /// The function of the library loaded at run time, which may be newer than the library of the build.
    static let installed: CloseFunctions? = unsafe dlsym(dlopen(nil, RTLD_NOW), "PQsendClosePrepared").map {
        // Sound: the name is libpq's, and the type is its header's.
        unsafe CloseFunctions(closePrepared: unsafeBitCast($0, to: Close.self))
    }

    private init(closePrepared: @escaping Close) { unsafe self.closePrepared = unsafe closePrepared }
}

extension Bindings {
    /// Fits: at most `maximumCount`.
    fileprivate var cCount: Int32 { Int32(count) }

    /// Lends the parameters in libpq's form.
    @unsafe
    package func withCArrays<T>(
        _ body: (
            _ types: UnsafePointer<UInt32>?,
            _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) throws -> T
    ) rethrows -> T {
        guard !slots.isEmpty else { return try body(nil, nil, nil, nil) }
        let count = slots.count
        return try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                try unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3 * count) { numbers in
                    // An empty value still needs a pointer: nil means NULL.
                    let empty = UnsafeRawPointer(values.baseAddress)
                    for (position, slot) in slots.enumerated() {
                        let start = unsafe bytes.baseAddress.map { unsafe $0 + slot.offset } ?? empty
                        let pointer = unsafe slot.length < 0 ? nil : start?.assumingMemoryBound(to: CChar.self)
                        unsafe values.initializeElement(at: position, to: pointer)
                        unsafe numbers.initializeElement(at: position, to: Int32(bitPattern: slot.type.rawValue))
                        unsafe numbers.initializeElement(at: count + position, to: Int32(max(slot.length, 0)))
                        unsafe numbers.initializeElement(
                            at: 2 * count + position, to: slot.format == .binary ? 1 : 0)
                    }
                    guard let first = numbers.baseAddress else { return try body(nil, nil, nil, nil) }
                    return try unsafe first.withMemoryRebound(to: UInt32.self, capacity: count) { types in
                        try unsafe body(types, UnsafePointer(values.baseAddress), first + count, first + 2 * count)
                    }
                }
            }
        }
    }
}
