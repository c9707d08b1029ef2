public import Foundation
public import Kindred

// A module of its own: on Linux `SortDescriptor` needs all of Foundation, with tens of megabytes of Unicode tables, which
// other programs should not have to link.

extension FetchRequest where Object: TypedObject {
    /// Sorts by Foundation's descriptors, after earlier sort keys: `sorted(by: SortDescriptor(\.born))`.
    ///
    /// NULL comes first, as in memory, or last in reverse order. Texts follow their column's collation instead of a
    /// locale of the program's. Sends nothing. Throws `KindredError` `.unknownKey` for a descriptor of anything but a
    /// column of the entity, `.invalidRequest` for a descriptor that compares texts lexically.
    public func sorted(by descriptors: SortDescriptor<Object>...) throws -> FetchRequest {
        try sorted(by: descriptors)
    }

    /// Sorts by an array of descriptors; see ``sorted(by:)-(SortDescriptor<Object>...)``.
    public func sorted(by descriptors: [SortDescriptor<Object>]) throws -> FetchRequest {
        try descriptors.reduce(self) { request, descriptor in
            guard let keyPath = descriptor.keyPath else {
                throw KindredError(.unknownKey, "A sort descriptor without a key path cannot sort in the database")
            }
            if descriptor.stringComparator == .lexical {
                throw KindredError(
                    .invalidRequest,
                    "The database sorts texts by their column's collation, not lexically; remove the comparator, or "
                        + "give the column the collation \"C\"")
            }
            return try request.sorted(keyPath: keyPath, ascending: descriptor.order == .forward, nullsAreLowest: true)
        }
    }
}
