/// A list that mostly has one element, which takes no allocation.
struct Few<Element> {
    private var first: Element?
    private var others: [Element] = []

    init() {}

    var count: Int { first == nil ? 0 : 1 + others.count }

    subscript(position: Int) -> Element {
        if position == 0, let first { return first }
        return others[position - 1]
    }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    mutating func removeLast() {
        if others.popLast() == nil { first = nil }
    }

    /// Calls `body` with each, in their order.
    func forEach(_ body: (Element) -> Void) {
        if let first { body(first) }
        for element in others { body(element) }
    }
}
