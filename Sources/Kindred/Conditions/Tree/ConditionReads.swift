package import KindredSchema

/// The columns, tables and relationships that a condition reads.
package struct ConditionReads: Sendable {
    /// A column of a table or view.
    package struct Column: Sendable, Hashable {
        package let entity: QualifiedName
        package let name: String
    }

    /// The columns, each once; a foreign key that needs no join is read in the referencing row alone.
    package private(set) var columns: [Column] = []
    /// The relationships that its key paths follow, each as a path from the object: `person`, `person.manager`.
    package private(set) var paths: [String] = []

    /// The tables and views.
    package var entities: Set<QualifiedName> { Set(columns.map(\.entity)) }

    mutating func note(_ name: String, of entity: QualifiedName) {
        let column = Column(entity: entity, name: name)
        if !columns.contains(column) { columns.append(column) }
    }

    mutating func note(path: String) {
        if !paths.contains(path) { paths.append(path) }
    }
}
