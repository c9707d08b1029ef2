public import KindredPostgres
import KindredSchema

/// A request for attributes of an entity's rows, which makes no objects; made by ``FetchRequest/select(_:)->AttributeRequest``.
///
/// ```swift
/// let rows = try await context.fetch("book").sorted("title").select("title", "author.name").all()
/// for row in rows { print(row["author.name"] ?? nil) }
/// ```
public struct AttributeRequest: Sendable {
    let context: DatabaseContext
    private(set) var query: SelectQuery
    let columns: [SelectedColumn]
    private var isDistinct = false

    var keyPaths: [String] { columns.map(\.keyPath) }

    init(context: DatabaseContext, query: SelectQuery, columns: [SelectedColumn]) throws {
        self.context = context
        self.query = query
        self.columns = columns
        _ = try statement()
    }

    /// Removes duplicate rows.
    ///
    /// Throws `KindredError` `.invalidRequest` if the request locks its rows, or sorts by a path that is not selected.
    /// Sends nothing.
    public func distinct() throws -> AttributeRequest {
        guard query.lock == nil else {
            throw KindredError(
                .invalidRequest, "Distinct rows cannot be locked, because each may stand for several",
                entity: query.entity.name.description)
        }
        var request = self
        request.isDistinct = true
        // A row without duplicates has no position in an ordered relationship.
        request.query.memberOrder = nil
        _ = try request.distinctOrder()
        return request
    }

    private func distinctOrder() throws -> String {
        try query.sort.order(among: keyPaths) { path in
            KindredError(
                .invalidRequest, "Distinct rows can only be sorted by what is selected; select \(path) too",
                entity: query.entity.name.description, key: path)
        }
    }

    /// The rows, each as a dictionary by key path; a missing value is nil.
    ///
    /// One query.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [[String: PostgresValue?]] {
        return try await context.core.client.called(at: fileID, line) {
            let result = try await result()
            return try (0..<result.count).map { row in
                var values: [String: PostgresValue?] = [:]
                for (column, keyPath) in keyPaths.enumerated() {
                    values.updateValue(try result.value(row: row, column: column), forKey: keyPath)
                }
                return values
            }
        }
    }

    /// The rows as tuples of the given types, nil for a missing value: `all(as: String.self, Int.self)`.
    ///
    /// One query. Throws `KindredError` `.invalidRequest` if the number of types differs from the number of key paths,
    /// and `PostgresError` `.decodingFailed` for a value that a type cannot hold.
    public func all<each Value: PostgresDecodable>(
        as types: repeat (each Value).Type, fileID: String = #fileID, line: Int = #line
    ) async throws -> [(
        repeat (each Value)?
    )] {
        return try await context.core.client.called(at: fileID, line) {
            var count = 0
            for _ in repeat each types { count += 1 }
            guard count == columns.count else {
                throw KindredError(
                    .invalidRequest,
                    "\(columns.count) key paths are selected and \(count) types are given",
                    entity: query.entity.name.description
                )
            }
            return try await result().map { row in
                var column = 0
                func next<Next: PostgresDecodable>(_ type: Next.Type) throws -> Next? {
                    defer { column += 1 }
                    return try row.decode(column, as: type)
                }
                return (repeat try next(each types))
            }
        }
    }

    func result() async throws -> QueryResult {
        if query.lock != nil { try context.core.client.requireTransaction() }
        return try await context.core.read(try statement(), for: query.entity.name)
    }

    /// The SQL of the request, with `$1`, `$2`, … for its values.
    public var sql: String {
        get throws { try statement().text.text }
    }

    func statement() throws -> Statement {
        guard !columns.isEmpty else {
            throw KindredError(
                .invalidRequest, "select needs at least one key path", entity: query.entity.name.description)
        }
        return try query.statement(in: context.schema, isSorted: !isDistinct, query.locked) { resolver in
            let columns = try columns.map { try resolver.selected($0, isCompared: isDistinct).sql }
            return SelectQuery.Parts(
                columns: (isDistinct ? "DISTINCT " : "") + columns.joined(separator: ", "),
                grouping: isDistinct ? try distinctOrder() : "")
        }
    }
}

extension FetchRequest {
    /// Reads attributes only, by key paths over to-one relationships, without making objects.
    ///
    /// `path.@count` is the number of a to-many relationship's members. Throws `KindredError` `.unknownKey` with the
    /// nearest keys, `.invalidRequest` for a path that does not end in one value. Sends nothing.
    public func select(_ keyPaths: String...) throws -> AttributeRequest {
        try AttributeRequest(context: context, query: query, columns: keyPaths.map { .path($0) })
    }
}
