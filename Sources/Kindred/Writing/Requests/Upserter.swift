import KindredPostgres
import KindredSchema

/// Stores rows, or follows a rule for rows whose key exists already, by one `INSERT … ON CONFLICT`.
struct Upserter: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The objects of the resulting rows, in the order of the values.
    func upsert(
        _ rows: [[String: (any PropertyValue)?]], of entity: EntityRuntime, _ resolution: ConflictRule
    ) async throws -> [DatabaseObject] {
        guard !entity.entity.isReadOnly else { throw entity.notWritable }
        guard !rows.isEmpty else { return [] }
        var assignments: [ColumnValues] = []
        for given in rows { assignments.append(try await RowWriter(core).newValues(given, of: entity)) }
        let upsert = try Upsert(assignments, of: entity, resolution, types: core.types)
        guard upsert.keepsRows, upsert.isChecked else {
            return try await core.write(of: entity) { try await storeAndFind(upsert, isChecked: upsert.isChecked) }
        }
        if core.journal == nil {
            do {
                return try await core.write(of: entity) { try await storeAndFind(upsert, isChecked: true) }
            } catch let error as KindredError where KeptRows(error.underlying) != nil {
                // A trigger has changed a key to an existing row's key, or another transaction has just stored a row
                // with the key.
            }
        }
        return try await core.transaction {
            try await core.write { try await storeAndFind(upsert, isChecked: false) }
        }
    }

    private func storeAndFind(_ upsert: Upsert, isChecked: Bool) async throws -> [DatabaseObject] {
        try await countFormer(upsert)
        let inserted = try await store(upsert, isChecked: isChecked)
        if inserted.count == upsert.count {
            return upsert.inGivenOrder(try applyUpserted(inserted, of: upsert.entity))
        }
        guard upsert.keepsRows else { throw upsert.hiddenConflict }
        return upsert.inGivenOrder(try await allObjects(upsert, inserted))
    }

    /// Notes the owners that existing rows may leave, by one SELECT if an owner has limits.
    private func countFormer(_ upsert: Upsert) async throws {
        let entity = upsert.entity
        let links = core.runtime.countLimits?.requiredLinks(of: entity) ?? []
        guard !upsert.keepsRows, !links.isEmpty else { return }
        let former = FormerOwners(
            statement: try upsert.selection(), columns: Array(entity.attributeColumns), links: links)
        try CountCheck(core).note(former, try await core.client.send([former.statement], entity)[0])
    }

    /// Sends the INSERT; the server may treat keys as equal that differ here, such as texts in different case.
    private func store(_ upsert: Upsert, isChecked: Bool) async throws -> QueryResult {
        do {
            return try await core.client.send([try upsert.statement(isChecked: isChecked)], upsert.entity)[0]
        } catch let error as PostgresError where error.sqlState?.rawValue == "21000" {
            throw KindredError(
                .invalidRequest, "Two new rows of \(upsert.entity.name) have the same key",
                entity: upsert.entity.name.description, underlying: error
            ).ofInput
        } catch let error as KindredError
            where upsert.entity.tenantColumn != nil && !upsert.keepsRows && KeptRows(error.underlying) != nil
        {
            throw upsert.hiddenConflict
        }
    }

    /// The objects of all rows where some existed: one more statement, since the first does not see rows that other
    /// transactions stored at the same time.
    private func allObjects(_ upsert: Upsert, _ inserted: QueryResult) async throws -> [DatabaseObject] {
        let entity = upsert.entity
        let new = try applyUpserted(inserted, of: entity)
        let askedAt = core.now
        let result = try await existing(upsert)
        if result.count == upsert.count {
            return try withExtendedLifetime(new) { try core.take(result, of: entity, askedAt: askedAt) }
        }
        // Another transaction may delete a row between the two statements, and a trigger may reject a new row.
        guard upsert.isChecked, core.journal != nil else { throw upsert.hiddenConflict }
        return try await conflicting(upsert, result, askedAt: askedAt)
    }

    /// The rows that the values name, new rows and existing rows.
    ///
    /// Outside of transactions the new rows are stored for good: there it is too late for a cancellation.
    private func existing(_ upsert: Upsert) async throws -> QueryResult {
        let selection = try upsert.selection()
        guard core.journal == nil else { return try await core.client.send([selection], upsert.entity)[0] }
        let (client, entity) = (core.client, upsert.entity)
        return try await Task { try await client.send([selection], entity)[0] }.value
    }

    /// The objects of all rows where a trigger has changed keys, so that some existing rows have other keys than were given.
    ///
    /// Four statements for each such row, two of which are a savepoint that is rolled back.
    private func conflicting(
        _ upsert: Upsert, _ result: QueryResult, askedAt: ContextTime
    ) async throws -> [DatabaseObject] {
        struct Found: Error {
            let result: QueryResult
        }
        let entity = upsert.entity
        let found = try core.take(result, of: entity, askedAt: askedAt)
        var places: [Int64: DatabaseObject] = [:]
        for (position, object) in found.enumerated() {
            if let place = try result.integer(row: position, column: entity.attributeColumns.upperBound) {
                places[place] = object
            }
        }
        for place in 0..<upsert.count where places[Int64(place + 1)] == nil {
            do {
                let statement = try upsert.conflict(ofRow: place)
                try await core.client.withTransaction { _ in
                    throw Found(result: try await core.client.send([statement], entity)[0])
                }
            } catch let conflict as Found where conflict.result.count == 1 {
                guard let key = try ObjectKey(conflict.result, row: 0, entity.key) else { continue }
                places[Int64(place + 1)] = try await PrimaryReads.run { try await Fetcher(core).fetch(entity, key) }
            } catch is Found {
                throw upsert.hiddenConflict
            }
        }
        let all = (1...Int64(upsert.count)).compactMap { places[$0] }
        guard all.count == upsert.count else { throw upsert.hiddenConflict }
        return all
    }

    /// Applies the rows of an INSERT to objects and loaded relationships, whether they are new or not.
    private func applyUpserted(_ result: QueryResult, of entity: EntityRuntime) throws -> [DatabaseObject] {
        let new = try core.take(written: EntityRows(result, of: entity), of: entity)
        let objects = try core.take(result, of: entity, askedAt: core.tick())
        // A row without an object may be new, or may have come from another owner.
        for position in new { core.take(storedRowOf: objects[position], isNew: false) }
        return objects
    }
}

extension Upsert {
    /// The error for a row that is neither stored nor there afterwards.
    fileprivate var hiddenConflict: KindredError {
        guard entity.tenantColumn != nil else { return entity.keptAway }
        let message = """
            A row of \(entity.name) has the key already that the tenant of the context does not have, or a trigger, rule or \
            policy kept a row from being stored
            """
        return KindredError(
            .constraintViolation, message, entity: entity.name.description,
            underlying: PostgresError(.server, message, sqlState: .uniqueViolation))
    }
}
