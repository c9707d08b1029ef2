import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// A page of the objects, found by the values of the sort keys instead of an offset: the last page is as fast as
    /// the first, and concurrent inserts and deletions neither repeat nor skip objects.
    ///
    /// ```swift
    /// var page = try await request.page(size: 50)
    /// while let next = page.next { page = try await request.page(size: 50, after: next) }
    /// ```
    ///
    /// The identity key is added to the request's order. An ordered relationship is paged in its order if the members
    /// hold the position themselves; a many-to-many relationship by its keys, unless the request is sorted.
    ///
    /// One query, and one more for each relationship to be prefetched; `withTotal` counts the objects of all pages by
    /// one more, which reads all of them. Throws `KindredError` `.invalidRequest` for an entity without a key, a
    /// request with limit or offset, a size below one, or a lock outside a transaction; `.invalidCursor` for a cursor
    /// of another entity or another order. All these errors come before anything is sent.
    public func page(
        size: Int, after cursor: PageCursor? = nil, withTotal: Bool = false, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Page<Object> {
        return try await context.core.client.called(at: fileID, line) {
            let query = try paged(size)
            if query.lock != nil { try context.core.client.requireTransaction() }
            if let cursor { try require(cursor, toFit: query) }
            let statement = try statement(of: query, behind: cursor)
            context.core.note(leavingOut: query.leftOut)
            try await context.core.follow(entity)
            let askedAt = context.core.beginReading()
            let result = try await context.core.read(statement, for: entity.name)
            let objects = try context.core.take(result, of: entity, askedAt: askedAt)
            try await Loader(context.core).prefetch(prefetched, of: objects)
            var next: PageCursor?
            if result.count == size {
                let first = entity.entity.attributes.count
                let values = try query.sort.indices.map { try result.value(row: size - 1, column: first + $0) }
                next = PageCursor(entity: entity.name, order: query.sort, values: values)
            }
            let total = withTotal ? try await count(fileID: fileID, line: line) : nil
            return Page(
                objects: try entity.typed(objects), next: next, total: total, prefetched: prefetched)
        }
    }

    /// The statement of a page, with the values of the sort keys behind the objects' columns.
    private func statement(of query: SelectQuery, behind cursor: PageCursor?) throws -> Statement {
        let values = cursor?.values.reversed().compactMap(\.self) ?? []
        let purpose = RenderedTexts.Shape.Purpose.page(values: values.count)
        let isKept = values.count == cursor?.values.count ?? 0
        // Errors of a cursor are thrown below.
        if isKept, let known = try? query.known(purpose, with: values) { return known }
        return try query.statement(in: context.schema, as: isKept ? purpose : nil, query.locked) { resolver in
            let keys = try query.sort.map { try resolver.key($0) }
            let columns = try [query.columns] + keys.map { try resolver.readable($0).sql }
            let condition = try cursor.map { cursor in
                for (key, value) in zip(keys, cursor.values) where key.type.mayBeRow {
                    // The server does not read a row from a text without its type.
                    if case .string? = value { throw misfit("a composite value has no form in a cursor's text") }
                }
                do {
                    return try resolver.after(cursor.values, keys: keys, order: query.sort)
                } catch let error as KindredError where error.code != .unknownKey {
                    throw misfit("its values are not of the types of the sort keys", because: error)
                }
            }
            return SelectQuery.Parts(columns: columns.joined(separator: ", "), condition: condition)
        }
    }

    private func require(_ cursor: PageCursor, toFit query: SelectQuery) throws {
        guard cursor.entity == entity.name else { throw misfit("it belongs to \(cursor.entity)") }
        guard cursor.order == query.sort else { throw misfit("it belongs to a request with another order") }
    }

    private func misfit(_ reason: String, because error: KindredError? = nil) -> KindredError {
        KindredError(
            .invalidCursor, "The cursor does not fit the request for \(entity.name): \(reason)",
            entity: entity.name.description, key: error?.key, underlying: error?.underlying)
    }

    private func paged(_ size: Int) throws -> SelectQuery {
        guard size > 0 else { throw invalid("The size of a page is at least 1, not \(size)").ofInput }
        guard query.limit == nil, query.offset == nil else {
            throw invalid("A request with limit or offset has no pages; leave them out")
        }
        guard !entity.key.isEmpty else { throw invalid("\(entity.name) has no key, so that its order is undefined") }
        var query = query
        if query.sort.isEmpty, let order = query.memberOrder, order.isOwn {
            query.sort = [SortTerm(path: [order.position])]
        }
        for name in entity.key.map({ entity.entity.attributes[$0].name })
        where !query.sort.contains(where: { $0.path == [name] }) {
            query.sort.append(SortTerm(path: [name]))
        }
        query.limit = size
        return query
    }

    private func invalid(_ message: String) -> KindredError {
        KindredError(.invalidRequest, message, entity: entity.name.description)
    }
}

/// The end of a page: the sort values of its last object; passed to `FetchRequest.page(size:after:)`.
///
/// It fits only requests for the same entity in the same order. A cursor can be sent to a client and come back, to this process
/// or to another: ``text`` is a form for URLs, ``init(_:)`` reads it, and as `Codable` the cursor is that text.
public struct PageCursor: Sendable, Hashable {
    let entity: QualifiedName
    let order: [SortTerm]
    let values: [PostgresValue?]
}

/// Some of the objects of a request, and the place where the next page begins.
public struct Page<Object: DatabaseObject>: Sendable {
    /// The objects, in the request's order.
    public let objects: [Object]
    /// The cursor at which the next page begins; nil if this is certainly the last.
    public let next: PageCursor?
    /// The number of objects on all pages, if it was asked for.
    public let total: Int?
    /// The relationships that were loaded with the objects.
    let prefetched: PrefetchTree
}

extension ConditionResolver {
    /// The condition that a row comes after the given values of the sort keys.
    mutating func after(
        _ values: [PostgresValue?], keys: [Scalar], order: [SortTerm]
    ) throws -> ConditionTerm {
        var after = ConditionTerm.never
        var start: ConditionTerm?
        for (position, key) in keys.enumerated().reversed() {
            let term = order[position]
            let isNullLast = term.nulls == .last || term.nulls == .standard && term.ascending
            guard let value = values[position] else {
                after = .after(beyond: isNullLast ? [] : [key.isNotNull], same: key.isNull, next: after)
                continue
            }
            let parameter = try bind(value, as: key)
            var beyond: [ConditionTerm] = [
                .comparison(key.value, key.type.comparison(term.ascending ? .greater : .less), parameter)
            ]
            if isNullLast && key.mayBeNull { beyond.append(key.isNull) }
            after = .after(
                beyond: beyond, same: .comparison(key.value, key.type.comparison(.equal), parameter), next: after)
            if position == 0, keys.count > 1, beyond.count == 1 {
                let comparison = key.type.comparison(term.ascending ? .greaterOrEqual : .lessOrEqual)
                start = .comparison(key.value, comparison, parameter)
            }
        }
        // Follows from the condition, but the server does not see that: it would read the index from its beginning.
        return start.map { .all([$0, after]) } ?? after
    }
}
