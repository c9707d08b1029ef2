import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// A page of the objects, found by the values of the sort keys and not by counting, so that the last page is as quick
    /// as the first, and nothing is given twice or left out because of rows that others add or delete.
    ///
    /// ```swift
    /// var page = try await request.page(size: 50)
    /// while let next = page.next { page = try await request.page(size: 50, after: next) }
    /// ```
    ///
    /// The identity key is added to the request's order. Of an ordered relationship, pages come in its order if the members
    /// hold the position themselves; in many-to-many relationships they come by their keys, unless the request is sorted.
    ///
    /// One query, and one more for each relationship to be prefetched. Throws `KindredError` `.invalidRequest` for an entity
    /// without a key, a request with limit or offset, a size below one, a cursor of another order, or a lock outside a
    /// transaction.
    public func page(size: Int, after cursor: PageCursor? = nil, fileID: String = #fileID, line: Int = #line)
        async throws -> Page<Object>
    {
        return try await context.client.called(at: fileID, line) {
            let query = try paged(size)
            if query.lock != nil { try context.requireTransaction() }
            guard cursor == nil || cursor?.order == query.sort else {
                throw invalid("The cursor belongs to a request with another order")
            }
            let statement = try query.statement(in: context.schema, query.locked) { renderer in
                let keys = try query.sort.map { try renderer.key($0) }
                let columns = [try SelectQuery.columns(of: entity.entity)] + keys.map { renderer.readable($0) }
                let condition = try cursor.map { try renderer.after($0.values, keys, query.sort) }
                return SelectQuery.Parts(columns: columns.joined(separator: ", "), condition: condition)
            }
            let askedAt = context.beginReading()
            let result = try await context.client.execute(statement, for: entity.name)
            let objects = try context.objects(from: result, of: entity, askedAt: askedAt)
            try await context.prefetch(prefetched, of: objects)
            var next: PageCursor?
            if result.count == size {
                let first = entity.entity.attributes.count
                let values = try query.sort.indices.map { try result.value(row: size - 1, column: first + $0) }
                next = PageCursor(order: query.sort, values: values)
            }
            return Page(objects: try entity.typed(objects), next: next)
        }
    }

    private func paged(_ size: Int) throws -> SelectQuery {
        guard size > 0 else { throw invalid("A page has at least one object; \(size) were asked for") }
        guard query.limit == nil, query.offset == nil else {
            throw invalid("A request with limit or offset has no pages; leave them out")
        }
        guard !entity.key.isEmpty else { throw invalid("\(entity.name) has no key, so that its order is not certain") }
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
