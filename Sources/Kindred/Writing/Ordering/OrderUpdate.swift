import KindredPostgres
import KindredSchema

/// What one change of an order comes down to: who leaves, who joins, and whose position changes.
struct OrderUpdate {
    /// The new order, or, for a change at the end, the end of it.
    let order: [ObjectKey]
    let leaving: [ObjectKey]
    /// Who is no member yet, with the place in the order.
    private(set) var joining: [(object: DatabaseObject, place: OrderStatements.Place)] = []
    /// Members whose position changes.
    private(set) var moving: [OrderStatements.Place] = []
    /// Given objects that were members already, with their positions.
    private(set) var known: [OrderStatements.Place] = []
    let payload: ColumnValues?
    let isComplete: Bool
    /// The objects that the change was given, by what the rows call them.
    let given: [ObjectKey: DatabaseObject]
    private let stored: [ObjectKey: Int64?]
    /// The server's answers, without that to an INSERT.
    var answers: [QueryResult] = []
    /// The rows of pairs that were inserted or got their payload.
    var pairs: QueryResult?
    var hasLeavers = false
    var hasPlaces = false

    init(
        _ answer: QueryResult,
        _ rows: OrderedRows,
        _ change: OrderChange,
        _ objects: [(key: ObjectKey, object: DatabaseObject)],
        _ payload: ColumnValues?
    ) throws {
        let columns = Array(rows.statements.memberColumns.indices)
        var (members, positions): ([ObjectKey], [ObjectKey: Int64?]) = ([], [:])
        for row in 0..<answer.count {
            guard let key = try ObjectKey(answer, row, columns) else { continue }
            members.append(key)
            positions.updateValue(try answer.integer(row: row, column: columns.count), forKey: key)
        }
        self.payload = payload
        isComplete = !change.needsEndOnly
        stored = positions
        given = Dictionary(objects.map { ($0.key, $0.object) }, uniquingKeysWith: { first, _ in first })
        order = change.order(members, objects.map(\.key))
        let wanted = Set(order)
        leaving = members.filter { !wanted.contains($0) }
        let current = order.map { positions[$0] ?? nil }
        let planned: [Int64]
        if isComplete {
            guard let all = rows.plan.positions(current) else { throw Self.tooMany(rows.statements) }
            planned = all
        } else {
            guard let end = rows.plan.end(current) else { throw EndIsFull() }
            planned = end
        }
        let isChanged = isComplete || order.contains { positions[$0] == nil }
        for (key, position) in zip(order, planned) {
            let place = OrderStatements.Place(key: key, position: position)
            if let known = positions[key] {
                if known != position, isChanged { moving.append(place) }
                if given[key] != nil { self.known.append(place) }
            } else if let object = given[key] {
                joining.append((object, place))
            }
        }
    }

    /// There is no room behind the last position: all of the order has to be known.
    struct EndIsFull: Error {}

    /// The pairs that a helper gets, or whose payload changes.
    var inserted: [OrderStatements.Place] {
        joining.map(\.place) + (payload == nil ? [] : known)
    }

    /// The UPDATEs that give members of the database's own order their positions, and, where a unique key is checked row
    /// by row, one before that which takes those out of the way whose positions others get.
    func writes(_ rows: OrderedRows) throws -> (park: [Statement], place: [Statement]) {
        var joined: [OrderStatements.Place] = []
        var columns: [Int] = []
        if case .members(let statements) = rows.link {
            joined = joining.map(\.place)
            columns = statements.joining
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

    /// The row keys of the places that `place` was given, in their order.
    var placed: [ObjectKey] { moving.map(\.key) + joining.map(\.place.key) }

    private static func tooMany(_ statements: OrderStatements) -> KindredError {
        statements.rows.noRoom(statements.rows.entity.attributes[statements.position])
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
