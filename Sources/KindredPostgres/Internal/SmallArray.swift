/// An array whose first element takes no allocation.
///
/// Nearly every statement has one parameter, one step and one completion. An object by key takes 25 allocations with this
/// type and 28 without it (`make bench-counts`).
package struct SmallArray<Element>: RandomAccessCollection {
    private var first: Element?
    private var others: [Element] = []

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package var count: Int { first == nil ? 0 : 1 + others.count }

    package subscript(position: Int) -> Element {
        if position == 0, let first { return first }
        return others[position - 1]
    }

    package mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    package mutating func removeLast() {
        if others.popLast() == nil { first = nil }
    }
}

extension SmallArray: Sendable where Element: Sendable {}
extension SmallArray: Equatable where Element: Equatable {}
extension SmallArray: Hashable where Element: Hashable {}
