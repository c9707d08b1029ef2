import KindredPostgres
import KindredSchema

extension Attribute {
    /// Whether the column is selected as text, because its type has no binary codec.
    ///
    /// Enums and arrays of them have one: the schema's reader has registered their types.
    var isReadAsText: Bool { !baseType.isKnown && enumLabels == nil }
}
