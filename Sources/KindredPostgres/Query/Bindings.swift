#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A statement's encoded parameters: one buffer of bytes and a slot for each.
///
/// Appending a value that does not fit its type throws and leaves the bindings unchanged; nothing was sent.
package struct Bindings: Sendable, Hashable {
    /// A parameter's position in the buffer.
    package struct Slot: Sendable, Hashable {
        package let type: PostgresDataType
        package let format: PostgresFormat
        package let offset: Int
        /// In bytes; negative for NULL.
        package let length: Int
    }

    /// The protocol counts parameters in 16 bits.
    package static let maximumCount = 65_535
    /// The server rejects messages of a gibibyte and closes the connection; the rest of the message needs room too.
    package static let maximumBytes = (1 << 30) - (64 << 10)

    package private(set) var slots = SmallArray<Slot>()
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var count: Int { slots.count }

    /// The total size of the parameters.
    package var totalBytes: Int { bytes.count }

    /// Appends a value as the given type, without loss.
    ///
    /// Without a type the value's natural one is used; a string is then untyped, and the server infers its type.
    ///
    /// - Parameter isInferred: whether the server infers the type of a value sent as text.
    package mutating func append(
        _ value: PostgresValue?,
        as type: PostgresDataType? = nil,
        types: TypeRegistry? = nil,
        isInferred: Bool = false
    ) throws {
        guard let value else {
            guard count < Self.maximumCount else { throw Self.tooMany }
            slots.append(
                Slot(
                    type: isInferred ? .unspecified : type ?? .unspecified, format: .binary, offset: bytes.count,
                    length: -1))
            return
        }
        if type == nil, case .string(let text) = value {
            try append(as: .unspecified) { bytes in
                try text.appendBytes(to: &bytes)
                return .text
            }
        } else {
            let type = type ?? value.naturalType
            try append(as: type, isInferred: isInferred) { try Codec.encode(value, as: type, types: types, into: &$0) }
        }
    }

    /// Appends a parameter of other bindings.
    package mutating func append(_ slot: Slot, of other: Bindings) throws {
        guard slot.length >= 0 else {
            guard count < Self.maximumCount else { throw Self.tooMany }
            slots.append(Slot(type: slot.type, format: slot.format, offset: bytes.count, length: -1))
            return
        }
        try append(as: slot.type) { bytes in
            bytes += other.bytes[slot.offset..<slot.offset + slot.length]
            return slot.format
        }
    }

    /// Appends all parameters of other bindings.
    package mutating func append(contentsOf other: Bindings) throws {
        guard other.count > 0 else { return }
        guard count + other.count <= Self.maximumCount else { throw Self.tooMany }
        guard bytes.count + other.bytes.count <= Self.maximumBytes else { throw Self.tooLarge }
        for slot in other.slots {
            slots.append(
                Slot(type: slot.type, format: slot.format, offset: bytes.count + slot.offset, length: slot.length))
        }
        bytes += other.bytes
    }

    /// The parameters with other types in place of some types.
    func retyped(_ types: [PostgresDataType: PostgresDataType]) -> Bindings {
        guard slots.contains(where: { types[$0.type] != nil }) else { return self }
        var replaced = self
        replaced.slots = SmallArray()
        for slot in slots {
            replaced.slots.append(
                Slot(type: types[slot.type] ?? slot.type, format: slot.format, offset: slot.offset, length: slot.length)
            )
        }
        return replaced
    }

    /// Appends a `bigint`.
    package mutating func append(_ value: Int64) throws {
        try append(as: .int8) { bytes in
            bytes.appendBigEndian(value)
            return .binary
        }
    }

    /// Appends a `text`.
    package mutating func append(text: String) throws {
        try append(as: .text) { bytes in
            try text.appendBytes(to: &bytes)
            return .binary
        }
    }

    /// Appends a `uuid`.
    package mutating func append(_ uuid: UUID) throws {
        try append(as: .uuid) { bytes in
            bytes.append(uuid)
            return .binary
        }
    }

    /// Appends one array parameter with the given elements.
    ///
    /// The array's type is needed where the element type is not built-in. If an element is text that only the server
    /// can parse, the whole array is sent as text.
    package mutating func appendArray(
        _ values: some Collection<PostgresValue?>,
        of element: PostgresDataType,
        as type: PostgresDataType? = nil,
        types: TypeRegistry? = nil
    ) throws {
        guard let type = type ?? element.arrayType else {
            throw PostgresError(.invalidParameter, "No array type is known for the type \(element)")
        }
        try append(as: type) { bytes in
            let start = bytes.count
            // Dimensions, NULL flag, element type, length and lower bound; then each element with its length.
            bytes.appendBigEndian(1 as Int32)
            bytes.appendBigEndian(0 as Int32)
            bytes.appendBigEndian(element.rawValue)
            bytes.appendBigEndian(0 as Int32)
            bytes.appendBigEndian(1 as Int32)
            // Each element takes at least four bytes, so the size limit keeps the count far below 32 bits.
            var count: Int32 = 0
            var hasNulls = false
            for value in values {
                count += 1
                hasNulls = hasNulls || value == nil
                guard try Codec.appendElement(value, as: element, types: types, into: &bytes) == .binary else {
                    bytes.removeSubrange(start...)
                    let array = PostgresArray(elementType: element, elements: Array(values))
                    return try Codec.appendText(.array(array), &bytes)
                }
                guard bytes.count <= Self.maximumBytes else { throw Self.tooLarge }
            }
            if count == 0 {
                bytes.removeLast(8)
                bytes.replaceBigEndian(0, at: start)
            } else {
                if hasNulls { bytes.replaceBigEndian(1, at: start + 4) }
                bytes.replaceBigEndian(count, at: start + 12)
            }
            return .binary
        }
    }

    /// Appends a one-dimensional array of integers; false, with nothing appended, if the type is not an integer's or an
    /// element is out of range: the general path then throws the error.
    package mutating func appendIntegers(_ values: [Int64], of element: PostgresDataType) throws -> Bool {
        let range: ClosedRange<Int64>
        switch element {
        case .int2: range = Int64(Int16.min)...Int64(Int16.max)
        case .int4: range = Int64(Int32.min)...Int64(Int32.max)
        case .int8: range = .min ... .max
        default: return false
        }
        guard !values.isEmpty, values.allSatisfy(range.contains), let type = element.arrayType else { return false }
        let size: Int32 = element == .int8 ? 8 : element == .int4 ? 4 : 2
        guard values.count <= Self.maximumBytes / 12 else { throw Self.tooLarge }
        try append(as: type) { bytes in
            bytes.reserveCapacity(bytes.count + 20 + values.count * Int(4 + size))
            bytes.appendBigEndian(1 as Int32)
            bytes.appendBigEndian(0 as Int32)
            bytes.appendBigEndian(element.rawValue)
            bytes.appendBigEndian(Int32(clamping: values.count))
            bytes.appendBigEndian(1 as Int32)
            for value in values {
                bytes.appendBigEndian(size)
                // All elements were checked against the type's range.
                switch size {
                case 2: bytes.appendBigEndian(Int16(value))
                case 4: bytes.appendBigEndian(Int32(value))
                default: bytes.appendBigEndian(value)
                }
            }
            return .binary
        }
        return true
    }

    /// Appends one array parameter whose elements are encoded by the caller, in the element type's binary form.
    ///
    /// `cell` is called for each position in order; it writes the element, or nothing for NULL.
    package mutating func appendArray(
        count: Int,
        of element: PostgresDataType,
        cell: (Int, (ByteView) -> Void) throws -> Void
    ) throws {
        try appendCells(count, of: element) { position, bytes in
            var isNull = true
            try cell(position) { cell in
                isNull = false
                bytes.appendCell(cell)
            }
            return !isNull
        }
    }

    /// Appends one array parameter.
    ///
    /// - Parameter append: appends an element with its length; returns false for NULL, for which it appends nothing.
    @inline(__always)
    mutating func appendCells(
        _ count: Int, of element: PostgresDataType, _ append: (Int, inout [UInt8]) throws -> Bool
    ) throws {
        guard let type = element.arrayType else {
            throw PostgresError(.invalidParameter, "No array type is known for the type \(element)")
        }
        try self.append(as: type) { bytes in
            let start = bytes.count
            bytes.appendBigEndian((count == 0 ? 0 : 1) as Int32)
            bytes.appendBigEndian(0 as Int32)
            bytes.appendBigEndian(element.rawValue)
            guard count > 0 else { return .binary }
            bytes.appendBigEndian(Int32(clamping: count))
            bytes.appendBigEndian(1 as Int32)
            var hasNulls = false
            for position in 0..<count {
                if try !append(position, &bytes) {
                    hasNulls = true
                    bytes.appendBigEndian(-1 as Int32)
                }
                guard bytes.count <= Self.maximumBytes else { throw Self.tooLarge }
            }
            if hasNulls { bytes.replaceBigEndian(1, at: start + 4) }
            return .binary
        }
    }

    private mutating func append(
        as type: PostgresDataType,
        isInferred: Bool = false,
        _ write: (inout [UInt8]) throws -> PostgresFormat
    ) throws {
        guard count < Self.maximumCount else { throw Self.tooMany }
        // Once, instead of doubling with each of the first values.
        if bytes.isEmpty { bytes.reserveCapacity(64) }
        let start = bytes.count
        do {
            let format = try write(&bytes)
            guard bytes.count <= Self.maximumBytes else { throw Self.tooLarge }
            let type = isInferred && format == .text ? .unspecified : type
            slots.append(Slot(type: type, format: format, offset: start, length: bytes.count - start))
            // libpq takes text parameters as C strings.
            if format == .text { bytes.append(0) }
        } catch {
            bytes.removeSubrange(start...)
            throw error
        }
    }

    private static var tooMany: PostgresError {
        PostgresError(
            .invalidParameter,
            "A statement takes at most \(maximumCount) parameters; pass many values as one array"
        )
    }

    private static var tooLarge: PostgresError {
        PostgresError(.invalidParameter, "The parameters of a statement exceed \(maximumBytes) bytes")
    }
}
