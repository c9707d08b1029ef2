import KindredAssistant
import KindredPostgres

/// A schema of entities with an `id`, a `ref` and a `note`, without a server.
struct ModelSchema {
    let schema: DatabaseSchema

    static func name(_ text: String) -> QualifiedName {
        let parts = text.split(separator: ".").map(String.init)
        return parts.count == 2
            ? QualifiedName(schema: parts[0], name: parts[1]) : QualifiedName(schema: "public", name: text)
    }

    /// - Parameters:
    ///   - names: The entities, such as `person` or `sales.order`.
    ///   - pairs: One-to-many relationships `from>to` between them.
    ///   - groups: The groups that comments put entities into.
    ///   - views: The entities that are views.
    init(_ names: [String], _ pairs: [String] = [], groups: [String: String] = [:], views: Set<String> = []) {
        var relationships: [QualifiedName: [Relationship]] = [:]
        let isView = Set(views.map(Self.name))
        for pair in pairs {
            let ends = pair.split(separator: ">").map { Self.name(String($0)) }
            let (one, many) = ("\(ends[1].name)Set", ends[0].name == ends[1].name ? "parent" : ends[0].name)
            relationships[ends[0], default: []].append(
                Relationship(
                    name: one, aliases: [], kind: .oneToMany, isOptional: true, source: ends[0], destination: ends[1],
                    inverse: many, deleteRule: .noAction, foreignKey: "k", columns: ["id"],
                    destinationColumns: ["ref"], holdsForeignKey: false))
            relationships[ends[1], default: []].append(
                Relationship(
                    name: many, aliases: [], kind: .manyToOne, isOptional: false, source: ends[1],
                    destination: ends[0], inverse: one, deleteRule: .nullify, foreignKey: "k", columns: ["ref"],
                    destinationColumns: ["id"], holdsForeignKey: true))
        }
        let entities = names.map(Self.name).sorted().map { entity in
            Entity(
                name: entity, kind: isView.contains(entity) ? .view : .table, oid: 1,
                attributes: [
                    Attribute(name: "id", number: 1, typeName: "integer", type: .int4, isNotNull: true),
                    Attribute(name: "ref", number: 2, typeName: "integer", type: .int4),
                    Attribute(name: "note", number: 3, typeName: "text", type: .text),
                ],
                primaryKey: ["id"],
                relationships: (relationships[entity] ?? []).sorted { $0.name < $1.name },
                group: groups[entity.description])
        }
        schema = DatabaseSchema(entities: entities, searchPath: ["public"])
    }

    /// A diagram of the schema.
    func diagram(_ change: (inout Diagram.Options) -> Void = { _ in }) throws -> Diagram {
        var options = Diagram.Options()
        change(&options)
        return try Diagram(of: schema, options: options)
    }
}
