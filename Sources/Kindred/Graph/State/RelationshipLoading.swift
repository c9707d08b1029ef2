import KindredPostgres

/// The effect of the first access to an object's relationship, for a context.
public enum RelationshipLoading: Sendable, Hashable {
    /// Loads it for all objects that were read together; the default.
    case batch
    /// Loads it for that object alone.
    case single
    /// Is an error, `KindredError` `.loadingForbidden`, which names entity and relationship: prefetch the
    /// relationship. The same holds for `count`, `isEmpty` and `contains` of a set that is not loaded.
    case forbidden
}
