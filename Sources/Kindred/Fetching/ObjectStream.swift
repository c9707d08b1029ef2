import KindredPostgres

/// The objects of a request, read in portions as they are asked for; made by ``FetchRequest/stream()``.
///
/// Each loop over it runs the query anew.
public struct ObjectStream<Object: DatabaseObject>: AsyncSequence, Sendable {
    /// An object.
    public typealias Element = Object

    let request: FetchRequest<Object>
    let place: SourcePlace

    /// Begins the query with the first object that is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(request, place)
    }

    /// Goes through the objects once.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let request: FetchRequest<Object>
        private var cursor: ServerCursor?
        private var portion: [Object] = []
        private var position = 0
        private let place: SourcePlace

        init(_ request: FetchRequest<Object>, _ place: SourcePlace) {
            self.place = place
            self.request = request
        }

        /// The next object, nil after the last.
        ///
        /// Throws as ``FetchRequest/all()`` does.
        public mutating func next() async throws -> Object? {
            let context = request.context
            if cursor == nil {
                let statement = try request.query.statement(in: context.schema)
                cursor = ServerCursor(client: context.client, statement: statement, timeout: nil)
            }
            while position == portion.count {
                portion = []
                position = 0
                let askedAt = context.now
                let (request, cursor) = (request, cursor)
                let objects = try await context.client.called(at: place) {
                    let result: QueryResult?
                    do {
                        result = try await cursor?.next()
                    } catch let error as PostgresError {
                        throw KindredError(misfit: error, entity: request.entity.name) ?? error
                    }
                    guard let result else { return [DatabaseObject]?.none }
                    let objects = try context.objects(from: result, of: request.entity, askedAt: askedAt)
                    try await context.prefetch(request.prefetched, of: objects)
                    return objects
                }
                guard let objects else { return nil }
                portion = try request.entity.typed(objects)
            }
            defer { position += 1 }
            return portion[position]
        }
    }
}

extension FetchRequest {
    /// Gives the objects as they are asked for, so that memory holds one portion of them at a time.
    ///
    /// ```swift
    /// for try await book in context.fetch("book").stream() { … }
    /// ```
    ///
    /// The objects of a portion are a group of their own: the first access to a relationship loads it for the portion.
    /// One statement for each portion of some hundred kilobytes, in the task's transaction or in one that the loop has to
    /// itself. The rows are those of the moment when the first was asked for.
    public func stream(fileID: String = #fileID, line: Int = #line) -> ObjectStream<Object> {
        ObjectStream(request: self, place: SourcePlace(fileID: fileID, line: line))
    }
}
