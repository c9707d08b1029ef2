import HarmlessText

extension DatabaseSchema {
    /// Returns the model as deterministic JSON: the same schema gives the same bytes.
    ///
    /// The format is that of `kindred inspect --format json`; later versions may add members, but change none.
    ///
    /// - Parameter entities: The entities to show, in their own order; all of them if nil.
    /// - Returns: One JSON object and a newline.
    public func json(entities: [Entity]? = nil) -> String {
        var writer = JSONWriter()
        writer.text += "{\"format\": 1, \"entities\": ["
        for (index, entity) in (entities ?? self.entities).enumerated() {
            writer.text += index == 0 ? "\n" : ",\n"
            writer.write(entity)
        }
        writer.text += (entities ?? self.entities).isEmpty ? "]}\n" : "\n]}\n"
        return writer.text
    }
}

/// Writes the model with one line for each attribute and relationship, so that diffs are easy to read.
private struct JSONWriter {
    var text = ""

    mutating func write(_ entity: Entity) {
        text += "  {"
        member("name", entity.name.name)
        member("schema", entity.name.schema)
        member("kind", entity.kind.rawValue, isLast: true)
        text += ",\n   "
        member("primaryKey", entity.primaryKey, isLast: true)
        text += ",\n   "
        for case let (name, value?) in [("filter", entity.filter), ("softDelete", entity.softDelete)] {
            member(name, value, isLast: true)
            text += ",\n   "
        }
        list("attributes", entity.attributes.filter { !$0.isHidden }) { writer, attribute in
            writer.text += "{"
            writer.member("name", attribute.name)
            writer.member("type", attribute.typeName)
            writer.member("notNull", attribute.isNotNull)
            writer.member("hasDefault", attribute.hasDefault)
            writer.member("generated", attribute.isGenerated, isLast: !attribute.isLazy)
            if attribute.isLazy { writer.member("lazy", true, isLast: true) }
            writer.text += "}"
        }
        text += ",\n   "
        list("relationships", entity.relationships) { $0.write($1) }
        text += "}"
    }

    private mutating func write(_ relationship: Relationship) {
        text += "{"
        member("name", relationship.name)
        member("aliases", relationship.aliases)
        member("kind", relationship.kind.rawValue)
        member("toMany", relationship.isToMany)
        member("optional", relationship.isOptional)
        member("destination", relationship.destination.description)
        member("inverse", relationship.inverse)
        member("deleteRule", relationship.deleteRule.rawValue)
        key("foreignKey")
        if let foreignKey = relationship.foreignKey { write(foreignKey) } else { text += "null" }
        text += ", "
        member("columns", relationship.columns)
        member("destinationColumns", relationship.destinationColumns)
        key("helper")
        if let helper = relationship.helper {
            text += "{"
            member("entity", helper.entity.description)
            member("sourceForeignKey", helper.sourceForeignKey)
            member("destinationForeignKey", helper.destinationForeignKey, isLast: true)
            text += "}"
        } else {
            text += "null"
        }
        if let orderedBy = relationship.orderedBy {
            text += ", "
            member("orderedBy", orderedBy, isLast: true)
        }
        text += "}"
    }

    private mutating func list<Element>(
        _ name: String,
        _ elements: [Element],
        write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        text += "["
        for (index, element) in elements.enumerated() {
            text += index == 0 ? "\n     " : ",\n     "
            write(&self, element)
        }
        text += "]"
    }

    private mutating func member(_ name: String, _ value: String, isLast: Bool = false) {
        key(name)
        write(value)
        if !isLast { text += ", " }
    }

    private mutating func member(_ name: String, _ value: Bool, isLast: Bool = false) {
        key(name)
        text += value ? "true" : "false"
        if !isLast { text += ", " }
    }

    private mutating func member(_ name: String, _ values: [String], isLast: Bool = false) {
        key(name)
        text += "["
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            write(value)
        }
        text += isLast ? "]" : "], "
    }

    private mutating func key(_ name: String) {
        text += "\"\(name)\": "
    }

    private mutating func write(_ string: String) {
        text += string.quotedForJSON
    }
}
