import KindredSchema

/// Where the row of an entity is to be found within a statement: the request's own row, the row that a to-one path leads
/// to, or a member of a to-many relationship.
///
/// A row is joined only when a column is needed that its neighbour does not hold as well.
struct Place {
    /// How a row is reached: over a to-one relationship of another place, or from the helper table of a to-many one.
    struct Link {
        let parent: Int
        let relationship: Relationship
    }

    let entity: Entity
    /// The FROM clause that joins are added to.
    let scope: Int
    /// The number of the row's alias, once it is joined.
    var alias: Int?
    /// Columns that are at hand without a join: the foreign key's, under the names of the columns they refer to.
    var known: [String: Scalar] = [:]
    /// The path from the scope's row, for error messages.
    ///
    /// For columns at hand: what has to hold besides, because a composite key that is NULL in part leads to no row.
    var guards: [String: String] = [:]
    let label: String
    /// nil for the row that a FROM clause begins with.
    var link: Link?
    /// The places that paths lead to from here.
    var children: [String: Int] = [:]

    /// Whether there may be no row, so that every column of it is NULL.
    var isOptional: Bool { link.map { $0.relationship.helper == nil } ?? false }
}
