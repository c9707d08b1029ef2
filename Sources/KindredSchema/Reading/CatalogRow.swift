package import KindredPostgres

/// A row of an answer about the catalog, whose cells are taken by the names of their columns.
///
/// A column that is not in the answer, an unexpected NULL and bytes of an unexpected length set `isMalformed`, and read as zero,
/// false or empty.
package struct CatalogRow {
    private let result: QueryResult
    /// The names of the columns, which are compared for each cell.
    private let names: [String]
    private var row = 0
    /// The column behind the column that was read last: most cells are read in the order of their columns.
    private var next = 0
    fileprivate private(set) var isMalformed = false

    fileprivate init(_ result: QueryResult) { (self.result, names) = (result, result.columns.map(\.name)) }

    fileprivate mutating func move(to row: Int) { (self.row, next) = (row, 0) }

    /// The value in a column.
    package subscript<Value: CatalogValue>(column: String) -> Value {
        mutating get {
            guard let place = place(of: column) else { return malformed() }
            return value(at: place)
        }
    }

    /// The value in a column that not every version of the server has; nil without it, and for NULL.
    package subscript<Value: CatalogValue>(ifThere column: String) -> Value? {
        mutating get { place(of: column).flatMap { value(at: $0) } }
    }

    /// Lends the bytes in a column; nil for NULL.
    package mutating func withBytes<T>(in column: String, _ body: (ByteView) -> T) -> T? {
        guard let place = place(of: column) else {
            isMalformed = true
            return nil
        }
        return result.withCell(row: row, column: place, body)
    }

    private mutating func value<Value: CatalogValue>(at place: Int) -> Value {
        guard let value = result.withCell(row: row, column: place, Value.read) else { return Value.null ?? malformed() }
        return value ?? malformed()
    }

    private mutating func malformed<Value: CatalogValue>() -> Value {
        isMalformed = true
        return Value.empty
    }

    private mutating func place(of column: String) -> Int? {
        let count = names.count
        for step in 0..<count {
            let place = next + step < count ? next + step : next + step - count
            if names[place] == column {
                next = place + 1
                return place
            }
        }
        return nil
    }
}

/// The rows of an answer about the catalog.
package struct CatalogRows {
    private let result: QueryResult
    private let subject: String

    /// - Parameter subject: The things that the answer is about, for an error.
    package init(_ result: QueryResult, about subject: String) {
        (self.result, self.subject) = (result, subject)
    }

    /// The error of an answer of another shape than was asked for.
    static func unreadable(_ subject: String) -> SchemaError {
        SchemaError(.unreadableCatalog, "The server's answer about \(subject) has an unexpected shape")
    }

    /// - Throws: ``SchemaError`` `.unreadableCatalog` if a row has another shape than was asked for; then no later one is read.
    package func forEach(_ body: (inout CatalogRow) throws -> Void) throws {
        var row = CatalogRow(result)
        for place in result.indices {
            row.move(to: place)
            try body(&row)
            if row.isMalformed { throw Self.unreadable(subject) }
        }
    }

    /// Makes a value of each row, and leaves nil out.
    package func map<Value>(_ make: (inout CatalogRow) throws -> Value?) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(result.count)
        try forEach { row in
            if let value = try make(&row) { values.append(value) }
        }
        return values
    }
}

/// A value in a row of the catalog, in binary form.
package protocol CatalogValue {
    /// The value that stands for NULL; nil where NULL is not expected.
    static var null: Self? { get }
    /// The value of a cell that cannot be read.
    static var empty: Self { get }
    /// Nil for bytes that are no such value.
    static func read(_ bytes: ByteView) -> Self?
}

extension CatalogValue {
    package static var null: Self? { nil }
}

extension CatalogValue where Self: FixedWidthInteger & BitwiseCopyable {
    package static var empty: Self { 0 }
    package static func read(_ bytes: ByteView) -> Self? {
        bytes.count == MemoryLayout<Self>.size ? bytes.bigEndian(at: 0, as: Self.self) : nil
    }
}

/// A value of the one-byte type `"char"`.
extension UInt8: CatalogValue {}
extension Int16: CatalogValue {}
extension Int32: CatalogValue {}
extension Int64: CatalogValue {}
/// An `oid`.
extension UInt32: CatalogValue {}

extension Float: CatalogValue {
    package static var empty: Float { 0 }
    package static func read(_ bytes: ByteView) -> Float? { UInt32.read(bytes).map(Float.init(bitPattern:)) }
}

extension Bool: CatalogValue {
    /// NULL is false: functions of privileges return it for objects that were dropped concurrently.
    package static var null: Bool? { false }
    package static var empty: Bool { false }
    package static func read(_ bytes: ByteView) -> Bool? { UInt8.read(bytes).map { $0 == 1 } }
}

extension String: CatalogValue {
    package static var empty: String { "" }
    package static func read(_ bytes: ByteView) -> String? { String(decoding: bytes, as: UTF8.self) }
}

extension Optional: CatalogValue where Wrapped: CatalogValue {
    package static var null: Wrapped?? { .some(nil) }
    package static var empty: Wrapped? { nil }
    package static func read(_ bytes: ByteView) -> Wrapped?? { Wrapped.read(bytes).map { .some($0) } }
}

/// An array of one dimension without NULLs, an oidvector or an int2vector; empty for NULL.
extension Array: CatalogValue where Element: CatalogValue {
    package static var null: [Element]? { [] }
    package static var empty: [Element] { [] }
    package static func read(_ bytes: ByteView) -> [Element]? {
        // Number of dimensions, flags, element type; length and lower bound of the one dimension; then the elements.
        guard bytes.count >= 12 else { return nil }
        let dimensions = bytes.bigEndian(at: 0, as: Int32.self)
        if dimensions == 0 { return [] }
        guard dimensions == 1, bytes.count >= 20, case let count = Int(bytes.bigEndian(at: 12, as: Int32.self)),
            count >= 0, count <= bytes.count / 4
        else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        var place = 20
        for _ in 0..<count {
            guard place + 4 <= bytes.count, case let length = Int(bytes.bigEndian(at: place, as: Int32.self)),
                length >= 0,
                place + 4 + length <= bytes.count,
                let element = Element.read(bytes.part((place + 4)..<(place + 4 + length)))
            else { return nil }
            elements.append(element)
            place += 4 + length
        }
        return place == bytes.count ? elements : nil
    }
}
