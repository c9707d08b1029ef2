import KindredPostgres

/// The effect of deleting an object on the objects at the other end of one of its relationships.
///
/// The defaults, which annotations and overrides replace:
///
/// - To-many: from the foreign key. CASCADE gives `cascade`, SET NULL and SET DEFAULT `nullify`, RESTRICT `deny`,
///   NO ACTION `noAction`.
/// - To-one: `nullify`.
/// - Many-to-many: `deny` if the helper's key to the object is RESTRICT. Else `nullify`, which deletes the helper's rows,
///   if the helper has no ``RelationshipHelper/payload`` or that key is CASCADE. Else `noAction`.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The objects at the other end no longer refer to the object: their foreign key becomes NULL, or the helper's rows
    /// are deleted.
    case nullify
    /// The objects at the other end are deleted, too.
    case cascade
    /// The object cannot be deleted while there are objects at the other end.
    case deny
    /// The library does nothing; the database's constraint decides.
    case noAction
}

/// The database's own action on rows whose foreign key refers to a deleted row.
package enum DatabaseAction: Sendable, Hashable {
    /// It refuses the deletion or change, or does nothing.
    case noAction
    /// It deletes them too, or updates them to the new values.
    case cascade
    /// It sets the key's columns to NULL, all of them or the columns that ON DELETE SET NULL (...) names.
    case setNull
    /// It sets the key's columns to their defaults.
    case setDefault
}
