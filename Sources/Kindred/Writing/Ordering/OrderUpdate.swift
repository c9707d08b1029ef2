import KindredPostgres
import KindredSchema

/// The effect of a change of an order: the members that leave, join, and change their positions.
struct OrderUpdate {
    /// The new order, or, for a change at the end, the end of it.
    let order: [ObjectKey]
    let leaving: [ObjectKey]
    /// New members with their places.
    private(set) var joining: [(object: DatabaseObject, place: OrderStatements.Place)] = []
    /// Members whose position changes.
    private(set) var moving: [OrderStatements.Place] = []
    /// Given objects that were members already, with their positions.
    private(set) var known: [OrderStatements.Place] = []
    let payload: ColumnValues?
    let isComplete: Bool
    /// The given objects by their row keys.
    let given: [ObjectKey: DatabaseObject]
    private let stored: [ObjectKey: Int64?]
    /// The server's results, except the result of an INSERT.
    var answers: [QueryResult] = []
    /// The rows of pairs that were inserted or got their payload.
    var pairs: QueryResult?
    var hasLeavers = false
    var hasPlaces = false

    init(
        _ answer: QueryResult,
        _ change: OrderChange,
        of rows: OrderedRows,
        with objects: [(key: ObjectKey, object: DatabaseObject)],
        payload: ColumnValues?
    ) throws {
        let columns = Array(rows.statements.memberColumns.indices)
        var (members, positions): ([ObjectKey], [ObjectKey: Int64?]) = ([], [:])
        given = Dictionary(objects.map { ($0.key, $0.object) }, uniquingKeysWith: { first, _ in first })
        isComplete = !change.needsEndOnly
        var hidden = HiddenMembers()
        for row in 0..<answer.count {
            guard let key = try ObjectKey(answer, row: row, columns) else { continue }
            if given[key] != nil, let column = rows.statements.pairColumn(isEnd: !isComplete),
                try answer.value(row: row, column: column) == .bool(false)
            {
                // A hidden row is no pair: the object joins, behind the positions of all other members.
                guard isComplete else { throw EndIsFull() }
                continue
            }
            positions.updateValue(try answer.integer(row: row, column: columns.count), forKey: key)
            if isComplete, given[key] == nil, let column = rows.statements.shownColumn,
                try answer.value(row: row, column: column) == .bool(false)
            {
                hidden.append(key, after: members.last)
            } else {
                members.append(key)
            }
        }
        self.payload = payload
        stored = positions
        order = change.order(members, objects.map(\.key))
        let wanted = Set(order)
        leaving = members.filter { !wanted.contains($0) }
        let current = order.map { positions[$0] ?? nil }
        var (whole, planned) = (order, [Int64]())
        if isComplete {
            guard let all = rows.plan.positions(current) else { throw Self.tooMany(rows.statements) }
            planned = all
            let taken = Set(hidden.keys.compactMap { positions[$0] ?? nil })
            if zip(current, planned).contains(where: { $0 != $1 && taken.contains($1) }) {
                // There is no room besides the hidden members: they move with the members before them.
                whole = hidden.added(to: order, of: members)
                guard let all = rows.plan.positions(whole.map { positions[$0] ?? nil }) else {
                    throw Self.tooMany(rows.statements)
                }
                planned = all
            }
        } else {
            guard let end = rows.plan.end(current) else { throw EndIsFull() }
            planned = end
        }
        let isChanged = isComplete || order.contains { positions[$0] == nil }
        for (key, position) in zip(whole, planned) {
            let place = OrderStatements.Place(key: key, position: position)
            if let known = positions[key] {
                if known != position, isChanged { moving.append(place) }
                if given[key] != nil { self.known.append(place) }
            } else if let object = given[key] {
                joining.append((object, place))
            }
        }
    }

    /// There is no room after the last position: the whole order must be read.
    struct EndIsFull: Error {}

    /// The pairs that are inserted, or whose payload changes.
    var inserted: [OrderStatements.Place] {
        joining.map(\.place) + (payload == nil ? [] : known)
    }

    /// The UPDATEs that set members' positions: with a unique key that is checked row by row, another UPDATE first
    /// moves members away from positions that other members get.
    func writes(_ rows: OrderedRows) throws -> (park: [Statement], place: [Statement]) {
        var joined: [OrderStatements.Place] = []
        var columns: [Int] = []
        if case .members(let writer) = rows.link {
            joined = joining.map(\.place)
            columns = writer.statements.joining
        }
        guard !moving.isEmpty || !joined.isEmpty else { return ([], []) }
        let place = try rows.statements.place(moving, joining: joined, columns: columns)
        guard rows.isUnique else { return ([], [place]) }
        let taken = Set((moving + joined).map(\.position))
        let parked = moving.map(\.key).filter { key in (stored[key] ?? nil).map(taken.contains) ?? false }
        guard !parked.isEmpty else { return ([], [place]) }
        let used = Array(taken) + stored.values.compactMap { $0 }
        guard let free = rows.plan.parking(parked.count, outside: used) else { throw Self.tooMany(rows.statements) }
        let places = zip(parked, free).map { OrderStatements.Place(key: $0, position: $1) }
        return ([try rows.statements.place(places)], [place])
    }

    /// The row keys of the places passed to `place`, in their order.
    var placed: [ObjectKey] { moving.map(\.key) + joining.map(\.place.key) }

    private static func tooMany(_ statements: OrderStatements) -> KindredError {
        statements.rows.noRoom(statements.rows.entity.attributes[statements.position])
    }
}

/// Members of an order that their filter hides: they keep their places as far as there is room.
private struct HiddenMembers {
    private(set) var keys: [ObjectKey] = []
    private var after: [ObjectKey?: [ObjectKey]] = [:]

    /// Adds a hidden member behind the last member that is shown.
    mutating func append(_ key: ObjectKey, after shown: ObjectKey?) {
        keys.append(key)
        after[shown, default: []].append(key)
    }

    /// A new order in which each hidden member stands behind the same member as before, or behind an earlier member if
    /// that member has left.
    ///
    /// - Parameter members: the members that are shown, in the former order.
    func added(to order: [ObjectKey], of members: [ObjectKey]) -> [ObjectKey] {
        let kept = Set(order)
        var behind: [ObjectKey?: [ObjectKey]] = [:]
        var last: ObjectKey?
        for key in [nil] + members.map(Optional.some) {
            if let key, kept.contains(key) { last = key }
            behind[last, default: []] += after[key] ?? []
        }
        return (behind[nil] ?? []) + order.flatMap { [$0] + (behind[$0] ?? []) }
    }
}

extension EntityRuntime {
    /// The error for a position column whose type has no number left.
    func noRoom(_ attribute: Attribute) -> KindredError {
        KindredError(
            .valueTooLarge,
            "\(name).\(attribute.name) is of type \(attribute.typeName) and has no room for the positions",
            entity: name.description,
            key: attribute.name
        )
    }
}

/// A change of an ordered relationship, based on the database's order when the owner is locked.
enum OrderChange {
    /// New members are appended; only the end of the order must be read, unless it is full.
    case append(needsAll: Bool)
    /// The objects are inserted before a member, or at an index if that member has left.
    case insert(before: ObjectKey?, at: Int)
    /// The objects, which must be members, are moved in the same way.
    case move(before: ObjectKey?, at: Int)
    /// The objects become the only members.
    case set

    /// Whether only the end of the order must be read.
    var needsEndOnly: Bool {
        if case .append(let needsAll) = self { !needsAll } else { false }
    }

    /// The new order, from the database's order and the given objects.
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
