/// A pair of a many-to-many relationship that is not stored yet, because one of its ends is new.
///
/// Always seen from the same one of the two sides, so that the pair is the same from both.
struct StagedPair: Hashable, Sendable {
    let source: DatabaseObject
    /// The relationship's place among the source's.
    let slot: Int
    let destination: DatabaseObject

    init(_ owner: DatabaseObject, _ relationship: RelationshipRuntime, _ member: DatabaseObject) {
        let isFirst =
            (relationship.source, relationship.slot) < (relationship.destination, relationship.inverseSlot)
        source = isFirst ? owner : member
        slot = isFirst ? relationship.slot : relationship.inverseSlot
        destination = isFirst ? member : owner
    }

    var relationship: RelationshipRuntime { source.runtime.relationships[slot] }
}
