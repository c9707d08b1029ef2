import KindredPostgres

/// One end of a relationship, as an entity declares it.
struct ModelEnd: Equatable {
    let node: Int
    let relationship: CoreDataModel.Relationship
    /// The entity that it leads to.
    let destination: Int
}

extension ModelPlanner {
    /// Makes foreign keys and helper tables of all relationships, each pair of inverses once.
    mutating func makeRelationships() throws {
        let ends = findEnds()
        nameRelationships(ends)
        var done: Set<Property> = []
        for node in nodes.indices {
            for relationship in nodes[node].entity.relationships {
                let key = Property(node: node, name: relationship.name)
                guard let end = ends[key], done.insert(key).inserted else { continue }
                let inverse = inverse(of: end, ends)
                if let inverse { done.insert(Property(node: inverse.node, name: inverse.relationship.name)) }
                make(end, inverse)
            }
        }
        if options.inheritance == .joined { for node in nodes.indices { linkToParent(node) } }
    }

    // MARK: Finding both ends

    mutating func findEnds() -> [Property: ModelEnd] {
        var ends: [Property: ModelEnd] = [:]
        let all = Set(model.entities.map(\.name))
        for node in nodes.indices {
            let entity = nodes[node].entity
            let inherited = Set(
                line(of: node).dropFirst().flatMap { place in
                    nodes[place].entity.attributes.map(\.name) + nodes[place].entity.relationships.map(\.name)
                })
            for relationship in entity.relationships {
                let subject = "\(entity.name).\(relationship.name)"
                if relationship.isTransient {
                    report(.omitted, subject, "it is transient, so it is not stored")
                } else if inherited.contains(relationship.name) {
                    report(.omitted, subject, "it is inherited, and what the ancestor says about it holds")
                } else if let destination = nodeOf[relationship.destination] {
                    ends[Property(node: node, name: relationship.name)] = ModelEnd(
                        node: node, relationship: relationship, destination: destination)
                } else if relationship.destination.isEmpty {
                    report(.omitted, subject, "it has no destination")
                } else if all.contains(relationship.destination) {
                    report(.omitted, subject, "its destination \(relationship.destination) was not asked for")
                } else {
                    report(.omitted, subject, "its destination \(relationship.destination) is not in the model")
                }
            }
        }
        return ends
    }

    /// The other end, where both name each other; a report where they do not.
    mutating func inverse(of end: ModelEnd, _ ends: [Property: ModelEnd]) -> ModelEnd? {
        let subject = "\(nodes[end.node].entity.name).\(end.relationship.name)"
        guard let name = end.relationship.inverse else {
            report(
                .changed, subject,
                end.relationship.isToMany
                    ? "it has no inverse, so Kindred names one after the table"
                    : "it has no inverse, so Kindred names one after the table, and the database keeps what it refers to"
            )
            return nil
        }
        let start = end.relationship.inverseEntity.flatMap { nodeOf[$0] } ?? end.destination
        let found = line(of: start).lazy.compactMap { ends[Property(node: $0, name: name)] }.first
        guard let found else {
            report(.changed, subject, "its inverse \(name) is not in the model, so Kindred names one after the table")
            return nil
        }
        let leadsBack = line(of: found.destination).contains(end.node) || line(of: end.node).contains(found.destination)
        guard found.relationship.inverse == end.relationship.name, leadsBack else {
            report(.changed, subject, "its inverse \(name) does not lead back to it, so they are two relationships")
            return nil
        }
        return found
    }

    /// Gives relationships their own names, or other names where entities with one table have the same.
    mutating func nameRelationships(_ ends: [Property: ModelEnd]) {
        var given: [Set<String>] = plan.tables.map { Set($0.columns.map(\.name)) }
        for node in nodes.indices {
            let entity = nodes[node].entity
            let table = nodes[node].table
            for relationship in entity.relationships {
                let key = Property(node: node, name: relationship.name)
                guard ends[key] != nil else { continue }
                var name = relationship.name
                if !given[table].insert(name).inserted {
                    name = keyNames[table].take("\(entity.name)_\(name)")
                    given[table].insert(name)
                    report(
                        .changed, "\(entity.name).\(relationship.name)",
                        "it is called \(name), as another entity with the same table has a property of this name")
                }
                relationshipNames[key] = name
            }
        }
    }

    func name(of end: ModelEnd?) -> String? {
        end.flatMap { relationshipNames[Property(node: $0.node, name: $0.relationship.name)] }
    }

    func subject(_ end: ModelEnd) -> String { "\(nodes[end.node].entity.name).\(end.relationship.name)" }

    // MARK: Kinds

    mutating func make(_ end: ModelEnd, _ inverse: ModelEnd?) {
        reportLimits(end)
        if let inverse, inverse != end { reportLimits(inverse) }
        if options.inheritance == .joined, let inverse, inverse.node != end.destination {
            report(
                .changed, subject(end),
                "its inverse belongs to \(nodes[inverse.node].entity.name), so it leads to the rows of that table")
        }
        switch (end.relationship.isToMany, inverse?.relationship.isToMany) {
        case (true, true): makeHelper(end, inverse)
        case (true, _): makeKey(holder: inverse, target: end, table: nodes[inverse?.node ?? end.destination].table)
        case (false, true): makeKey(holder: end, target: inverse, table: nodes[end.node].table)
        case (false, false):
            let (holder, target) = inverse.map { chooseHolder(end, $0) } ?? (end, end)
            makeKey(holder: holder, target: target, table: nodes[holder.node].table)
        case (false, nil): makeKey(holder: end, target: nil, table: nodes[end.node].table)
        }
    }

    /// Chooses the end of a one-to-one relationship that has the foreign key: the required end, or the end that the
    /// other owns.
    mutating func chooseHolder(_ left: ModelEnd, _ right: ModelEnd) -> (holder: ModelEnd, target: ModelEnd) {
        func rank(_ end: ModelEnd, _ other: ModelEnd) -> (Int, Int) {
            (end.relationship.isOptional ? 0 : 1, other.relationship.deleteRule == .cascade ? 1 : 0)
        }
        let (first, second) = (rank(left, right), rank(right, left))
        // The name decides between two that are alike, so that the order in the file does not.
        let isLeft = first == second ? subject(left) >= subject(right) : first > second
        let (holder, target) = isLeft ? (left, right) : (right, left)
        if !target.relationship.isOptional, holder != target {
            report(
                .changed, subject(target),
                "it is required, but the other end has the foreign key, so the database lets objects be without one")
        }
        return (holder, target)
    }

    /// Reports rules of a relationship that no table can express.
    mutating func reportLimits(_ end: ModelEnd) {
        let relationship = end.relationship
        if !relationship.isToMany {
            if relationship.isOrdered { report(.omitted, subject(end), "one object has no order") }
            if let count = relationship.maximumCount, count != 1 {
                report(
                    .omitted, subject(end), "it leads to one object, so its largest number of \(count) means nothing")
            }
        }
        if options.inheritance == .single, nodes[end.destination].parent != nil {
            report(
                .changed, subject(end),
                "the database takes any row of \(plan.tables[nodes[end.destination].table].name), "
                    + "not only those of \(nodes[end.destination].entity.name)")
        }
    }
}
