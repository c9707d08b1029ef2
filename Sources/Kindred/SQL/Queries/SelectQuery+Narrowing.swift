import KindredPostgres
package import KindredSchema

// The steps of a request: conditions and sort keys, which are checked where they are added, or found by their shape.
extension SelectQuery {
    /// Adds a condition to the earlier ones, and checks its keys and types.
    ///
    /// Throws `KindredError` `.unknownKey`, `.wrongType` or `.invalidCondition`.
    package mutating func narrow(by added: Condition, in schema: @autoclosure () -> DatabaseSchema) throws {
        _ = try narrowed(by: added, in: schema())
    }

    /// Adds the condition of a format.
    mutating func narrow(
        by format: String, _ arguments: [ConditionArgument], in schema: @autoclosure () -> DatabaseSchema
    ) throws {
        let earlier = condition?.shape
        let key = shapes == nil ? nil : ConditionKey(format, arguments, isFiltered: isFiltered)
        if let key, let (shape, given) = shapes?.find(key, after: earlier),
            let parameters = try shape.parameters(given, arguments, after: condition?.parameters)
        {
            condition = ResolvedCondition(.format(format, arguments), shape, with: parameters, after: condition)
            return
        }
        let given = try narrowed(by: try Condition(format: format, arguments: arguments), in: schema())
        // Each argument has to be a value or NULL: no condition decides on anything else.
        guard let key, let given, given.arguments == arguments.count, let shape = condition?.shape else { return }
        shapes?.keep((shape, given.ofFormat), key, after: earlier)
    }

    /// Adds a condition, and returns the values that make it one of a shape.
    private mutating func narrowed(
        by added: Condition, in schema: @autoclosure () -> DatabaseSchema
    ) throws -> ConditionKey.Given? {
        var given = ConditionKey.Given()
        let key = shapes == nil ? nil : ConditionKey(added, isFiltered: isFiltered, given: &given)
        guard let shapes, let key else {
            condition = try ResolvedCondition(added, after: condition, start(in: schema()))
            return nil
        }
        let earlier = condition?.shape
        if let (shape, _) = shapes.find(key, after: earlier),
            let parameters = try shape.parameters(given, after: condition?.parameters)
        {
            condition = ResolvedCondition(.tree(added), shape, with: parameters, after: condition)
            return given
        }
        let resolved = try ResolvedCondition(
            added, after: condition, start(in: schema()), values: given.values.count)
        shapes.keep((resolved.shape, ConditionKey.Given()), key, after: earlier)
        condition = resolved
        return given
    }

    /// The query of a set's members without the condition that they are the owner's.
    func ofMembers(
        _ relationship: RelationshipRuntime, in schema: @autoclosure () -> DatabaseSchema
    ) throws -> SelectQuery {
        var query = SelectQuery(relationship.destination)
        query.isFiltered = isFiltered
        if relationship.helper == nil {
            query.condition = condition
        } else {
            query.pairLink = PairLink(relationship: relationship.model)
            for condition in condition?.conjuncts ?? [] { try query.narrow(by: try condition.condition, in: schema()) }
        }
        query.sort = sort
        query.limit = limit
        return query
    }

    /// The conditions as they were given, the owner's condition first.
    var conjuncts: [Condition] {
        get throws { try (owner.map { [$0.condition] } ?? []) + (condition?.conjuncts.map { try $0.condition } ?? []) }
    }

    /// Adds a sort key after the earlier ones, and checks it.
    ///
    /// Throws `KindredError` `.unknownKey`, or `.invalidRequest` for a key that rows cannot be sorted by.
    package mutating func append(_ term: SortTerm, in schema: @autoclosure () -> DatabaseSchema) throws {
        let isKept = pairLink == nil && !term.isByMembers
        if isKept, let named = shapes?.sorted(term) { return sort.append(named) }
        let schema = schema()
        var resolver = start(in: schema)
        let key = try resolver.key(term)
        var named = term.mapping { schema.named($0, from: entity) }
        if term.isByMembers { named.identify(by: try key.value.sql, resolver.parameters.bindings) }
        sort.append(named)
        if isKept { shapes?.keep(named, for: term) }
    }
}
