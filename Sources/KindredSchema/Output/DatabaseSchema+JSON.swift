import HarmlessText

extension DatabaseSchema {
    /// Returns the model as deterministic JSON: the same schema gives the same bytes.
    ///
    /// The format of `kindred inspect --format json`; later versions may add members, but change none.
    ///
    /// - Parameter entities: The entities to show, in their own order; all of them if nil.
    /// - Returns: One JSON object and a newline.
    public func json(entities: [Entity]? = nil) -> String {
        let texts = (entities ?? self.entities).map(\.json)
        return
            "{\"format\": 1, \"entities\": [\(texts.map { "\n  \($0)" }.joined(separator: ","))\(texts.isEmpty ? "" : "\n")]}\n"
    }
}

extension Entity {
    /// The entity with a line for each attribute and relationship, which makes differences easy to read.
    fileprivate var json: String {
        var lines = [
            JSONText.members([
                ("name", .string(name.name)), ("schema", .string(name.schema)), ("kind", .string(kind.rawValue)),
            ]),
            JSONText.members([("primaryKey", .strings(primaryKey))]),
        ]
        for case let (key, value?) in [("filter", filter), ("softDelete", softDelete)] {
            lines.append(JSONText.members([(key, .string(value))]))
        }
        if !belongsToTenants { lines.append(JSONText.members([("tenant", .bool(false))])) }
        let attributes = attributes.filter { !$0.isHidden }.map(\.json)
        lines.append("\"attributes\": \(JSONText.lines(of: attributes, indentation: 5))")
        lines.append("\"relationships\": \(JSONText.lines(of: relationships.map(\.json), indentation: 5))")
        return "{\(lines.joined(separator: ",\n   "))}"
    }
}

extension Attribute {
    fileprivate var json: JSONText {
        .object(
            [
                ("name", .string(name)), ("type", .string(typeName)), ("notNull", .bool(isNotNull)),
                ("hasDefault", .bool(hasDefault)), ("generated", .bool(isGenerated)),
            ] + (isLazy ? [("lazy", .bool(true))] : [])
                + (hasRequiredElements ? [("nullElements", .bool(false))] : []))
    }
}

extension Relationship {
    fileprivate var json: JSONText {
        .object(
            [
                ("name", .string(name)), ("aliases", .strings(aliases)), ("kind", .string(kind.rawValue)),
                ("toMany", .bool(isToMany)), ("optional", .bool(isOptional)),
                ("destination", .string(destination.description)), ("inverse", .string(inverse)),
                ("deleteRule", .string(deleteRule.rawValue)), ("foreignKey", .optional(foreignKey)),
                ("columns", .strings(columns)), ("destinationColumns", .strings(destinationColumns)),
                ("helper", helper?.json ?? .null),
            ] + (orderedBy.map { [("orderedBy", .string($0))] } ?? []))
    }
}

extension RelationshipHelper {
    fileprivate var json: JSONText {
        .object([
            ("entity", .string(entity.description)), ("sourceForeignKey", .string(sourceForeignKey)),
            ("destinationForeignKey", .string(destinationForeignKey)),
        ])
    }
}
