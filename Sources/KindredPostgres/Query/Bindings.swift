/// The parameters of a statement, encoded: one buffer of bytes and a slot for each parameter.
///
/// A value that does not fit its type is an error when it is appended, so that nothing of the statement has been sent.
package struct Bindings: Sendable {
    /// Where a parameter stands in the buffer.
    package struct Slot: Sendable {
        package let type: PostgresDataType
        package let format: PostgresFormat
        package let offset: Int
        /// Bytes; negative for NULL.
        package let length: Int
    }

    /// The protocol counts parameters in 16 bits.
    package static let maximumCount = 65_535
    /// The server refuses messages of a gibibyte and breaks the connection; the rest of the message needs room too.
    package static let maximumBytes = (1 << 30) - (64 << 10)

    package private(set) var slots: [Slot] = []
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var count: Int { slots.count }

    /// Appends a value as the given type, exactly.
    ///
    /// Without a type the value's natural one is used; a string then goes without a type, so that the server infers it
    /// from where the parameter stands.
    package mutating func append(_ value: PostgresValue?, as type: PostgresDataType? = nil) throws {
        let start = bytes.count
        var format = PostgresFormat.binary
        let natural: PostgresDataType
        if let value {
            if type == nil, case .string(let text) = value {
                natural = .unspecified
                format = .text
                try Self.append(text, to: &bytes)
            } else {
                natural = type ?? value.naturalType
                format = try Codec.encode(value, as: natural, into: &bytes)
            }
        } else {
            natural = type ?? .unspecified
        }
        try addSlot(natural, format, start, isNull: value == nil)
    }

    /// Appends one array parameter with the given elements.
    package mutating func appendArray(
        _ values: some Sequence<PostgresValue?>,
        of element: PostgresDataType
    ) throws {
        guard let type = element.arrayType else {
            throw PostgresError(.invalidParameter, "There is no array type known for the type \(element)")
        }
        let start = bytes.count
        // Dimensions, a flag for NULLs, element type, length and lower bound; then each element with its length.
        bytes.appendBigEndian(1 as Int32)
        bytes.appendBigEndian(0 as Int32)
        bytes.appendBigEndian(element.rawValue)
        bytes.appendBigEndian(0 as Int32)
        bytes.appendBigEndian(1 as Int32)
        var count: Int32 = 0
        var hasNulls = false
        for value in values {
            count += 1
            guard let value else {
                hasNulls = true
                bytes.appendBigEndian(-1 as Int32)
                continue
            }
            let lengthAt = bytes.count
            bytes.appendBigEndian(0 as Int32)
            guard try Codec.encode(value, as: element, into: &bytes) == .binary else {
                throw PostgresError(.invalidParameter, "An array of the type \(element) cannot be sent in binary form")
            }
            guard bytes.count - start <= Self.maximumBytes else { throw Self.tooLarge }
            bytes.replaceBigEndian(Int32(bytes.count - lengthAt - 4), at: lengthAt)
        }
        if count == 0 {
            bytes.removeLast(8)
            bytes.replaceBigEndian(0 as Int32, at: start)
        } else {
            if hasNulls { bytes.replaceBigEndian(1 as Int32, at: start + 4) }
            bytes.replaceBigEndian(count, at: start + 12)
        }
        try addSlot(type, .binary, start, isNull: false)
    }

    private mutating func addSlot(
        _ type: PostgresDataType,
        _ format: PostgresFormat,
        _ start: Int,
        isNull: Bool
    ) throws {
        guard slots.count < Self.maximumCount else {
            throw PostgresError(
                .invalidParameter,
                "A statement takes at most \(Self.maximumCount) parameters; pass many values as one array"
            )
        }
        guard bytes.count <= Self.maximumBytes else { throw Self.tooLarge }
        let length = bytes.count - start
        // libpq takes parameters in text format as C strings.
        if format == .text && !isNull { bytes.append(0) }
        slots.append(Slot(type: type, format: format, offset: start, length: isNull ? -1 : length))
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) throws {
        guard !text.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "PostgreSQL text cannot hold a NUL character")
        }
        bytes.append(contentsOf: text.utf8)
    }

    private static var tooLarge: PostgresError {
        PostgresError(.invalidParameter, "The parameters of a statement are larger than \(maximumBytes) bytes together")
    }
}

extension Bindings {
    /// Lends the parameters in the form that libpq takes them.
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
        return try bytes.withUnsafeBytes { bytes in
            try withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                try withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3 * count) { numbers in
                    // An empty value still needs a pointer: nil means NULL.
                    let empty = UnsafeRawPointer(values.baseAddress)
                    for (position, slot) in slots.enumerated() {
                        let start = bytes.baseAddress.map { $0 + slot.offset } ?? empty
                        let pointer = slot.length < 0 ? nil : start?.assumingMemoryBound(to: CChar.self)
                        values.initializeElement(at: position, to: pointer)
                        numbers.initializeElement(at: position, to: Int32(bitPattern: slot.type.rawValue))
                        numbers.initializeElement(at: count + position, to: Int32(max(slot.length, 0)))
                        numbers.initializeElement(at: 2 * count + position, to: slot.format == .binary ? 1 : 0)
                    }
                    guard let first = numbers.baseAddress else { return try body(nil, nil, nil, nil) }
                    return try first.withMemoryRebound(to: UInt32.self, capacity: count) { types in
                        try body(types, UnsafePointer(values.baseAddress), first + count, first + 2 * count)
                    }
                }
            }
        }
    }
}

extension [UInt8] {
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites bytes that were appended before; the caller knows that they are there.
    fileprivate mutating func replaceBigEndian(_ value: Int32, at offset: Int) {
        for (index, byte) in Swift.withUnsafeBytes(of: value.bigEndian, Array.init).enumerated() {
            self[offset + index] = byte
        }
    }
}
