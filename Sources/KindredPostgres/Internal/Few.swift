/// A list that mostly has one element, which takes no allocation.
package struct Few<Element>: RandomAccessCollection {
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

extension Few: Sendable where Element: Sendable {}
