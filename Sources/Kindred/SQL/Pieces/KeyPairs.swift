import KindredPostgres
import KindredSchema

extension EntityRuntime {
    /// Whether columns are compared by operators outside of `pg_catalog`, which phrases such as IN do not find.
    func hasOwnEquality(_ columns: [Int]) -> Bool { columns.contains { entity.attributes[$0].equality != "=" } }
}

/// Compares columns with values of the columns at the other end of a foreign key, where the equality of their types
/// does not.
struct ForeignComparison: Sendable {
    /// A comparison for each column; nil for a column that the equality of its type compares.
    let comparisons: [KeyComparison?]
    /// Whether the key refers to the columns, and has the values.
    var isReferenced = false

    init?(_ comparisons: [KeyComparison?], isReferenced: Bool = false) {
        if comparisons.allSatisfy({ $0 == nil }) { return nil }
        (self.comparisons, self.isReferenced) = (comparisons, isReferenced)
    }

    /// Whether a column equals a value; nil where the equality of its type decides.
    func sql(at place: Int, _ column: String, _ value: String) -> String? {
        guard let comparison = comparisons.at(place) else { return nil }
        return isReferenced
            ? comparison.sql(referenced: column, holder: value) : comparison.sql(referenced: value, holder: column)
    }
}

extension RelationshipRuntime {
    /// How columns of `linkRows` are compared with values of the owner, or of members to which a helper's columns refer; nil
    /// where the equality of their types decides.
    func comparison(of columns: [Int]) -> ForeignComparison? {
        let ofOwner = model.helper?.sourceComparisons ?? model.comparisons
        let ofMember = model.helper?.destinationComparisons ?? []
        if ofOwner.isEmpty && ofMember.isEmpty { return nil }
        let comparisons = columns.map { column -> KeyComparison? in
            if let place = linkColumns.firstIndex(of: column) { return ofOwner.at(place) }
            guard let place = helper?.destinationColumns.firstIndex(of: column) else { return nil }
            return ofMember.at(place)
        }
        return ForeignComparison(comparisons, isReferenced: holdsForeignKey)
    }

    /// `t."person_id" = o."id"`: whether a row of `linkRows` is an owner's.
    func isLinked(_ link: String, to owner: String) throws -> String {
        let comparison = comparison(of: linkColumns)
        return try zip(linkColumns, ownColumns).enumerated().map { place, pair in
            let own = try linkRows.texts.compared(pair.0, alias: link)
            let other = try source.texts.compared(pair.1, alias: owner)
            return comparison?.sql(at: place, own, other) ?? linkRows.texts.equality(of: pair.0, own, other)
        }.joined(separator: " AND ")
    }
}

extension RelationshipRuntime.HelperLink {
    /// `h."group_id" = t."id"`: whether a row of the helper leads to a member; with the member's columns on the left if told.
    func isLinked(
        _ link: String, to member: String, of relationship: RelationshipRuntime, isMemberFirst: Bool = false
    ) throws -> String {
        let comparison = relationship.comparison(of: destinationColumns)
        return try zip(destinationColumns, relationship.otherColumns).enumerated().map { place, pair in
            let own = try entity.texts.compared(pair.0, alias: link)
            let other = try relationship.destination.texts.compared(pair.1, alias: member)
            return comparison?.sql(at: place, own, other)
                ?? (isMemberFirst
                    ? entity.texts.equality(of: pair.0, other, own) : entity.texts.equality(of: pair.0, own, other))
        }.joined(separator: " AND ")
    }
}
