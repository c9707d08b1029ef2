import KindredSchema

extension RelationshipNames {
    /// Throws `.keysChanged` if keys lead elsewhere in a model.
    func check(_ schema: DatabaseSchema) throws {
        let changes = changes(to: RelationshipNames(schema))
        guard !changes.isEmpty else { return }
        throw KindredError(
            .keysChanged,
            "Keys of relationships have another meaning: \(changes.map(\.description).joined(separator: "; ")). Give the "
                + "relationships their names by annotations, or look at the program's uses of these keys and run "
                + "`kindred inspect --save` again",
            entity: changes[0].entity, key: changes[0].key)
    }
}
