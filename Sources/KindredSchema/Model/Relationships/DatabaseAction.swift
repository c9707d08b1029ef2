/// What the database does by itself to rows whose foreign key refers to a row that is deleted.
package enum DatabaseAction: Sendable, Hashable {
    /// It refuses the deletion or change, or leaves everything as it is.
    case noAction
    /// It deletes them too, or gives them the new values.
    case cascade
    /// It sets the key's columns to NULL, all of them or those that ON DELETE SET NULL (...) names.
    case setNull
    /// It sets the key's columns to their defaults.
    case setDefault
}
