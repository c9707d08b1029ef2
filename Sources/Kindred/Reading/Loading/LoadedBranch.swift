/// The objects that a relationship of several owners, or a part of it, leads to: one query, or none if all are loaded.
struct LoadedBranch: Sendable {
    private let core: ContextCore
    private let relationship: RelationshipRuntime
    /// The answers where a part was loaded.
    private let part: PartLoader.Answers?

    /// Loads a relationship for all owners that have not loaded it.
    ///
    /// - Parameters:
    ///   - part: the part that is loaded instead of all members; nil for all members.
    ///   - leftOut: the members' columns that are left out; nil for the lazy ones.
    init(
        _ relationship: RelationshipRuntime, part: PartQuery?, of owners: [DatabaseObject],
        leavingOut leftOut: ColumnSet?, in core: ContextCore
    ) async throws {
        (self.core, self.relationship) = (core, relationship)
        if let part {
            self.part = try await PartLoader(core, part).load(forAll: owners, leavingOut: leftOut)
        } else {
            self.part = nil
            try await Loader(core).load(relationship, forAll: owners, leavingOut: leftOut)
        }
    }

    /// The objects that an owner's relationship, or its part, leads to.
    func destinations(of owner: DatabaseObject) async throws -> [DatabaseObject] {
        if let part { return part.members(of: owner) }
        if relationship.isToMany { return try await Loader(core).members(of: relationship, owner: owner) }
        return try await Loader(core).destination(of: relationship, from: owner).map { [$0] } ?? []
    }
}
