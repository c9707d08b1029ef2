/// What deleting an object does to the objects at the other end of one of its relationships.
///
/// Of a to-many relationship the foreign key decides: CASCADE gives `cascade`, SET NULL and SET DEFAULT `nullify`, RESTRICT
/// `deny`, NO ACTION `noAction`. A to-one relationship has `nullify`. A many-to-many relationship has `nullify`, and the
/// helper's rows go, where those have no ``RelationshipHelper/payload``; with payload it has `nullify` where the helper's
/// key to the object says CASCADE, else `noAction`; in either case `deny` where that key says RESTRICT. Annotations and
/// overrides decide otherwise.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The others forget the object: their foreign key becomes NULL, or the helper's rows go.
    case nullify
    /// The others are deleted too.
    case cascade
    /// The object is not deleted while there are others.
    case deny
    /// Nothing is done; the database's constraint decides.
    case noAction
}
