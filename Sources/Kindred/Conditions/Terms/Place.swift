import KindredPostgres
import KindredSchema

/// An entity's row in a statement: the request's own row, the row at a to-one path, or a member of a to-many
/// relationship.
///
/// A row is joined only if a column is needed that its neighbour does not have as well.
struct Place {
    /// The link to a row: from a to-one relationship of another place, or from the helper table of a to-many one.
    struct Link {
        let parent: Int
        let relationship: Relationship
    }

    let entity: Entity
    /// The FROM clause to which joins are added.
    let scope: Int
    /// The rows' place among the places that are read.
    let read: Int
    /// Whether they are a helper's, whose columns are read with the relationship that goes through it.
    var isPair = false
    /// The number of the row's alias, once it is joined.
    var alias: Int?
    /// Columns that need no join: the foreign key's, under the names of the referenced columns.
    var known: [ServerText: Scalar] = [:]
    /// Further values of columns without a join that must not be NULL, because a composite key with a NULL references
    /// no row.
    var guards: [ServerText: [ValueTerm]] = [:]
    /// The path from the scope's row, for error messages.
    let label: String
    /// nil for the first row of a FROM clause.
    var link: Link?
    /// The places at the next keys of paths.
    var children: [ServerText: Int] = [:]

    /// Whether there may be no row, so that every column of it is NULL.
    var isOptional: Bool { link.map { $0.relationship.helper == nil } ?? false }
}
