import KindredPostgres

/// The mutable set of objects at the other end of a to-many relationship; each change is written at once.
///
/// A small handle: the first access reads the members by one query, and the owner keeps them. Every change is atomic,
/// one statement for any number of members, and updates the loaded relationships of both sides.
///
/// ```swift
/// let emails = try await person.set(forKey: "emailSet")
/// for try await email in emails { print(email["address"] ?? "-") }   // SELECT … WHERE person_id = ANY($1)
/// try await emails.insert(email)                                     // UPDATE email SET person_id = … WHERE id = …
/// ```
public struct ToMany<Member: DatabaseObject>: Sendable {
    /// The object whose relationship this is.
    public let owner: DatabaseObject
    /// Nil for a typed property whose index has no relationship: using the set then throws.
    let known: RelationshipRuntime?
    /// The place in the program that took the set, for errors of loops and properties, which cannot take a source
    /// location.
    let place: SourcePlace?

    init(_ owner: DatabaseObject, _ relationship: RelationshipRuntime?, at place: SourcePlace? = nil) {
        self.place = place
        self.owner = owner
        known = relationship
    }
}
