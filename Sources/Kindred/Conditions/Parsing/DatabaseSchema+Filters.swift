import KindredPostgres
package import KindredSchema

extension DatabaseSchema {
    /// The schema with the filters of its entities, whose conditions are parsed and checked.
    ///
    /// Throws `SchemaError` `.invalidAnnotation` for the first condition that is malformed or does not fit its table.
    package func parsingFilters() throws -> DatabaseSchema {
        try parsingFilters { _, error in throw error }
    }

    /// Parses the filters for a program: an entity whose condition does not fit has an error, which each use of it
    /// throws.
    ///
    /// Throws for the tables that overrides name.
    package func servingFilters() throws -> DatabaseSchema {
        var errors = annotationErrors
        var schema = try parsingFilters { name, error in
            if overridden.contains(name) { throw error }
            if errors[name] == nil { errors[name] = error }
        }
        schema.annotationErrors = errors
        return schema
    }

    /// The filters that are malformed or do not fit their tables, for tools that go on without them.
    package func filterProblems() -> [AnnotationProblem] {
        var problems: [AnnotationProblem] = []
        _ = try? parsingFilters { name, error in
            guard let entity = self[name] else { return }
            let location = Catalog.Comment.Object.relation(entity.oid).location(on: name)
            problems.append(AnnotationProblem(entity: name, location: location, reason: error.message))
        }
        return problems
    }

    private func parsingFilters(_ fail: (QualifiedName, SchemaError) throws -> Void) throws -> DatabaseSchema {
        var schema = self
        for entity in entities where entity.filter != nil || entity.softDelete != nil {
            do {
                schema.filters[entity.name] = try EntityFilter(of: entity, in: self)
            } catch {
                // A SchemaError where the condition leads to a table whose own annotations do not fit.
                let reason = (error as? KindredError)?.message ?? (error as? SchemaError)?.message ?? "\(error)"
                try fail(
                    entity.name,
                    SchemaError(
                        .invalidAnnotation, "The filter of \(entity.name) does not fit: \(reason)",
                        entity: entity.name.description, location: "the filter of \(entity.name)"))
            }
        }
        return schema
    }
}

extension EntityFilter {
    /// Parses the conditions of an entity's annotations.
    fileprivate init(of entity: Entity, in schema: DatabaseSchema) throws {
        var nodes: [ConditionNode] = []
        if let mark = entity.softDelete {
            nodes.append(.comparison(ConditionComparison(.path(.own(mark)), .equal, with: .value(nil))))
        }
        if let text = entity.filter { nodes.append(try Condition(format: text, arguments: []).node) }
        let node = nodes.count == 1 ? nodes[0] : .all(ConditionList(nodes))
        var resolver = ConditionResolver(entity: entity, schema: schema)
        _ = try resolver.condition(node)
        guard resolver.reads.places.count == 1 else {
            throw KindredError(
                .invalidCondition, "it follows \"\(resolver.reads.places[1].path)\", and may read its own columns only")
        }
        for name in resolver.reads.places[0].columns where entity.attribute(named: name)?.isLazy == true {
            throw KindredError(
                .invalidCondition, "it reads \"\(name)\", which is lazy: every row has to tell whether it is shown")
        }
        self.init(node, columns: resolver.reads.places[0].columns, terms: node.terms(of: entity))
    }
}

extension ConditionNode {
    /// The terms that memory can evaluate as the server does; nil if the condition has anything else.
    fileprivate func terms(of entity: Entity) -> [RowPredicate.Term]? {
        switch self {
        case .constant(true): return []
        case .all(let nodes):
            let terms = nodes.map { $0.terms(of: entity) }
            return terms.contains { $0 == nil } ? nil : terms.flatMap { $0 ?? [] }
        case .comparison(let comparison): return comparison.term(of: entity).map { [$0] }
        default: return nil
        }
    }
}

extension ConditionComparison {
    fileprivate func term(of entity: Entity) -> RowPredicate.Term? {
        guard quantifier == nil, !ignoresCase else { return nil }
        let (path, value): ([String], PostgresValue?)
        switch (left, right) {
        case (.path(let own), .value(let given)), (.value(let given), .path(let own)): (path, value) = (own.keys, given)
        default: return nil
        }
        guard path.count == 1, let attribute = entity.attribute(named: path[0]) else { return nil }
        let test: RowPredicate.Test? =
            switch (operation, value, attribute.baseType) {
            case (.equal, nil, _): .isNull
            case (.notEqual, nil, _): .isNotNull
            case (.equal, .bool(let isTrue), .bool): isTrue ? .isTrue : .isFalse
            case (.equal, .integer(let number), .int2), (.equal, .integer(let number), .int4),
                (.equal, .integer(let number), .int8):
                .equals(String(number))
            case (.equal, .string(let label), _) where attribute.enumLabels != nil: .equals(label)
            default: nil
            }
        // An array's base type is the type of its elements.
        guard let test, attribute.elementType == nil || value == nil else { return nil }
        return RowPredicate.Term(column: attribute.name, test: test)
    }
}
