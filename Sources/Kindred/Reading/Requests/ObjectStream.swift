import KindredPostgres

/// The objects of a request, read in batches on demand; made by `FetchRequest.stream()`.
///
/// Each loop over it runs the query again.
public struct ObjectStream<Object: DatabaseObject>: AsyncSequence, Sendable {
    /// An object.
    public typealias Element = Object

    let request: FetchRequest<Object>
    let place: SourcePlace

    /// Begins the query when the first object is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(request, place)
    }

    /// Iterates over the objects once.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let request: FetchRequest<Object>
        private var cursor: RoutedCursor?
        private var portion: [Object] = []
        private var position = 0
        private let place: SourcePlace
        /// The time of the query: all batches show the same snapshot.
        private var askedAt: ContextTime = .never

        init(_ request: FetchRequest<Object>, _ place: SourcePlace) {
            self.place = place
            self.request = request
        }

        /// The next object, nil after the last.
        ///
        /// Throws as `FetchRequest.all()` does.
        public mutating func next() async throws -> Object? {
            let context = request.context
            if cursor == nil {
                if request.query.lock != nil { try context.core.client.requireTransaction() }
                let query = try await request.query.lockedByTenant(request.entity, in: context.core)
                let statement = try query.statement(in: context.schema)
                context.core.note(leavingOut: request.query.leftOut)
                try await context.core.follow(request.entity)
                askedAt = context.core.beginReading()
                cursor = context.core.cursor(statement)
            }
            while position == portion.count {
                portion = []
                position = 0
                // Locked rows are read when they are fetched.
                let askedAt = request.query.lock == nil ? askedAt : context.core.now
                let (request, cursor) = (request, cursor)
                let objects = try await context.core.client.called(at: place) {
                    let result: QueryResult?
                    do {
                        result = try await cursor?.next()
                    } catch let error as PostgresError {
                        throw KindredError(rejectedStatement: error, entity: request.entity.name) ?? error
                    } catch let conflict as ReplicaConflict {
                        throw KindredError(conflict, entity: request.entity.name)
                    }
                    guard let result else { return [DatabaseObject]?.none }
                    let gone = context.core.deletedKeys(of: request.entity, since: askedAt)
                    var objects = try context.core.take(result, of: request.entity, askedAt: askedAt)
                    if gone != [] {
                        objects = try await DeletionFilter(core: context.core, entity: request.entity).remaining(
                            of: objects, deleted: gone)
                    }
                    try await Loader(context.core).prefetch(request.prefetched, of: objects)
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
    /// Reads the objects on demand, so that memory holds one batch of them at a time.
    ///
    /// ```swift
    /// for try await book in context.fetch("book").stream() { … }
    /// ```
    ///
    /// The objects of a batch are a group: the first access to a relationship loads it for the batch. One statement for
    /// each batch of some hundred kilobytes, in the task's transaction or in one of the loop's own. The rows are a
    /// snapshot taken with the first: objects changed since keep their values, and objects that the context deleted
    /// since are left out. The loop throws errors as `FetchRequest.all()` does, and `.replicaConflict` if a replica fails, or
    /// cancels the query, after the first batch.
    public func stream(fileID: String = #fileID, line: Int = #line) -> ObjectStream<Object> {
        ObjectStream(request: self, place: SourcePlace(fileID: fileID, line: line))
    }
}

/// Leaves out objects whose rows the context has deleted since their query.
private struct DeletionFilter {
    let core: ContextCore
    let entity: EntityRuntime

    /// The objects whose rows exist.
    ///
    /// - Parameter deleted: nil if the notes have been evicted: then one SELECT asks which rows exist.
    func remaining(of objects: [DatabaseObject], deleted: Set<ObjectKey>?) async throws -> [DatabaseObject] {
        guard let deleted else {
            let present = try await core.client.storedKeys(among: objects.compactMap(\.key), of: entity)
            return try objects.filter { object in
                guard let key = object.key, !present.contains(key) else { return true }
                try core.take(deletionOf: object)
                return false
            }
        }
        return try objects.filter { object in
            guard let key = object.key, deleted.contains(key) else { return true }
            try core.take(deletionOf: object)
            return false
        }
    }
}
