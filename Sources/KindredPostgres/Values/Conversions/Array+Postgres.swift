extension PostgresArray: PostgresEncodable, PostgresDecodable {
    /// An array.
    public var postgresValue: PostgresValue? { .array(self) }

    /// Reads an array of any dimensions.
    public init(postgresValue value: PostgresValue) throws {
        guard case .array(let array) = value else { throw Self.mismatch(value) }
        self = array
    }
}

extension Array: PostgresEncodable where Element: PostgresEncodable {
    /// An array of the elements' type; for bytes a `bytea`.
    ///
    /// An array of arrays becomes a `text[]` of their texts; use ``PostgresArray`` for several dimensions.
    public var postgresValue: PostgresValue? {
        get throws {
            // As a whole: an array is else cast element by element, half a second for 16 MB.
            if Element.self == UInt8.self, let bytes = (self as any PostgresEncodable) as? [UInt8] {
                return .bytes(bytes)
            }
            let values = try map { try $0.postgresValue }
            let element = values.lazy.compactMap { $0?.naturalType }.first ?? Element.postgresDataType
            return .array(PostgresArray(elementType: element, elements: values))
        }
    }

    /// The array type of the elements' type; for bytes `bytea`.
    public static var postgresDataType: PostgresDataType {
        Element.self == UInt8.self ? .bytea : Element.postgresDataType.arrayType ?? .unspecified
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// Reads an array of one dimension without NULLs; for bytes a `bytea`.
    public init(postgresValue value: PostgresValue) throws {
        // As a whole, as above.
        if case .bytes(let bytes) = value, let bytes = (bytes as any PostgresDecodable) as? Self {
            self = bytes
            return
        }
        guard case .array(let array) = value, array.dimensions.count <= 1 else { throw Self.mismatch(value) }
        self = try array.elements.map { element in
            guard let element else {
                throw PostgresError(.decodingFailed, "An array with NULLs cannot be read as \(Self.self)")
            }
            return try Element(postgresValue: element)
        }
    }
}
