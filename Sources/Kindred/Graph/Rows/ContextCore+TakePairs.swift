import KindredPostgres

/// A pair of a many-to-many relationship that came or went: a change of a row of the helper, named by its ends.
///
/// Not a ``RowChange``: to make the helper's row for each pair would cost more than to tell its ends.
struct PairChange {
    enum Member {
        case object(DatabaseObject)
        /// A member without an object: the helper's row leads to it.
        case row(Row)
    }

    let relationship: RelationshipRuntime
    let link: RelationshipRuntime.HelperLink
    let owner: DatabaseObject
    let member: Member
    let isPaired: Bool
}

extension ContextCore {
    /// Takes a pair that came or went, for the sets of pairs and of the helper's rows at both ends.
    func take(_ change: PairChange) {
        let (relationship, helper) = (change.relationship, change.link.entity)
        switch change.member {
        case .object(let member):
            count(relationship, of: change.owner)
            count(relationship.inverse, of: member)
            let event = pair(change.owner, member, in: relationship, isPaired: change.isPaired)
            if let event { append(event) }
            takeUnknownHelperRows(of: change.link, between: change.owner, member)
        case .row(let row):
            // The helper's rows are also members of one-to-many sets at both ends.
            var events: [ChangeLog.Event] = helper.foreignKeys.compactMap { end in
                (try? ObjectKey(row, end.ownColumns)).map { .gap(RowGap(membersIn: end.inverse, of: $0)) }
            }
            for end in [relationship, relationship.inverse] {
                if let key = try? ObjectKey(row, end.linkColumns) { count(end, ofOwner: key) }
            }
            events += pairs(in: row, of: helper, isPaired: false).filter { event in
                guard case .pair(let pair) = event else { return true }
                return [relationship, relationship.inverse].contains(pair.relationship)
            }
            append(events)
        }
        // A pair written through a relationship of a view also belongs to the table and to its other views.
        if relationship.model.isByView { take(RowGap(.deleted, of: helper)) }
    }

    /// Takes unknown changes of the sets of helper rows at both ends of a pair.
    func takeUnknownHelperRows(
        of link: RelationshipRuntime.HelperLink, between source: DatabaseObject, _ destination: DatabaseObject
    ) {
        for end in link.entity.foreignKeys {
            if end.ownColumns == link.sourceColumns { takeUnknownHelperRows(end, of: source) }
            if end.ownColumns == link.destinationColumns { takeUnknownHelperRows(end, of: destination) }
        }
    }

    /// Takes an unknown change of the set of helper rows at one end of a pair.
    ///
    /// - Parameter end: the helper's foreign key to that end.
    func takeUnknownHelperRows(_ end: RelationshipRuntime, of owner: DatabaseObject) {
        // The key may lead to a view of the owner's table, or the other way round.
        if end.destination != owner.runtime { return take(RowGap(membersIn: end.inverse, of: nil)) }
        takeUnknownMembers(of: owner, in: end.inverse)
    }

    /// Drops all loaded relationships of an object: they are asked for again.
    func takeUnknownRelationships(of object: DatabaseObject) {
        object.withState { $0.relationships = LoadedRelationships() }
        if let key = object.key { append(.gap(RowGap(.relationships(of: key), of: object.runtime))) }
    }
}
