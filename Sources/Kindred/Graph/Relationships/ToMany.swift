import KindredPostgres

/// The mutable set of objects at the other end of a to-many relationship; each change is written at once.
///
/// A small handle: the members are read when they are first asked for, by one query, and then kept with the owner.
/// Every change is atomic, one statement for any number of members, and leaves both sides' loaded relationships right.
///
/// ```swift
/// let emails = try await person.set(forKey: "emailSet")
/// for try await email in emails { print(email["address"] ?? "-") }   // SELECT … WHERE person_id = ANY($1)
/// try await emails.insert(email)                                     // UPDATE email SET person_id = … WHERE id = …
/// ```
public struct ToMany<Member: DatabaseObject>: Sendable {
    /// The object whose relationship this is.
    public let owner: DatabaseObject
    /// nil for a property whose number is that of no relationship: to use it is an error, to read it is none.
    let known: RelationshipRuntime?
    /// Where the set was taken, since a loop and a property cannot tell where they are.
    let place: SourcePlace?

    init(_ owner: DatabaseObject, _ relationship: RelationshipRuntime?, at place: SourcePlace? = nil) {
        self.place = place
        self.owner = owner
        known = relationship
    }
}
