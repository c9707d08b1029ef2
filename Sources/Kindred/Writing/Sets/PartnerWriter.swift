import KindredPostgres

/// Sets one-to-one relationships of stored objects.
struct PartnerWriter: Sendable {
    private let core: ContextCore

    private var stager: Stager { Stager(core) }

    init(_ core: ContextCore) { self.core = core }

    /// Sets a one-to-one relationship from either side.
    func set(
        _ partner: DatabaseObject?, of object: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        try await Refresher(core).readStale([object] + (partner.map { [$0] } ?? []))
        if relationship.holdsForeignKey {
            guard let partner else {
                var assignments = Assignments(object.runtime, for: object)
                try assignments.assign(nil, to: relationship)
                return try await RowWriter(core).update(object, assignments, key: relationship.model.name)
            }
            // For the partner, the object is its only member.
            let inverse = relationship.inverse
            try object.runtime.requireWritable(foreignKey: relationship.ownColumns, key: relationship.model.name)
            try await core.write(of: object.runtime, relationship.ownColumns) {
                try object.requireLive()
                try stager.requireLeave(
                    stager.stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
                try await MemberWriter(core, owner: partner, inverse).claim(object)
            }
            try stager.stageLeave(
                stager.stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
        } else {
            try relationship.destination.requireWritable(
                foreignKey: relationship.otherColumns, key: relationship.model.name)
            try await core.write(of: relationship.destination, relationship.otherColumns) {
                try object.requireLive()
                let writer = try MemberWriter(core, owner: object, relationship)
                try stager.requireLeave(
                    stager.stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship
                )
                if let partner {
                    try await writer.claim(partner)
                } else {
                    try await writer.detachAll()
                }
            }
            try stager.stageLeave(
                stager.stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship)
        }
    }
}
