import KindredPostgres
import KindredSchema

/// Changes the members of an owner by a many-to-many relationship: inserts and deletes rows of the helper table, and leaves
/// both ends alone.
struct PairWriter {
    private let core: ContextCore
    let owner: DatabaseObject
    let statements: HelperStatements

    init(
        _ core: ContextCore, owner: DatabaseObject, _ relationship: RelationshipRuntime,
        through link: RelationshipRuntime.HelperLink
    ) throws {
        self.core = core
        self.owner = owner
        statements = HelperStatements(
            relationship: relationship,
            link: link,
            ownerValues: try owner.referencedValues(relationship.ownColumns, relationship.model.name)
        )
    }

    private var relationship: RelationshipRuntime { statements.relationship }

    /// Members in the fixed order in which their pairs are written.
    private func inLockOrder(_ members: [DatabaseObject]) -> [DatabaseObject] {
        LockOrder(relationship.destination, by: relationship.otherColumns).sorted(members, by: \.storedRow)
    }

    /// Members in the order in which their new pairs are stored: the call's order where the server numbers pairs.
    private func inOrderOfNewPairs(_ members: [DatabaseObject], _ payload: ColumnValues?) -> [DatabaseObject] {
        statements.link.mayReorderPairs(with: payload?.columns ?? []) ? inLockOrder(members) : members
    }

    /// One INSERT of the missing pairs.
    func insert(_ members: [DatabaseObject], through payload: [String: (any PropertyValue)?] = [:]) async throws {
        guard !members.isEmpty else { return }
        let assignments = try RelationshipValues(core).payload(payload, of: relationship, through: statements.link)
        let members = inOrderOfNewPairs(members, assignments)
        let result = try await store(members, payload: assignments)
        try applyWritten(result, payload: assignments)
        for member in members { takePair(member, isPaired: true) }
        // The pairs came with positions: the order must be read again.
        if relationship.position != nil { core.takeUnknownMembers(of: owner, in: relationship) }
    }

    /// Stores pairs, all of them or none; returns their rows where they have payload.
    private func store(_ members: [DatabaseObject], payload: ColumnValues?) async throws -> QueryResult {
        let keys = try statements.keys(of: members)
        let isChecked = statements.isChecked(payload)
        if isChecked, payload != nil || core.journal == nil {
            let statement = try statements.insert(keys, payload: payload, checks: .allPairs)
            do {
                return try await send([statement], of: members, mayBeRepeated: payload == nil)[0]
            } catch let error as KindredError where payload == nil && KeptRows(error.underlying) != nil {
                // The statement does not see pairs that another transaction has stored at the same time.
            }
        }
        var batch = [try statements.insert(keys, payload: payload, checks: isChecked ? .storedPairs : .nothing)]
        if statements.mayKeepRows(payload) { batch.append(try statements.check(keys)) }
        return try await send(batch, of: members)[0]
    }

    /// One DELETE of the pairs, or one UPDATE that marks them.
    func remove(_ members: [DatabaseObject]) async throws {
        guard !members.isEmpty else { return }
        let members = inLockOrder(members)
        let keys = try statements.keys(of: members)
        let results = try await send(try statements.deletion(.members(keys)))
        try applyDeleted(results[0])
        guard statements.helper.entity.obstacles.contains(.policies), results[0].count < members.count else {
            for member in members { takePair(member, isPaired: false) }
            return
        }
        // Pairs that a policy hides may still be stored: both ends are read again.
        core.takeUnknownMembers(of: owner, in: relationship)
        for member in members {
            core.takeUnknownMembers(of: member, in: relationship.inverse)
            takeHelperRows(of: member)
        }
    }

    /// One DELETE of all pairs of the owner, or one UPDATE that marks them.
    func removeAll() async throws {
        let results = try await send(try statements.deletion(.all))
        try applyDeleted(results[0])
    }

    /// Deletes the pairs with other members and inserts the missing pairs, in one atomic change.
    func replace(with members: [DatabaseObject]) async throws {
        guard !members.isEmpty else { return try await removeAll() }
        let payload = try RelationshipValues(core).payload([:], of: relationship, through: statements.link)
        let members = inOrderOfNewPairs(members, payload)
        let keys = try statements.keys(of: members)
        let insert = try statements.insert(
            keys, payload: payload, checks: statements.isChecked(nil) ? .storedPairs : .nothing)
        let deletions = try statements.deletion(.others(keys))
        var batch = deletions + [insert]
        if statements.mayKeepRows(nil) { batch.append(try statements.check(keys)) }
        let results = try await send(batch, of: members)
        try applyDeleted(results[0])
        try applyWritten(results[deletions.count], payload: payload)
        for member in members { takePair(member, isPaired: true) }
    }

    /// Sends statements that write the helper's rows, as one.
    ///
    /// - Parameters:
    ///   - members: the members of new pairs.
    ///   - mayBeRepeated: whether another statement follows where pairs were kept from being stored.
    func send(
        _ batch: [Statement], of members: [DatabaseObject] = [], mayBeRepeated: Bool = false
    ) async throws -> [QueryResult] {
        core.count(relationship, of: owner)
        let key = relationship.model.name
        do {
            return try await core.client.send(batch, statements.helper)
        } catch let error as KindredError where error.constraint.map(isEndOfHelper) ?? false {
            try core.take(missing: missingEnds(error, among: members))
            throw KindredError(
                .objectDeleted,
                "An end of \(owner.runtime.name).\(key) is no longer in the database; nothing was written",
                entity: error.entity,
                key: key,
                constraint: error.constraint,
                underlying: error.underlying
            )
        } catch let error as KindredError where error.key == nil {
            if !mayBeRepeated, let hidden = KindredError(hiddenPairs: error.underlying, of: relationship) {
                throw hidden
            }
            // The helper has no field for it: the relationship stands for the pair.
            throw error.about(key, of: owner.runtime)
        }
    }

    private func isEndOfHelper(_ constraint: String) -> Bool {
        let helper = relationship.model.helper
        return constraint == helper?.sourceForeignKey || constraint == helper?.destinationForeignKey
    }

    /// The ends whose rows a foreign key of the helper did not find by their own keys.
    private func missingEnds(_ error: KindredError, among members: [DatabaseObject]) throws -> [DatabaseObject] {
        if error.constraint == relationship.model.helper?.sourceForeignKey {
            return relationship.source.keyOrder(of: relationship.ownColumns) == nil ? [] : [owner]
        }
        guard relationship.destination.keyOrder(of: relationship.otherColumns) != nil else { return [] }
        if members.count == 1 { return members }
        let detail = error.underlying?.server?.detail ?? ""
        return try members.filter { member in
            let values = try relationship.otherColumns.map { try member.storedRow[$0]?.description ?? "" }
            return detail.contains(")=(\(values.joined(separator: ", "))) ")
        }
    }

    /// Adds a member to the loaded sets of both ends, or removes it.
    func takePair(_ member: DatabaseObject, isPaired: Bool) { take(.object(member), isPaired: isPaired) }

    private func take(_ member: PairChange.Member, isPaired: Bool) {
        core.take(
            PairChange(
                relationship: relationship, link: statements.link, owner: owner, member: member, isPaired: isPaired))
    }

    /// Has the one-to-many sets of helper rows at both ends read again.
    func takeHelperRows(of member: DatabaseObject) {
        core.takeUnknownHelperRows(of: statements.link, between: owner, member)
    }

    /// Applies inserted or changed helper rows to their objects and to loaded relationships.
    ///
    /// - Parameter payload: the values written beside the keys, which are no longer staged.
    func applyWritten(_ result: QueryResult, payload: ColumnValues?) throws {
        let helper = statements.helper
        guard result.count > 0, !helper.key.isEmpty, core.withMap({ $0.knows(helper) }) else { return }
        let rows = try EntityRows(result, of: helper)
        for position in 0..<rows.count {
            let row = try rows[position]
            guard let key = try ObjectKey(row, helper.key) else { continue }
            let object = core.liveObject(helper, key)
            if let object, let payload { core.unstage(payload.columns, of: object) }
            try core.take(row, of: helper, object: object)
        }
    }

    /// Removes the members of deleted pairs from the owner, and marks the pairs' objects as deleted; where rows are
    /// marked instead, their objects get the marked rows.
    func applyDeleted(_ result: QueryResult) throws {
        let helper = statements.helper
        let destination = relationship.destination
        let isMarked = helper.deletionMark != nil
        if isMarked { try applyWritten(result, payload: nil) }
        for row in result {
            if !isMarked, !helper.key.isEmpty, let key = try ObjectKey(row, helper.key),
                let object = core.liveObject(helper, key)
            {
                try core.take(deletionOf: object)
            }
            let columns = statements.link.destinationColumns
            if let member = try core.liveObject(destination, where: relationship.otherColumns, equal: row, columns) {
                take(.object(member), isPaired: false)
            } else {
                take(.row(row), isPaired: false)
            }
        }
    }
}

extension HelperStatements {
    /// The keys by which the helper's rows name members; throws if a member cannot be paired with the owner.
    func keys(of members: [DatabaseObject]) throws -> [ObjectKey] {
        let own = relationship.otherColumns
        let name = relationship.model.name
        return try members.map { member in
            let values = try member.referencedValues(own, name)
            for (helperColumn, (column, value)) in zip(link.destinationColumns, zip(own, values)) {
                if let shared = link.sourceColumns.firstIndex(of: helperColumn), ownerValues[shared] != value {
                    throw member.disagrees(column, name)
                }
            }
            return memberKey(values)
        }
    }
}
