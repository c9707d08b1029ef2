import KindredPostgres
import KindredSchema

/// A place in a one-to-one relationship that a save has found taken: an object was made with a holder that has a partner.
struct TakenPlace {
    private let error: KindredError
    private let object: DatabaseObject
    private let relationship: RelationshipRuntime
    private let holder: DatabaseObject
    /// The object that has the place; nil if it is not known.
    private let partner: DatabaseObject?
    /// Whether the context does not see it, because a policy or filter hides it.
    private let isHidden: Bool

    /// - Parameter objects: the objects of the save, which has been rolled back.
    /// - Returns: nil if the server has refused something else. One SELECT each for holder and partner if they are not in memory.
    init?(_ error: KindredError, among objects: [DatabaseObject], in core: ContextCore) async throws {
        guard error.underlying?.sqlState == .uniqueViolation, let object = error.object, object.isInserted,
            let underlying = error.underlying,
            let relationship = Self.relationship(of: object, underlying)
        else { return nil }
        var known = try Self.holder(of: object, relationship, in: core)
        if known == nil {
            // The program no longer holds it.
            known = try? await PrimaryReads.run { try await Loader(core).destination(of: relationship, from: object) }
        }
        guard let holder = known else { return nil }
        (self.error, self.object, self.relationship, self.holder) = (error, object, relationship, holder)
        let other = try objects.first {
            try $0 !== object && $0.runtime === object.runtime && Self.holder(of: $0, relationship, in: core) === holder
        }
        if let other {
            (partner, isHidden) = (other, false)
        } else {
            // In a transaction that cannot go on the partner stays unknown.
            let members = try? await PrimaryReads.run {
                try await Loader(core).members(of: relationship.inverse, owner: holder)
            }
            partner = members?.first { $0 !== object }
            isHidden = members != nil && partner == nil
        }
    }

    /// The error, with holder and partner.
    var refusal: KindredError {
        let key = relationship.model.name
        let taken = partner.map { "\($0)" } ?? (isHidden ? "an object that this context may not see" : "another object")
        let message = """
            \(object).\(key) was refused: \(holder) has \(taken) in \"\(relationship.inverse.model.name)\" already; let that one go or delete it in the same save, or set the \
            relationship with setValue
            """
        let name = object.runtime.name.description
        return KindredError(
            error.code, message, entity: name, key: key, constraint: error.constraint, underlying: error.underlying,
            problems: [
                KindredError.Problem(
                    error.code, message, object: object, entity: name, key: key, constraint: error.constraint)
            ])
    }

    /// The one-to-one relationship of an object in which a unique key refused it.
    private static func relationship(of object: DatabaseObject, _ error: PostgresError) -> RelationshipRuntime? {
        let entity = object.runtime
        var columns = RefusedRow(error, among: []).columns.map { entity.attributeIndex(of: $0) }
        if columns.isEmpty {
            // The server names no columns where policies hide rows: it can be known if one key alone has values.
            let row = object.row
            let possible = entity.uniqueChecks.filter { check in !check.columns.contains { row.isNull(at: $0) } }
            guard possible.count == 1 else { return nil }
            columns = possible[0].columns
        }
        return entity.foreignKeys.first { relationship in
            relationship.model.kind == .oneToOne && !columns.isEmpty
                && columns.allSatisfy { $0.map(relationship.ownColumns.contains) ?? false }
        }
    }

    /// The object in memory to which an object refers.
    private static func holder(
        of object: DatabaseObject, _ relationship: RelationshipRuntime, in core: ContextCore
    ) throws -> DatabaseObject? {
        let (row, new) = object.withState { ($0.row, $0.stagingBox?.staging.destinations[relationship.slot]) }
        if let new { return new }
        guard let key = try ObjectKey(row, relationship.ownColumns) else { return nil }
        return try Loader(core).liveDestination(of: relationship, key, row)
    }
}
