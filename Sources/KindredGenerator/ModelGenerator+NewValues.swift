import KindredPostgres
import KindredSchema

extension ModelGenerator {
    /// A parameter of the function that makes a new row's values.
    private struct Parameter {
        let property: String
        let type: String
        let isRequired: Bool
        /// For a to-one relationship, the properties of the foreign key's columns in the order of the other table's key.
        var columns: [String]?

        var text: String {
            guard columns != nil else { return isRequired ? "\(property): \(type)" : "\(property): \(type)? = nil" }
            return isRequired
                ? "\(property): some ToOneValue<\(type)>"
                : "\(property): some OptionalToOneValue<\(type)> = \(type)?.none"
        }
    }

    /// `Book.new(title:…)`: the values of a new row.
    ///
    /// The compiler demands the values that the database does not fill.
    ///
    /// A foreign key is given by its relationship, as an object or as its key. Where it leads to other columns than the
    /// key of a class it is given as columns or, in a second function, as an object.
    func newValues(of entity: Entity) -> String {
        guard !entity.isReadOnly else { return "" }
        let columns = entity.attributes.filter { !$0.isHidden && isWritable($0, in: entity) }
        let ends = names.relationships(of: entity).filter { relationship in
            !relationship.isToMany && relationship.holdsForeignKey && !relationship.isByView
                && columns.contains { relationship.columns.contains($0.name) }
        }
        let required = isFilled(entity) ? [] : ends.filter { !$0.mayLeadNowhere(from: entity) }
        let isGivenByKey = { (end: Relationship) in self.keyColumns(of: end, among: columns) != nil }
        let byKey = required.filter(isGivenByKey)
        let byColumns = required.filter { !isGivenByKey($0) }
        var covered = Set(texts: byKey.flatMap(\.columns))
        let others = ends.filter { end in !required.contains { $0 === end } }
        var optional: [Parameter] = []
        for end in others {
            let own = columns.filter { end.columns.contains($0.name) && !covered.contains(ServerText($0.name)) }
            // A column that must be given is given by itself.
            let isAlone = isGivenByKey(end) && !own.isEmpty && own.allSatisfy { !parameter($0, in: entity).isRequired }
            if isAlone { covered.formUnion(Set(texts: end.columns)) }
            optional.append(parameter(end, in: entity, isRequired: false, keys: isAlone ? columns : nil))
        }
        let given = byKey.map { parameter($0, in: entity, isRequired: true, keys: columns) }
        func rest(without names: Set<ServerText>) -> [Parameter] {
            columns.filter { !names.contains(ServerText($0.name)) }.map { parameter($0, in: entity) }
        }
        var functions = [function(rest(without: covered) + given + optional, of: entity)]
        if !byColumns.isEmpty {
            let objects = byColumns.map { parameter($0, in: entity, isRequired: true, keys: nil) }
            let columns = rest(without: covered.union(Set(texts: byColumns.flatMap(\.columns))))
            functions.append(function(columns + given + objects + optional, of: entity))
        }
        return """

            extension \(names.className(of: entity)) {
            \(functions.joined(separator: "\n\n"))
            }

            """
    }

    /// The columns of a foreign key in the order of the other table's key; nil where it does not lead to the key of a class.
    private func keyColumns(of relationship: Relationship, among columns: [Attribute]) -> [Attribute]? {
        guard let destination = schema[relationship.destination], isKeyed(destination) else { return nil }
        let key = key(of: destination)
        guard (1...3).contains(key.count), Set(texts: key) == Set(texts: relationship.destinationColumns) else {
            return nil
        }
        let own = key.compactMap { name -> Attribute? in
            guard let place = relationship.destinationColumns.firstIndex(of: name) else { return nil }
            return columns.first { $0.name == relationship.columns[place] }
        }
        return own.count == key.count ? own : nil
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
            let number = Self.number(of: parameter.property)
            guard let columns = parameter.columns else {
                return "        \(local).setProperty(\(number), \(parameter.property))"
            }
            let list = columns.map(Self.number).joined(separator: ", ")
            let call = SwiftText.call(
                "\(local).setToOne", [number, "columns: [\(list)]", parameter.property], indentation: 8)
            return "        \(call)"
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

    /// - Parameter columns: the columns that hold the foreign key's, where it is given by its key, too.
    private func parameter(
        _ relationship: Relationship, in entity: Entity, isRequired: Bool, keys columns: [Attribute]?
    ) -> Parameter {
        let keys = columns.flatMap { keyColumns(of: relationship, among: $0) }
        return Parameter(
            property: names.property(of: relationship, in: entity),
            type: names.className(of: relationship.destination), isRequired: isRequired,
            columns: keys?.map { names.property(of: $0, in: entity) })
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
