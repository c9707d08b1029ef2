import KindredPostgres
import KindredSchema

/// An attribute, relationship or property that a key of an entity names.
enum EntityField: Sendable {
    /// An attribute by its position.
    case attribute(Int)
    case relationship(RelationshipRuntime)
}

extension EntityRuntime {
    /// The field that a key names: an attribute or a relationship of the database, else a property of the entity's
    /// class.
    ///
    /// Throws `.unknownKey`, with the nearest keys unless told otherwise.
    func field(named key: String, isAdvised: Bool = true) throws -> EntityField {
        if let position = attributeIndex(of: key) { return .attribute(position) }
        if let relationship = relationship(named: key) { return .relationship(relationship) }
        if let field = layout?.fields[key] { return field }
        throw unknownKey(key, isAdvised: isAdvised)
    }

    /// The name of an attribute's property; nil where the entity has no class, or the class has no name for it.
    func propertyName(ofAttribute position: Int) -> String? { layout?.attributeNames[position] }

    /// A column in an error: its name, and its property where that has another name than Swift's form of the column's.
    func label(of position: Int) -> String {
        let name = entity.attributes[position].name
        func plain(_ text: String) -> String { text.filter { $0 != "_" }.lowercased() }
        guard let property = propertyName(ofAttribute: position), plain(property) != plain(name) else { return name }
        return "\(name) (\(property) in Swift)"
    }

    /// The name of a relationship's property.
    func propertyName(of relationship: RelationshipRuntime) -> String? { layout?.relationshipNames[relationship.slot] }
}
