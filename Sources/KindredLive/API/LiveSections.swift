public import Kindred
public import KindredPostgres

/// A part of a live list: the objects that have one value of an attribute.
public struct LiveSection<Object: DatabaseObject>: Sendable {
    /// The value; nil for NULL.
    public let value: PostgresValue?
    /// The objects, in the list's order.
    public let objects: [Object]
}

/// A live list in sections, and its difference to the last list.
public struct LiveSectionsUpdate<Object: DatabaseObject>: Sendable {
    /// The sections, in the list's order; none is empty.
    public let sections: [LiveSection<Object>]
    /// The offsets of sections that are gone, in the last list of sections, ascending.
    public let removedSections: [Int]
    /// The offsets of new sections, in this list of sections, ascending.
    public let insertedSections: [Int]
    /// The list as a whole.
    public let update: LiveUpdate<Object>

    /// The section of an object, and its offset there, by its offset in the whole list.
    ///
    /// nil beyond the list.
    public func place(at offset: Int) -> (section: Int, item: Int)? {
        guard offset >= 0 else { return nil }
        var item = offset
        for (place, section) in sections.enumerated() {
            if item < section.objects.count { return (place, item) }
            item -= section.objects.count
        }
        return nil
    }
}

/// A live request whose list is given in sections: made by ``LiveRequest/sections(by:)``.
public struct LiveSections<Object: DatabaseObject>: Sendable {
    fileprivate let request: LiveRequest<Object>
    fileprivate let key: String
}

extension LiveRequest {
    /// The list in sections, each of the objects that have one value of an attribute.
    ///
    /// The request has to be sorted by the attribute first. Sends nothing. Throws `KindredError` `.unknownKey` for a key
    /// that is no attribute, `.invalidRequest` if the list is not sorted by it.
    public func sections(by key: String) throws -> LiveSections<Object> {
        guard let column = query.entity.attributeIndex(of: key) else { throw query.entity.unknownKey(key) }
        let name = query.entity.entity.attributes[column].name
        guard let first = query.query.sort.first?.path, first.count == 1,
            query.entity.attributeIndex(of: first[0]) == column
        else {
            throw KindredError(
                .invalidRequest, "Sections by \(name) need a request that is sorted by \(name) first",
                entity: query.entity.name.description, key: name)
        }
        return LiveSections(request: self, key: name)
    }
}

extension LiveSections: AsyncSequence {
    /// The updates of one iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var updates: LiveRequest<Object>.AsyncIterator
        private let key: String
        private var values: [PostgresValue?]?

        init(_ sections: LiveSections) {
            updates = sections.request.makeAsyncIterator()
            key = sections.key
        }

        /// The next update, once the result has changed; throws as ``LiveRequest/AsyncIterator/next()`` does.
        public mutating func next() async throws -> LiveSectionsUpdate<Object>? {
            guard let update = try await updates.next() else { return nil }
            var sections: [LiveSection<Object>] = []
            var members: [Object] = []
            // A change of the table may have moved it.
            let column = update.objects.first?.runtime.attributeIndex(of: key) ?? 0
            for (place, object) in update.objects.enumerated() {
                members.append(object)
                let value = object.row.valueOrRaw(at: column)
                let isLast = place == update.objects.count - 1
                guard isLast || update.objects[place + 1].row.valueOrRaw(at: column) != value else { continue }
                sections.append(LiveSection(value: value, objects: members))
                members = []
            }
            let last = values
            values = sections.map(\.value)
            let difference = LiveDifference(from: last ?? sections.map(\.value), to: sections.map(\.value)) { _, _ in
                true
            }
            return LiveSectionsUpdate(
                sections: sections, removedSections: difference.removals, insertedSections: difference.insertions,
                update: update)
        }
    }

    /// Begins to follow the request, with a context of its own.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
