import KindredPostgres
package import KindredSchema

extension DatabaseObject: PropertyValue {
    /// The object itself.
    public var propertyContent: DatabaseObject.PropertyContent { .object(self) }
}

extension DatabaseObject: ObjectReference {
    package var entityName: QualifiedName { runtime.name }

    package func attributeValue(named name: String) throws -> PostgresValue? {
        guard let position = runtime.attributeIndex(of: name) else { throw runtime.unknownKey(name) }
        let row = storedRow
        if row.isLeftOut(at: position) { throw runtime.notLoaded(position) }
        return try row[position]
    }
}
