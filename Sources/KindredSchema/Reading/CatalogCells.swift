package import KindredPostgres

/// Reads cells of a catalog query's binary result without making rows.
///
/// A cell of an unexpected length reads as 0 or empty, and sets `isMalformed`.
package struct CatalogCells {
    package let result: QueryResult
    package private(set) var isMalformed = false

    package init(_ result: QueryResult, columns: Int) {
        self.result = result
        isMalformed = result.columns.count != columns
    }

    package mutating func oid(_ row: Int, _ column: Int) -> UInt32 {
        integer(row, column)
    }

    package mutating func int32(_ row: Int, _ column: Int) -> Int32 {
        integer(row, column)
    }

    package mutating func int16(_ row: Int, _ column: Int) -> Int16 {
        integer(row, column)
    }

    package mutating func int64(_ row: Int, _ column: Int) -> Int64 {
        integer(row, column)
    }

    /// nil for NULL.
    package mutating func optionalInt64(_ row: Int, _ column: Int) -> Int64? {
        result.withCell(row: row, column: column) { _ in true } == nil ? nil : integer(row, column)
    }

    package mutating func float(_ row: Int, _ column: Int) -> Float {
        Float(bitPattern: integer(row, column))
    }

    /// A value of the one-byte type `"char"`.
    package mutating func letter(_ row: Int, _ column: Int) -> UInt8 {
        integer(row, column)
    }

    /// False for NULL.
    package mutating func flag(_ row: Int, _ column: Int) -> Bool {
        // Privilege functions return NULL for objects dropped concurrently.
        guard let byte = result.withCell(row: row, column: column, { $0.count == 1 ? $0.first : nil })
        else {
            return false
        }
        if byte == nil { isMalformed = true }
        return byte == 1
    }

    package mutating func string(_ row: Int, _ column: Int) -> String {
        guard let string = optionalString(row, column) else {
            isMalformed = true
            return ""
        }
        return string
    }

    package func optionalString(_ row: Int, _ column: Int) -> String? {
        result.withCell(row: row, column: column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A one-dimensional array of int2 without NULLs; empty for NULL.
    package mutating func int16s(_ row: Int, _ column: Int) -> [Int16] {
        integers(row, column)
    }

    /// A one-dimensional array of oid without NULLs, or an oidvector; empty for NULL.
    package mutating func oids(_ row: Int, _ column: Int) -> [UInt32] {
        integers(row, column)
    }

    private mutating func integers<Integer: FixedWidthInteger & BitwiseCopyable>(_ row: Int, _ column: Int) -> [Integer]
    {
        let size = MemoryLayout<Integer>.size
        let numbers = result.withCell(row: row, column: column) { bytes -> [Integer]? in
            // Number of dimensions, flags, element type; length and lower bound of the one dimension; then the elements.
            guard bytes.count >= 12 else { return nil }
            let dimensions = bytes.bigEndian(at: 0, as: Int32.self)
            if dimensions == 0 { return [] }
            guard dimensions == 1, bytes.count >= 20 else { return nil }
            let count = Int(bytes.bigEndian(at: 12, as: Int32.self))
            guard count >= 0, bytes.count == 20 + (4 + size) * count else { return nil }
            return (0..<count).map { bytes.bigEndian(at: 20 + (4 + size) * $0 + 4, as: Integer.self) }
        }
        switch numbers {
        case .some(.some(let numbers)): return numbers
        case .some(nil):
            isMalformed = true
            return []
        case nil: return []
        }
    }

    private mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(_ row: Int, _ column: Int) -> Integer {
        let value = result.withCell(row: row, column: column) { bytes -> Integer? in
            bytes.count == MemoryLayout<Integer>.size ? bytes.bigEndian(at: 0, as: Integer.self) : nil
        }
        if let value, let value { return value }
        isMalformed = true
        return 0
    }
}
