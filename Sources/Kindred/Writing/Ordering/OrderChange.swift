/// A change of an ordered relationship, in terms of what the database has when the owner is locked.
enum OrderChange {
    /// Who is no member yet joins behind the last one; only the end of the order has to be known, unless it is full.
    case append(needsAll: Bool)
    /// The objects come to stand before one of the members, or at a place if there is no such member any more.
    case insert(before: ObjectKey?, at: Int)
    /// The objects change places: as inserting, but they have to be members.
    case move(before: ObjectKey?, at: Int)
    /// The objects become the only members.
    case set

    /// Whether the end of the order is all that has to be known.
    var needsEndOnly: Bool {
        if case .append(let needsAll) = self { !needsAll } else { false }
    }

    /// The new order, made of the one that the database has and of the given objects.
    func order(_ stored: [ObjectKey], _ given: [ObjectKey]) -> [ObjectKey] {
        switch self {
        case .append:
            let known = Set(stored)
            return stored + given.filter { !known.contains($0) }
        case .set:
            return given
        case .insert(let next, let place), .move(let next, let place):
            let moved = Set(given)
            var order = stored.filter { !moved.contains($0) }
            let found = next.map { next in order.firstIndex(of: next) ?? min(place, order.count) }
            order.insert(contentsOf: given, at: found ?? order.count)
            return order
        }
    }
}
