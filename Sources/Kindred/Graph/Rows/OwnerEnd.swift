import KindredPostgres

/// A relationship of an owner.
struct OwnerEnd {
    let owner: DatabaseObject
    let relationship: RelationshipRuntime
}

extension EntityRuntime {
    /// Whether the key of a helper's row tells which rows it pairs.
    var namesPairs: Bool { helperEnds.allSatisfy { $0.linkColumns.allSatisfy(key.contains) } }
}
