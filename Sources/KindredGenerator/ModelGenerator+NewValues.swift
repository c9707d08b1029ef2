import KindredPostgres
import KindredSchema

extension ModelGenerator {
    /// A parameter of the function that makes a new row's values.
    private struct Parameter {
        let property: String
        let type: String
        let isRequired: Bool

        var text: String { isRequired ? "\(property): \(type)" : "\(property): \(type)? = nil" }
    }

    /// `Book.new(title:…)`: the values of a new row.
    ///
    /// The compiler demands the values that the database does not fill.
    ///
    /// Required foreign keys are given as columns or as objects: one function for each.
    func newValues(of entity: Entity) -> String {
        guard !entity.isReadOnly else { return "" }
        let columns = entity.attributes.filter { !$0.isHidden && isWritable($0, in: entity) }
        let ends = names.relationships(of: entity).filter { relationship in
            !relationship.isToMany && relationship.holdsForeignKey && !relationship.isByView
                && columns.contains { relationship.columns.contains($0.name) }
        }
        let required = isFilled(entity) ? [] : ends.filter { !$0.mayLeadNowhere(from: entity) }
        let others = ends.filter { end in !required.contains { $0 === end } }.map {
            parameter($0, in: entity, isRequired: false)
        }
        let byColumns = columns.map { parameter($0, in: entity) } + others
        var functions = [function(byColumns, of: entity)]
        let covered = Set(texts: required.flatMap(\.columns))
        if !covered.isEmpty {
            let rest = columns.filter { !covered.contains($0.name) }.map { parameter($0, in: entity) }
            functions.append(
                function(rest + required.map { parameter($0, in: entity, isRequired: true) } + others, of: entity))
        }
        return """

            extension \(names.className(of: entity)) {
            \(functions.joined(separator: "\n\n"))
            }

            """
    }

    private func function(_ parameters: [Parameter], of entity: Entity) -> String {
        let name = names.className(of: entity)
        var local = "values"
        while parameters.contains(where: { $0.property == local }) { local += "OfRow" }
        let head = "    \(modifier)static func new("
        let tail = ") -> NewValues<\(name)> {"
        let line = head + parameters.map(\.text).joined(separator: ", ") + tail
        let declaration =
            line.count <= 120
            ? line
            : head + "\n" + parameters.map { "        \($0.text)" }.joined(separator: ",\n") + "\n    " + tail
        let settings = parameters.map { parameter in
            "        \(local).setProperty(\(Self.number(of: parameter.property)), \(parameter.property))"
        }
        return """
                /// The values of a new row; the database fills what is nil.
            \(declaration)
                    \(settings.isEmpty ? "let" : "var") \(local) = NewValues<\(name)>()
            \(settings.map { $0 + "\n" }.joined())        return \(local)
                }
            """
    }

    private func parameter(_ attribute: Attribute, in entity: Entity) -> Parameter {
        let isRequired =
            attribute.isNotNull && !attribute.hasDefault && attribute.identity == .none && !isFilled(entity)
            && !isPosition(attribute, in: entity)
        return Parameter(
            property: names.property(of: attribute, in: entity), type: types.type(of: attribute).name,
            isRequired: isRequired)
    }

    private func parameter(_ relationship: Relationship, in entity: Entity, isRequired: Bool) -> Parameter {
        Parameter(
            property: names.property(of: relationship, in: entity),
            type: names.className(of: relationship.destination), isRequired: isRequired)
    }

    /// Whether a trigger may fill columns of new rows, or a view's table.
    private func isFilled(_ entity: Entity) -> Bool { entity.kind == .view || entity.hasInsertTrigger }

    /// Whether a save gives new members of an ordered set their positions in the column.
    private func isPosition(_ attribute: Attribute, in entity: Entity) -> Bool {
        schema.entities.contains { owner in
            owner.relationships.contains {
                $0.destination == entity.name && $0.helper == nil && $0.orderedBy == attribute.name
            }
        }
    }
}
