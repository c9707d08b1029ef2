/// What deleting an object does to the objects at the other end of one of its relationships.
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
