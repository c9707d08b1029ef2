package import KindredPostgres

extension Attribute {
    /// What the column's values are to a Swift program: columns of one kind are read as one Swift type.
    ///
    /// `integer` for every width of whole numbers, `text` for the text family, `json`, `enum`, the name of any other
    /// built-in type, `composite(…)` with the kinds of its fields, and `other` for what is read as text; arrays end with
    /// `[]`, and domains count as their base. Generated code holds it, so that a column that was retyped is found at start-up.
    public var valueKind: String {
        if isReadAsText { return "other" }
        let kind = enumLabels != nil ? "enum" : structure?.kind ?? Self.kind(of: elementType ?? baseType)
        return elementType == nil ? kind : "\(kind)[]"
    }

    /// The kind of values that a built-in type has, an array of them included.
    package static func valueKind(of type: PostgresDataType) -> String {
        type.elementType.map { "\(kind(of: $0))[]" } ?? kind(of: type)
    }

    static func kind(of type: PostgresDataType) -> String {
        switch type {
        case .int2, .int4, .int8: "integer"
        case .text, .varchar, .bpchar, .name, .char, .xml: "text"
        case .json, .jsonb: "json"
        default: type.isKnown ? type.description : "other"
        }
    }
}
