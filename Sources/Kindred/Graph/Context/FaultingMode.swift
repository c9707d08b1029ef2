/// What the first access to a relationship of an object does in a context.
public enum FaultingMode: Sendable, Hashable {
    /// Loads it for all objects that were read together; the default.
    case batch
    /// Loads it for that object alone.
    case off
    /// Is an error, `KindredError` `.faultingForbidden` naming entity and relationship: what is needed has to be prefetched.
    /// So are `count`, `isEmpty` and `contains` of a set that is not loaded.
    case forbidden
}
