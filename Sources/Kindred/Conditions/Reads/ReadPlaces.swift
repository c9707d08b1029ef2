import KindredPostgres
package import KindredSchema

/// The places at which a condition or an order reads rows, with the columns that it reads there: noted while it is resolved.
package struct ReadPlaces: Sendable {
    /// The rows at one path: the request's own rows, or rows to which a relationship of an earlier place leads.
    package struct Place: Sendable {
        package let entity: QualifiedName
        /// The earlier place and the relationship that leads from it; nil for the request's own rows, and for the
        /// helper's rows that pair them with an owner.
        package let link: (from: Int, relationship: Relationship)?
        /// The path from the request's entity, such as `person.manager`; empty for its own rows.
        package let path: String
        /// The columns of the rows that are read.
        package fileprivate(set) var columns: [String] = []
        /// The columns that are read of the relationship's helper rows.
        package fileprivate(set) var helperColumns: [String] = []

        /// Whether the rows pair the request's own rows with the owner whose members they are.
        var isPair: Bool { link == nil && !path.isEmpty }
    }

    /// The places, each behind the place that leads to it; the request's own rows are the first.
    package private(set) var places: [Place]

    init(entity: QualifiedName) {
        places = [Place(entity: entity, link: nil, path: "")]
    }

    /// The place to which a relationship leads from another.
    mutating func follow(_ relationship: Relationship, from place: Int) -> Int {
        let known = places.firstIndex { $0.link.map { $0.from == place && $0.relationship === relationship } ?? false }
        if let known { return known }
        let path = places[place].path.isEmpty ? relationship.name : "\(places[place].path).\(relationship.name)"
        places.append(Place(entity: relationship.destination, link: (place, relationship), path: path))
        return places.count - 1
    }

    /// The place of the helper's rows that pair the request's own rows with their owner.
    mutating func pair(_ helper: QualifiedName, path: String) -> Int {
        if let known = places.firstIndex(where: \.isPair) { return known }
        places.append(Place(entity: helper, link: nil, path: path))
        return places.count - 1
    }

    mutating func note(_ column: String, at place: Int) {
        if !places[place].columns.contains(column) { places[place].columns.append(column) }
    }

    mutating func note(helperColumn column: String, at place: Int) {
        if !places[place].helperColumns.contains(column) { places[place].helperColumns.append(column) }
    }
}
