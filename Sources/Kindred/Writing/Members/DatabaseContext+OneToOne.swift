import KindredPostgres

extension DatabaseContext {
    /// Sets a one-to-one relationship from either side.
    func setPartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) async throws {
        switch relationship.link {
        case .foreignKey(let columns, let referenced):
            guard let partner else {
                var assignments = Assignments(object.runtime, for: object)
                try assignments.assign(nil, to: relationship, columns, referenced)
                return try await update(object, assignments, key: relationship.model.name)
            }
            // Seen from the partner, the object becomes its only member.
            let inverse = inverse(of: relationship)
            try await write(of: object.runtime, columns) {
                try requireLive(object)
                try requireLeave(
                    stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
                try await claim(object, by: partner, try memberStatements(partner, inverse, referenced, columns))
            }
            try stageLeave(stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
        case .referenced(let referenced, let columns):
            try await write(of: runtime.entities[relationship.destination], columns) {
                try requireLive(object)
                let statements = try memberStatements(object, relationship, referenced, columns)
                try requireLeave(
                    stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship)
                if let partner {
                    try await claim(partner, by: object, statements)
                } else {
                    try await detachAll(from: object, statements)
                }
            }
            try stageLeave(
                stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship)
        case .helper:
            // A one-to-one relationship never goes through a helper; the model has no such value.
            return
        }
    }
}
