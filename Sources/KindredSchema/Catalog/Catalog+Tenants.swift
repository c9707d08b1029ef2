import KindredPostgres

// Catalogs of schemas that belong to tenants: one model serves all schemas of the same shape.
extension Catalog {
    /// The catalog with a mark, and the template's name, in place of a schema's name.
    ///
    /// The server writes the schema's name before the name of a type, function or operator, since the schema is not in
    /// the search path.
    package func marking(_ schema: String, as template: String) -> Catalog {
        let marked = "\0\(template)"
        let text = SchemaNameText(schema)
        var catalog = self
        catalog.searchPath = [template] + searchPath.filter { $0 != schema && $0 != template }
        catalog.relations.modify { if $0.schema == schema { $0.schema = marked } }
        catalog.types.modify { if $0.schema == schema { $0.schema = marked } }
        catalog.operators.modify { if $0.schema == schema { $0.schema = marked } }
        catalog.columns.modify {
            $0.typeName = text.marked($0.typeName)
            $0.collation = $0.collation.map(text.marked)
        }
        catalog.indexes.modify { $0.predicate = $0.predicate.map(text.marked) }
        catalog.serverChecks.modify {
            $0.expression = text.marked($0.expression)
            $0.conflict = text.marked($0.conflict)
            $0.predicate = $0.predicate.map(text.marked)
        }
        return catalog
    }

    /// The rows of both catalogs, the rows of the same type once.
    package func adding(_ other: Catalog) -> Catalog {
        var sum = self
        sum.relations += other.relations
        let fields = Set(columns.lazy.map(\.relation))
        sum.columns += other.columns.filter { !fields.contains($0.relation) }
        sum.constraints += other.constraints
        sum.partitionKeys += other.partitionKeys
        sum.indexes += other.indexes
        sum.serverChecks += other.serverChecks
        let known = Set(types.lazy.map(\.oid))
        sum.types += other.types.filter { !known.contains($0.oid) }
        let operators = Set(self.operators)
        sum.operators += other.operators.filter { !operators.contains($0) }
        sum.enumLabels += other.enumLabels.filter { !known.contains($0.type) }
        sum.comments += other.comments
        sum.projections += other.projections
        sum.viewOrigins += other.viewOrigins
        return sum
    }

    /// The catalog with ordinals in place of OIDs, in an order that depends on names alone, and the OIDs of its types
    /// in the order of their ordinals.
    ///
    /// Two schemas with equal results share one model. The tables of a line of inheritance keep their OIDs, which
    /// models hold: each such schema has its own. Nil where a number could be taken for an ordinal.
    package func shape() -> (catalog: Catalog, types: [UInt32])? {
        let first: UInt32 = 0xF000_0000
        let types = types.sorted { ($0.schema, $0.name, $0.oid) < ($1.schema, $1.name, $1.oid) }
        // Fields of composite types have relations of their own.
        let relations =
            relations.sorted { ($0.schema, $0.name, $0.oid) < ($1.schema, $1.name, $1.oid) }.map(\.oid)
            + types.map(\.relation).filter { $0 != 0 }
        let all = relations + types.map(\.oid) + constraints.flatMap { [$0.oid, $0.target] } + columns.map(\.type)
        guard all.allSatisfy({ $0 < first }) else { return nil }
        var relationNumbers: [UInt32: UInt32] = [:]
        for oid in relations { relationNumbers[oid] = first + UInt32(relationNumbers.count) }
        let typeNumbers = Dictionary(zip(types.map(\.oid), (0...).lazy.map { first + $0 })) { number, _ in number }
        func relation(_ oid: UInt32) -> UInt32 { relationNumbers[oid] ?? oid }
        func type(_ oid: UInt32) -> UInt32 { typeNumbers[oid] ?? oid }

        var shape = self
        shape.relations.modify { if $0.children.isEmpty { $0.oid = relation($0.oid) } }
        shape.relations.sort { ($0.schema, $0.name) < ($1.schema, $1.name) }
        shape.columns.modify { ($0.relation, $0.type) = (relation($0.relation), type($0.type)) }
        shape.columns.sort { ($0.relation, $0.number) < ($1.relation, $1.number) }
        let ordered = constraints.sorted { (relation($0.relation), $0.name) < (relation($1.relation), $1.name) }
        var constraintNumbers: [UInt32: UInt32] = [:]
        for row in ordered { constraintNumbers[row.oid] = first + UInt32(constraintNumbers.count) }
        func constraint(_ oid: UInt32) -> UInt32 { constraintNumbers[oid] ?? oid }
        shape.operators.modify { ($0.left, $0.right) = (type($0.left), type($0.right)) }
        shape.operators.sort { ($0.schema, $0.name, $0.left, $0.right) < ($1.schema, $1.name, $1.left, $1.right) }
        var operatorNumbers: [UInt32: UInt32] = [:]
        for row in shape.operators where row.oid != 0 {
            operatorNumbers[row.oid] = first + UInt32(operatorNumbers.count)
        }
        func operation(_ oid: UInt32) -> UInt32 { operatorNumbers[oid] ?? oid }
        shape.operators.modify { ($0.oid, $0.negator) = (operation($0.oid), operation($0.negator)) }
        shape.constraints = ordered
        shape.constraints.modify {
            $0.oid = constraint($0.oid)
            $0.parent = constraint($0.parent)
            ($0.relation, $0.target) = (relation($0.relation), relation($0.target))
            $0.operators = $0.operators.map(operation)
        }
        shape.partitionKeys.modify {
            $0.constraint = constraint($0.constraint)
            ($0.source, $0.target) = (relation($0.source), relation($0.target))
        }
        shape.partitionKeys.sort { $0.constraint < $1.constraint }
        shape.indexes.modify { $0.relation = relation($0.relation) }
        shape.indexes.sort { ($0.relation, $0.text) < ($1.relation, $1.text) }
        shape.orderServerChecks(relation)
        shape.types = types
        shape.types.modify {
            $0.oid = type($0.oid)
            ($0.base, $0.element, $0.array) = (type($0.base), type($0.element), type($0.array))
            $0.relation = relation($0.relation)
        }
        shape.enumLabels.modify { $0.type = type($0.type) }
        shape.enumLabels.sort { ($0.type, $0.position) < ($1.type, $1.position) }
        shape.comments.modify { comment in
            switch comment.object {
            case .relation(let oid): comment.object = .relation(relation(oid))
            case .column(let oid, let number): comment.object = .column(relation(oid), number)
            case .constraint(let oid, let name, let holder):
                comment.object = .constraint(constraint(oid), name: name, relation: relation(holder))
            }
        }
        shape.comments = shape.comments.map { ("\($0.object)", $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        shape.projections.modify { ($0.view, $0.base) = (relation($0.view), relation($0.base)) }
        shape.projections.sort { $0.view < $1.view }
        shape.viewOrigins.modify {
            $0.view = relation($0.view)
            $0.columns = $0.columns.mapValues { .init(relation: relation($0.relation), column: $0.column) }
            $0.repeated = Set($0.repeated.map(relation))
        }
        shape.viewOrigins.sort { $0.view < $1.view }
        return (shape, types.map(\.oid))
    }

    /// Numbers the indexes of checks by their contents: their rows do not have their names.
    private mutating func orderServerChecks(_ relation: (UInt32) -> UInt32) {
        let indexes = Dictionary(grouping: serverChecks, by: \.index).values.map { elements in
            elements.map { element in
                var element = element
                (element.index, element.relation) = (0, relation(element.relation))
                return element
            }
        }
        serverChecks = indexes.map { ("\($0)", $0) }.sorted { $0.0 < $1.0 }.enumerated().flatMap { number, entry in
            entry.1.map { element in
                var element = element
                element.index = UInt32(number)
                return element
            }
        }
    }
}

extension Catalog.Index {
    /// Its contents; the indexes of a table are sorted by them.
    fileprivate var text: String { "\(columns) \(keyCount) \(predicate ?? "")" }
}

extension Array {
    /// Changes each element.
    fileprivate mutating func modify(_ change: (inout Element) -> Void) {
        for index in indices { change(&self[index]) }
    }
}
