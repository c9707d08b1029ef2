@testable import KindredPostgres

/// Every type with a codec, arrays included.
let codecTypes = PostgresDataType.knownScalars + PostgresDataType.knownScalars.compactMap(\.arrayType)

extension Codec {
    /// The bytes of a value and the format they are in.
    static func encoded(
        _ value: PostgresValue, as type: PostgresDataType, types: TypeRegistry? = nil
    ) throws -> (bytes: [UInt8], format: PostgresFormat) {
        var bytes: [UInt8] = []
        let format = try encode(value, as: type, types: types, into: &bytes)
        return (bytes, format)
    }

    static func decoded(
        _ bytes: [UInt8], as type: PostgresDataType, _ format: PostgresFormat, types: TypeRegistry? = nil
    ) throws -> PostgresValue {
        try bytes.withUnsafeBytes { try decode($0, type: type, format: format, types: types) }
    }

    static func decoded(text: String, as type: PostgresDataType, types: TypeRegistry? = nil) throws -> PostgresValue {
        try decoded(Array(text.utf8), as: type, .text, types: types)
    }
}

/// The code of the error that a closure throws, if it is one of the library's.
func errorCode(_ body: () throws -> Void) -> PostgresError.Code? {
    do { try body() } catch { return (error as? PostgresError)?.code }
    return nil
}
