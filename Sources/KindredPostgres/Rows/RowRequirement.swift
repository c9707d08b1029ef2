/// The required form of a column's value.
package struct RowRequirement: Sendable {
    /// A check of a value's bytes that proves that the value can be decoded.
    package enum Form: Sendable {
        /// A fixed number of bytes, with any content.
        case bytes(Int)
        /// A text in UTF-8.
        case text
        /// A decimal number.
        case numeric
        /// A value of a built-in type; it has to be decoded to check it.
        case scalar(PostgresDataType)
        /// Anything.
        case any
    }

    package let column: Int
    let form: Form
    let mayBeNull: Bool

    package init(column: Int, form: Form, mayBeNull: Bool) {
        self.column = column
        self.form = form
        self.mayBeNull = mayBeNull
    }
}

extension RowColumns {
    /// The check for a column's values; nil where only decoding them tells.
    package func form(at column: Int) -> RowRequirement.Form? {
        let type = self[column].dataType
        return switch (type, self[column].format) {
        case (.text, _), (.varchar, _), (.bpchar, _), (.name, _), (.json, _): .text
        case (.bytea, .binary): .any
        case (.bool, .binary): .bytes(1)
        case (.int2, .binary): .bytes(2)
        case (.int4, .binary), (.oid, .binary), (.float4, .binary): .bytes(4)
        case (.int8, .binary), (.float8, .binary): .bytes(8)
        case (.uuid, .binary), (.interval, .binary): .bytes(16)
        case (.numeric, .binary): .numeric
        case (_, .binary): type.isKnownScalar ? .scalar(type) : nil
        default: nil
        }
    }
}

extension Row {
    /// The first column that is missing or fails its check.
    package func firstMisfit(among requirements: [RowRequirement]) -> Int? {
        buffer.withBytes { row in
            for requirement in requirements {
                let column = requirement.column
                guard column >= 0, column < count else { return column }
                guard let range = range(column, row) else {
                    if requirement.mayBeNull { continue }
                    return column
                }
                let bytes = row.part(range)
                let isFit =
                    switch requirement.form {
                    case .any: true
                    case .bytes(let size): bytes.count == size
                    case .text: Codec.isText(bytes)
                    case .numeric: BinaryDecoder(bytes, .numeric).isNumeric
                    case .scalar(let type): (try? BinaryDecoder(bytes, type).scalar()) != nil
                    }
                if !isFit { return column }
            }
            return nil
        }
    }
}
