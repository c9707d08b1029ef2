import KindredPostgres
import KindredSchema

/// The link from the rows of a statement to the helper's rows that pair them with owners, for members of a many-to-many
/// relationship.
///
/// Key paths that begin with `@through` lead over it: `@through.role`.
struct PairLink: Sendable {
    /// The first key of a path to a column of the helper's row.
    static let key = "@through"

    /// The many-to-many relationship whose members the statement's rows are.
    let relationship: Relationship
    /// The owner whose members they are; nil if the statement finds the members of many owners by itself.
    var owner: (any ObjectReference)?
}

extension ConditionResolver {
    /// The place of the helper's row that pairs the statement's own row with its owner, joined at its first use.
    ///
    /// A pair is unique, so that no row is repeated. Throws `KindredError` `.unknownKey` where there is no helper.
    mutating func pairedRow() throws -> Int {
        if let pairPlace { return pairPlace }
        let entity = places[0].entity
        guard let pairLink, let helper = pairLink.relationship.helper else {
            throw KindredError(
                .unknownKey,
                """
                \(PairLink.key) is the row that pairs the members of a many-to-many relationship with their owner, and can be \
                named in a request or part of such a relationship only
                """,
                entity: entity.name.description, key: PairLink.key)
        }
        guard let holder = schema[helper.entity] else {
            throw KindredError(
                .unknownEntity, "\(helper.entity), which has the pairs, is not an entity",
                entity: helper.entity.description)
        }
        let row = JoinedRow(alias: newAlias(), entity: holder)
        let member = JoinedRow(alias: 0, entity: entity)
        for referenced in pairLink.relationship.destinationColumns { reads.note(referenced, at: 0) }
        var link = row.refers(
            helper.destinationColumns, to: member, pairLink.relationship.destinationColumns,
            by: helper.destinationComparisons)
        if let owner = pairLink.owner {
            let pairs = zip(helper.sourceColumns, pairLink.relationship.columns)
            for (place, (column, referenced)) in pairs.enumerated() {
                let type = holder.attribute(named: column).map { ValueType($0) } ?? ValueType(.unspecified)
                let scalar = Scalar(value: .column(row.column(column)), type: type, mayBeNull: false, label: column)
                guard let value = try owner.attributeValue(named: referenced) else {
                    link.append(.never)
                    continue
                }
                link.append(row.equals(column, try bind(value, as: scalar), by: helper.sourceComparisons.at(place)))
            }
        } else {
            link += try ofOwnTable(0)
        }
        let place = Place(
            entity: holder, scope: 0, read: reads.pair(helper.entity, path: PairLink.key), alias: row.alias,
            label: PairLink.key)
        try append(place)
        for column in helper.sourceColumns + helper.destinationColumns { reads.note(column, at: place.read) }
        let number = places.count - 1
        pairPlace = number
        let source = RowSource(helper.entity, holder, alias: row.alias, scope: try pairScope(at: number))
        joins[0].append(RowJoin(kind: .inner, source: source, hidden: nil, condition: link))
        return number
    }
}
