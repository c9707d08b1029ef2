import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// The same question in another model of the database, such as the model that was read after a change of the tables.
    ///
    /// Throws `KindredError` `.unknownEntity` and `.unknownKey` for what the other model does not have, `.wrongType` and
    /// `.invalidRequest` where its columns cannot be compared or sorted like that.
    package func rebound(to runtime: SchemaRuntime) throws -> SelectQuery {
        guard let own = runtime[entity.name] else {
            throw KindredError(
                .unknownEntity, "No entity is named \"\(entity.name)\"", entity: entity.name.description)
        }
        var query = SelectQuery(own)
        query.isFiltered = isFiltered
        query.pairLink = try pairLink.map {
            PairLink(relationship: try own.end(of: $0.relationship), owner: $0.owner)
        }
        query.owner = try owner.map { OwnerCondition(inverse: try own.relationship($0.inverse).model, owner: $0.owner) }
        query.memberOrder = try memberOrder.flatMap { order in
            let relationship = try own.end(of: order.relationship)
            // Without its annotation a set has no order.
            return relationship.orderedBy.map {
                MemberOrder(relationship: relationship, position: $0, ownerValues: order.ownerValues)
            }
        }
        for added in condition?.conjuncts ?? [] { try query.narrow(by: try added.condition, in: runtime.schema) }
        for term in sort { try query.append(term, in: runtime.schema) }
        (query.limit, query.offset, query.lock) = (limit, offset, lock)
        query.keys = keys.flatMap { known in runtime[known.entity.name].map { ($0, known.keys) } }
        query.leftOut = leftOut.map { columns in
            ColumnSet(columns.compactMap { own.attributeIndex(of: entity.attributes[$0].name) })
        }
        return query
    }
}

extension EntityRuntime {
    /// The entity's relationship with the name of another model's, whatever its class calls it.
    package func relationship(_ other: Relationship) throws -> RelationshipRuntime {
        guard let found = relationships.first(where: { $0.model.name == other.name }) else {
            throw unknownKey(other.name)
        }
        return found
    }

    /// The relationship that leads to the entity as another model's does.
    fileprivate func end(of other: Relationship) throws -> Relationship {
        guard let found = relationships.first(where: { $0.model.name == other.inverse }) else {
            throw unknownKey(other.inverse)
        }
        return found.inverse.model
    }
}
