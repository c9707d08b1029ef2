#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Row {
    /// The row as a value of a type of the program's own, whose properties are found by their names among the columns.
    ///
    /// ```swift
    /// struct Summary: Decodable { let customerId: Int, total: PostgresNumeric, last: Date? }
    /// let summary = try row.decode(as: Summary.self)   // columns customer_id, total and last
    /// ```
    ///
    /// A property finds the column of its name, or the column of its name in small letters with underscores. A value is
    /// read as ``PostgresDecodable`` reads it; another `Decodable` type is read from a `json` column, or, if it is an
    /// enum, from its raw value. A type that is itself ``PostgresDecodable``, such as `Int`, is the value of the only
    /// column.
    ///
    /// Throws `PostgresError` `.decodingFailed` naming the column: for a missing column, for NULL where the property is
    /// not optional, and for a value that the type does not hold exactly.
    public func decode<Value: Decodable>(as type: Value.Type) throws -> Value {
        do {
            if let type = type as? any PostgresDecodable.Type {
                return try RowCell(row: self, column: try onlyColumn(for: type)).read(type)
            }
            return try Value(from: RowDecoder(row: self))
        } catch let error as DecodingError {
            throw PostgresError(.decodingFailed, "The row cannot be read as \(type): \(error.summary)")
        }
    }

    fileprivate func onlyColumn(for type: Any.Type) throws -> Int {
        if count == 1 { return 0 }
        throw PostgresError(
            .decodingFailed, "A row of \(count) columns cannot be read as \(type); select exactly one column")
    }
}

extension QueryResult {
    /// The rows as values of a type, as ``Row/decode(as:)`` reads them.
    public func decode<Value: Decodable>(as type: Value.Type) throws -> [Value] {
        try map { try $0.decode(as: type) }
    }
}

private struct RowDecoder: Decoder {
    let row: Row
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer<Key>(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw PostgresError(.decodingFailed, "A row cannot be read as an array; its columns have names")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        RowCell(row: row, column: try row.onlyColumn(for: Row.self))
    }
}

/// The columns of a row by the names of properties.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { row.columns.prefix(row.count).compactMap { Key(stringValue: $0.name) } }

    private func column(_ key: Key) -> Int? {
        let column = row.columns.firstIndex(named: key.stringValue) ?? row.columns.firstIndex(named: key.snakeCase)
        return column.flatMap { $0 < row.count ? $0 : nil }
    }

    private func cell(_ key: Key) throws -> RowCell {
        guard let column = column(key) else {
            let names = row.columns.prefix(row.count).map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw PostgresError(
                .decodingFailed, "The row has no column for the property \"\(key.stringValue)\"; it has \(names)")
        }
        return RowCell(row: row, column: column)
    }

    func contains(_ key: Key) -> Bool { column(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try cell(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try cell(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw try cell(key).noParts
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw try cell(key).noParts }

    func superDecoder() throws -> any Decoder { RowDecoder(row: row) }

    func superDecoder(forKey key: Key) throws -> any Decoder { RowDecoder(row: row) }
}

/// One value of a row.
private struct RowCell: SingleValueDecodingContainer, Decoder {
    let row: Row
    let column: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var name: String { row.columns[column].name }

    var noParts: PostgresError {
        PostgresError(
            .decodingFailed, "Column \"\(name)\" of the type \(row.columns[column].dataType) has no parts to be read")
    }

    func decodeNil() -> Bool { row.isNull(at: column) }

    func read<Value>(_ type: any PostgresDecodable.Type) throws -> Value {
        // `type` is the type `Value` itself, seen as a ``PostgresDecodable`` type.
        guard let value = try row.decode(column, as: type) as? Value else {
            throw PostgresError(.decodingFailed, "Column \"\(name)\" is NULL, and \(Value.self) is not optional")
        }
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let type = type as? any PostgresDecodable.Type { return try read(type) }
        if case .json(let json)? = try row[column] { return try json.decode(type) }
        guard !decodeNil() || Value.self is any ExpressibleByNilLiteral.Type else {
            throw PostgresError(.decodingFailed, "Column \"\(name)\" is NULL, and \(Value.self) is not optional")
        }
        return try Value(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw noParts }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw noParts }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension Row {
    /// The value of a column as a type that is known when the program runs only.
    fileprivate func decode(_ column: Int, as type: any PostgresDecodable.Type) throws -> Any? {
        func read<Value: PostgresDecodable>(_ type: Value.Type) throws -> Any? {
            try decode(column, as: type) as Value?
        }
        return try read(type)
    }
}

extension CodingKey {
    /// `customer_id` for `customerId` and `customerID`.
    fileprivate var snakeCase: String {
        let letters = Array(stringValue)
        var name = ""
        for (place, letter) in letters.enumerated() {
            if letter.isUppercase, place > 0 {
                let isAfterSmall = !letters[place - 1].isUppercase && letters[place - 1] != "_"
                let isBeforeSmall = place + 1 < letters.count && letters[place + 1].isLowercase
                if isAfterSmall || isBeforeSmall && letters[place - 1] != "_" { name += "_" }
            }
            name += letter.lowercased()
        }
        return name
    }
}

extension DecodingError {
    /// A description of the error, without the value.
    fileprivate var summary: String {
        switch self {
        case .keyNotFound(let key, _): "nothing is there for \"\(key.stringValue)\""
        case .valueNotFound(let type, _): "a value of \(type) is missing"
        case .typeMismatch(let type, _): "a value is not of the type \(type)"
        case .dataCorrupted: "a value is none that the type has"
        @unknown default: "a value does not fit"
        }
    }
}
