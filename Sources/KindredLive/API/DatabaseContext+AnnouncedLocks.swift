public import Kindred
import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The locks of an entity's rows that ``DatabaseObject/lock(_:_:announcing:fileID:line:)`` announces: the held ones
    /// first, then each change of them.
    ///
    /// Sends nothing. Throws `KindredError` `.unknownEntity`, and `.invalidRequest` in the context of a tenant. The role has to
    /// be a reader of changes that may select the table, and no policy may hide rows of it from the role: else the first
    /// element is an error.
    public func locks(of entityName: String) throws -> AnnouncedLocks {
        try core.requireNoTenant(for: "locks(of:)")
        return AnnouncedLocks(core: core, entity: try core.runtime.entity(named: entityName))
    }

    /// The announced locks of a typed class's rows.
    ///
    /// Throws `KindredError` `.classMismatch` for a class that is not registered with the database, and `.invalidRequest` in the
    /// context of a tenant.
    public func locks<Object: TypedObject>(of type: Object.Type) throws -> AnnouncedLocks {
        try core.requireNoTenant(for: "locks(of:)")
        return AnnouncedLocks(core: core, entity: try entity(of: type))
    }
}
