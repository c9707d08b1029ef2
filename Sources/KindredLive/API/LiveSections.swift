public import Kindred
public import KindredPostgres

/// A part of a live list: the objects that have one value of an attribute.
public struct LiveSection<Object: DatabaseObject>: Sendable {
    /// The value; nil for NULL.
    ///
    /// Of a value with several spellings, as in `citext`, the spelling of the first object.
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
    /// The list in sections, each of the objects that have one value of an attribute, by the equality of its type and collation.
    ///
    /// The request has to be sorted by the attribute first. With a client's cursor, sections are given whole unless nothing has
    /// changed. Sends nothing; later one statement for each update with new spellings of a type or collation that has several for
    /// one value. Throws `KindredError` `.unknownKey` for a key
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
        private var values: SectionValues
        private var last: [SectionValues.Value]?

        init(_ sections: LiveSections) {
            updates = LiveRequest.AsyncIterator(sections.request, takesDifference: false)
            key = sections.key
            values = SectionValues(sections.request.query.core)
        }

        /// The next update, once the result has changed; throws as ``LiveRequest/AsyncIterator/next()`` does.
        public mutating func next() async throws -> LiveSectionsUpdate<Object>? {
            guard let update = try await updates.next() else { return nil }
            let rows = update.objects.map(\.row)
            // A change of the table may have moved it.
            let entity = update.objects.first?.runtime
            let column = entity?.attributeIndex(of: key) ?? 0
            let found = try await values.values(of: rows, at: column, entity?.entity.attributes[column])
            var (sections, shown): ([LiveSection<Object>], [SectionValues.Value]) = ([], [])
            var members: [Object] = []
            for (place, object) in update.objects.enumerated() {
                members.append(object)
                guard place == rows.count - 1 || found[place + 1] != found[place] else { continue }
                let first = rows[place + 1 - members.count]
                sections.append(LiveSection(value: first.valueOrRaw(at: column), objects: members))
                shown.append(found[place])
                members = []
            }
            let difference = LiveDifference(from: last ?? shown, to: shown) { _, _ in true }
            last = shown
            return LiveSectionsUpdate(
                sections: sections, removedSections: difference.removals, insertedSections: difference.insertions,
                update: update)
        }
    }

    /// Begins to follow the request, with a context of its own.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
