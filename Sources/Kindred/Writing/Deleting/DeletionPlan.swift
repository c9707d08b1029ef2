import KindredPostgres
public import KindredSchema

/// The effect of deleting objects: the objects concerned, by entity and by the rule that reaches them.
///
/// A value, valid for the time at which it was made. A plan calls no hooks, and lacks the objects that they would
/// delete.
public struct DeletionPlan: Sendable {
    /// Objects of one entity that one rule reaches.
    public struct Item: Sendable, Hashable {
        /// The entity of the objects.
        public let entity: QualifiedName
        /// The rule that reaches them; nil for the objects whose deletion was requested.
        ///
        /// `cascade`: they are deleted. `nullify`: they lose the deleted objects. `deny`: they forbid the deletion.
        /// `noAction`: the database's constraint decides about them.
        public let rule: DeleteRule?
        /// The relationship, of the entity of the deleted objects, that leads to them.
        public let relationship: Relationship?
        /// The foreign keys that lead to them without a relationship: foreign keys of single partitions.
        public let constraints: [String]
        /// Whether they forbid the deletion: by the rule `deny`, or because they would lose a required relationship.
        public let isDenied: Bool
        /// The objects, each once.
        public let objects: [ObjectID]
    }

    /// The items: first the deleted objects, in the order in which they are reached, then the rest.
    public let items: [Item]

    /// All deleted objects, including rows of helper tables.
    public var deleted: [ObjectID] {
        items.filter { $0.rule == nil || $0.rule == .cascade }.flatMap(\.objects)
    }

    /// Whether a rule would refuse the deletion.
    public var isDenied: Bool { items.contains(where: \.isDenied) }
}
