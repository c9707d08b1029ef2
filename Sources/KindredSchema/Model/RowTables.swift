import KindredPostgres

/// The tables whose rows an entity shows, if other tables inherit from its own: the same key may be in each of them.
///
/// The rows of such an entity have a further, hidden attribute, the system column `tableoid`, which is part of the identity.
package struct RowTables: Sendable, Hashable {
    /// The entity's own table: foreign keys refer to its rows alone.
    package let own: UInt32
    /// The names by OID, the entity's own among them; tables that are no relation of the model have none.
    package let names: [UInt32: QualifiedName]

    package init(own: UInt32, names: [UInt32: QualifiedName]) {
        self.own = own
        self.names = names
    }

    /// The name of a table as an object's ID has it, or its number if the model does not know it.
    package func text(of table: UInt32) -> String {
        guard let name = names[table] else { return "\(table)" }
        return Self.text(name)
    }

    /// The table that a text of `text(of:)` names; nil if no row can be in it.
    package func table(_ text: String) -> UInt32? {
        names.first { Self.text($0.value) == text }?.key
            ?? UInt32(text).flatMap { names[$0] == nil ? $0 : nil }
    }

    private static func text(_ name: QualifiedName) -> String {
        "\(part(name.schema)).\(part(name.name))"
    }

    /// Quoted only where the two parts could be cut elsewhere.
    private static func part(_ name: String) -> String {
        guard name.contains(where: { $0 == "." || $0 == "\"" }) else { return name }
        return "\"\(name.replacing("\"", with: "\"\""))\""
    }
}

extension Attribute {
    /// The number of the system column `tableoid` in every table.
    static let tableNumber: Int16 = -6

    /// The system column that names a row's table.
    package static let table = Attribute(
        name: "tableoid", number: Int(tableNumber), typeName: "oid", type: .oid, isNotNull: true, hasDefault: true,
        isGenerated: true)
}
