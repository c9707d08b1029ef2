import KindredPostgres
import KindredSchema

extension EntityRuntime {
    /// The value of an attribute; throws if the attribute's type cannot hold it.
    func attributeValue(_ value: consuming (any PropertyValue)?, at position: Int) throws -> PostgresValue? {
        guard let given = consume value else { return nil }
        let content = try given.propertyContent
        if case .value(let value) = content { return value }
        let attribute = entity.attributes[position]
        func wrongType(_ given: String) -> KindredError {
            KindredError(
                .wrongType,
                "\(name).\(attribute.name) is of type \(attribute.typeName) and cannot be \(given)",
                entity: name.description,
                key: attribute.name
            )
        }
        func plain(_ content: DatabaseObject.PropertyContent, isElement: Bool = false) throws -> PostgresValue? {
            switch content {
            case .value(let value): return value
            case .object, .objectID: throw wrongType("an object")
            case .set: throw wrongType("a set of objects")
            case .collection(let contents):
                let isBytes = (attribute.elementType ?? attribute.baseType) == .bytea
                if isBytes, isElement == attribute.isArray, let bytes = content.bytes { return .bytes(bytes) }
                guard let element = attribute.elementType else { throw wrongType("a collection") }
                let elements = try contents.map { try plain($0, isElement: true) }
                return .array(PostgresArray(elementType: element, elements: elements))
            }
        }
        return try plain(content)
    }
}
