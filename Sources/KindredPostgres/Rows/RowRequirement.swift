/// What the value of a column must be like.
package struct RowRequirement: Sendable {
    /// The form of the bytes of a type whose values can all be read if they have it.
    package enum Form: Sendable {
        /// As many bytes, whatever they are.
        case bytes(Int)
        /// A text in UTF-8.
        case text
        /// A decimal number.
        case numeric
        /// What is a value of a built-in type, which takes reading it.
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
    /// The form that shows that a column's values can be read; nil where they have to be read to know it.
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
    /// The first column that is not as it must be, or that is not there.
    package func firstMisfit(among requirements: [RowRequirement]) -> Int? {
        for requirement in requirements {
            guard requirement.column >= 0, requirement.column < count else { return requirement.column }
            let isFit =
                withBytes(at: requirement.column) { bytes in
                    switch requirement.form {
                    case .any: true
                    case .bytes(let size): bytes.count == size
                    case .text: Codec.isText(bytes)
                    case .numeric: BinaryDecoder(bytes, .numeric).isNumeric
                    case .scalar(let type): (try? BinaryDecoder(bytes, type).scalar()) != nil
                    }
                } ?? requirement.mayBeNull
            if !isFit { return requirement.column }
        }
        return nil
    }
}
