import KindredPostgres
package import KindredSchema

extension ObjectID: PropertyValue {
    /// The ID itself, which stands for its object in to-one relationships and conditions.
    public var propertyContent: DatabaseObject.PropertyContent { .objectID(self) }
}

extension ObjectID: ObjectReference {
    package var entityName: QualifiedName { entity }

    package func attributeValue(named name: String) throws -> PostgresValue? {
        attributes.firstIndex(of: name).map { values[$0] }
    }

    package func hasAttributes(_ names: [String]) -> Bool { names.allSatisfy(attributes.contains) }
}
